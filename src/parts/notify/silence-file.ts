// Schema and checks of the silences file: which alerts to suppress, until when, why and for whom.
import { Type, type Static } from '@sinclair/typebox'
import type { Problem } from '../../config/problem.js'
import { freeze } from '../../config/schema.js'
import { createValidator, explain } from '../../config/validate.js'
import { readYamlFile, type NamedText } from '../../config/yaml-file.js'
import { matchesEverything, matchSchema, unknownFields } from './matchers.js'

const time = (description: string) =>
  Type.String({
    pattern: '^\\d{4}-\\d\\d-\\d\\d(T\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,3})?)?(Z|[+-]\\d\\d:\\d\\d))?$',
    form: 'a day such as 2026-12-01 (00:00 UTC) or a time such as 2026-12-01T08:00:00Z',
    description,
  })
const words = (description: string) => Type.String({ minLength: 1, maxLength: 500, description })

const silenceSchema = Type.Object(
  {
    id: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$',
      form: 'a short name such as scanner-4711',
      description: 'The name under which it is counted.',
    }),
    match: matchSchema,
    from: Type.Optional(time('When it begins; at once without this.')),
    until: time('When it ends.'),
    reason: words('Why.'),
    by: words('Who wants it.'),
  },
  { additionalProperties: false, required: ['id', 'match', 'until', 'reason', 'by'] },
)

export const silencesSchema = Type.Object(
  { silences: Type.Array(silenceSchema, { maxItems: 1_000, description: 'The first that matches an alert counts.' }) },
  {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Threatweave silences',
    additionalProperties: false,
    required: ['silences'],
    description: 'Alerts that notify holds back: the file that notify.silences names.',
  },
)

export type Silence = Static<typeof silenceSchema>

const validate = createValidator(silencesSchema)

/** Returns the silences, or all problems of the file. */
export const readSilenceFile = (
  file: NamedText,
): { readonly silences: readonly Silence[] } | { readonly problems: readonly Problem[] } => {
  const { content, problems: unreadable, placeOf } = readYamlFile(file)
  if (unreadable.length > 0) return { problems: unreadable }
  const problems: Problem[] = []
  const add = (setting: string, message: string): void =>
    void problems.push({ setting, message, where: placeOf(setting) ?? file.name })
  for (const error of validate(content)) {
    const problem = explain(error)
    if (problem) add(problem.setting === 'configuration' ? file.name : problem.setting, problem.message)
  }
  if (problems.length > 0) return { problems }
  const { silences } = content as Static<typeof silencesSchema>
  const ids = new Set<string>()
  silences.forEach(({ id, match, from, until }, nth) => {
    const at = `silences.${nth}`
    if (ids.has(id)) add(`${at}.id`, `is used twice: ${id}`)
    ids.add(id)
    for (const { field, message } of unknownFields(match)) add(`${at}.match.${field}`, message)
    if (matchesEverything(match)) add(`${at}.match`, 'matches every alert: name what is to be silent')
    if (Number.isNaN(Date.parse(until))) add(`${at}.until`, 'is no time')
    if (from !== undefined && !(Date.parse(from) < Date.parse(until))) add(`${at}.from`, 'must be before until')
  })
  return problems.length > 0 ? { problems } : { silences: freeze(silences) }
}
