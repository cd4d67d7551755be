// Why a value could not be decoded in the format of its topic.
import type { Reason } from './reason.js'

export type Unread = {
  /** no_schema: the registry does not have the schema, or does not answer; not_decoded: the value does not match its schema or format. */
  readonly reason: Extract<Reason, 'no_schema' | 'not_decoded'>
  /** Resolves when a retry may succeed; absent if none can. */
  readonly late?: Promise<unknown> | undefined
}
