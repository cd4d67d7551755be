// Parses the block `threatweave: { suppress: … }` of a rule: the fields that group its matches, and the length of the window.
import type { Annotation } from '../../domain/annotation.js'
import type { RuleEvent } from '../event-field.js'
import { isMap, type Complain } from './detection.js'
import { scalarText } from './field.js'
import type { Fields } from './fields.js'

export type RuleSuppression = {
  /** The values of the rule's fields as one text; absent: indicator and peer form the group. */
  readonly groupOf?: (event: RuleEvent, annotation: Readonly<Annotation>) => string
  /** Absent: `alerts.suppressSeconds` applies. */
  readonly windowMs?: number
}

const maxFields = 8
const maxSeconds = 604_800
const maxText = 256

/** Undefined without such a block, and after a complaint. */
export const suppressionOf = (block: unknown, fields: Fields, wrong: Complain): RuleSuppression | undefined => {
  if (block === undefined) return undefined
  const suppress = isMap(block) ? block.suppress : undefined
  if (!isMap(block) || !isMap(suppress) || Object.keys(block).length > 1) {
    wrong(['threatweave'], 'threatweave takes suppress, with by and seconds')
    return undefined
  }
  const path = ['threatweave', 'suppress']
  const strange = Object.keys(suppress).find((name) => name !== 'by' && name !== 'seconds')
  if (strange !== undefined) wrong([...path, strange], `suppress takes by and seconds, not ${strange}`)
  const { by, seconds } = suppress
  if (seconds !== undefined && !(Number.isInteger(seconds) && Number(seconds) >= 0 && Number(seconds) <= maxSeconds))
    wrong([...path, 'seconds'], `seconds takes a whole number from 0 to ${maxSeconds}`)
  const names: readonly unknown[] = Array.isArray(by) ? by : by === undefined ? [] : [by]
  const isListed = by === undefined || (names.length > 0 && names.length <= maxFields)
  if (!isListed || !names.every((name) => typeof name === 'string' && name !== '')) {
    wrong([...path, 'by'], `by takes a list of 1 to ${maxFields} fields`)
    return undefined
  }
  for (const name of names) {
    const member = fields.memberOf(String(name))
    if (member !== undefined && fields.members.valuesOf(member) === undefined)
      wrong([...path, 'by'], `the annotation has no member ${JSON.stringify(member)}`)
  }
  const slots = names.map((name) => fields.slotOf(String(name)))
  return {
    ...(slots.length > 0 && {
      groupOf: (event: RuleEvent, annotation: Readonly<Annotation>) => {
        const view = fields.view({ event, annotation })
        return slots.map((slot) => textOf(view.read(slot))).join('\0')
      },
    }),
    ...(typeof seconds === 'number' && { windowMs: 1000 * seconds }),
  }
}

const textOf = (value: unknown): string => (scalarText(value) ?? JSON.stringify(value ?? null)).slice(0, maxText)
