// Why the value of a record could not be read in the format of its topic.
import type { Reason } from './reason.js'

export type Unread = {
  /** no_schema: the registry does not have it, or does not answer; not_decoded: the value is not what its schema or the format of its topic says. */
  readonly reason: Extract<Reason, 'no_schema' | 'not_decoded'>
  /** Resolves when reading it again is worth it; absent if it never is. */
  readonly late?: Promise<unknown> | undefined
}
