// Refuses settings without any source of verdicts: every event would be annotated as unknown and look examined.
import type { Choice } from '../domain/operation-choice.js'
import type { Problem } from './problem.js'
import type { Config } from './schema.js'

/** The two remedies, for error messages. */
export const twoWaysOut =
  "a key (THREATWEAVE_INTEL_SERVICE_API_KEY_FILE=key.txt) or a feed (THREATWEAVE_FEEDS='[{name: mine, path: list.txt}]')"

export const hasIntelligence = ({ intel, feeds }: Config): boolean =>
  intel.service.apiKey !== '' || feeds.length > 0 || intel.sources.length > 0

export const intelligenceProblems = (config: Config): Problem[] =>
  hasIntelligence(config)
    ? [...config.feeds.flatMap(feedSettingProblems), ...operationProblems(config)]
    : [
        {
          setting: 'intel.service.apiKey',
          message: `and feeds are both empty, so there is no source of verdicts: set ${twoWaysOut}`,
        },
      ]

/** Conditional operations depend on the result of another one, so at least one must be unconditional. */
const operationProblems = ({ intel, alerts }: Config): readonly Problem[] => {
  const problems: Problem[] = []
  const needAlways = (setting: string, chosen: readonly Choice[]): void => {
    if (!chosen.includes('always')) problems.push({ setting, message: 'needs at least one operation set to always' })
  }
  const { reports, 'reports/personal': personal } = intel.domain.operations
  needAlways('intel.ip.operations', Object.values(intel.ip.operations))
  needAlways('intel.domain.operations', [reports, personal])
  return intel.service.apiKey === '' ? contextProblems(alerts) : problems
}

const contextProblems = ({ context }: Config['alerts']): readonly Problem[] =>
  context.operations.length === 0
    ? []
    : [{ setting: 'alerts.context.operations', message: 'needs a key for the lookup service (intel.service.apiKey)' }]

/** Checks settings that depend on how a feed is fetched. */
const feedSettingProblems = (feed: Config['feeds'][number], at: number): readonly Problem[] => {
  const problems: Problem[] = []
  const wrong = (name: string, message: string): void => void problems.push({ setting: `feeds.${at}.${name}`, message })
  for (const name of ['apiKeyFile', 'tags', 'published'] as const)
    if (feed[name] !== undefined && feed.misp === undefined) wrong(name, 'is only for feeds with misp')
  if (feed.misp !== undefined && feed.apiKeyFile === undefined)
    wrong('misp', 'needs apiKeyFile: a file with the key of a user of that server')
  if ((feed.clientCertFile === undefined) !== (feed.clientKeyFile === undefined))
    wrong(
      feed.clientCertFile === undefined ? 'clientKeyFile' : 'clientCertFile',
      'needs the other one of clientCertFile and clientKeyFile',
    )
  return problems
}
