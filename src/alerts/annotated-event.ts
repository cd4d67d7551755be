// An annotated event with the members that alerts need.
import type { Judged } from '../domain/verdict.js'
import type { Annotation, AnnotationSummary, ContentKind } from '../domain/annotation.js'
import type { AnyObject } from '../base/json-object.js'
import type { RuleEvent, RuleExtraction } from './event-field.js'

export type AnnotatedEvent = {
  readonly origin: string
  /** When it happened, in epoch milliseconds. */
  readonly eventTime?: number | undefined
  readonly key?: Buffer | null | undefined
  readonly event: {
    readonly bytes: Buffer
    readonly text: string
    readonly reading?: ContentKind
    readonly value?: AnyObject | undefined
  }
  readonly extraction: RuleExtraction
  readonly annotation: Annotation
  readonly summary: AnnotationSummary
  /** The summary as if another indicator had decided, for each further indicator that is accused or flagged. */
  readonly others: readonly AnnotationSummary[]
  readonly judged: readonly Judged[]
}

/** The event as rules see it. `named` finds named values in text. */
export const ruleEventOf = (
  { event, extraction }: Pick<AnnotatedEvent, 'event' | 'extraction'>,
  named: (bytes: Buffer) => AnyObject,
): RuleEvent => {
  let values: AnyObject | undefined
  return {
    object: event.value ?? { message: event.text },
    extraction,
    named: () => (values ??= named(event.bytes)),
  }
}
