// What is wrong with settings that name nobody who knows anything: every event would leave as unknown and look as if it had been examined.
import type { Choice } from '../domain/operation-choice.js'
import type { Problem } from './problem.js'
import type { Config } from './schema.js'

/** The two ways out, for the one who has neither. */
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
          message: `and feeds are both empty, so nothing could be known about any event: give ${twoWaysOut}`,
        },
      ]

/** An operation that waits for what others say needs one that does not. */
const operationProblems = ({ intel, alerts }: Config): readonly Problem[] => {
  const problems: Problem[] = []
  const needAlways = (setting: string, chosen: readonly Choice[]): void => {
    if (!chosen.includes('always')) problems.push({ setting, message: 'needs one operation that is always asked' })
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

/** Settings of a feed that only one way of fetching it uses, and those that it needs. */
const feedSettingProblems = (feed: Config['feeds'][number], at: number): readonly Problem[] => {
  const problems: Problem[] = []
  const wrong = (name: string, message: string): void => void problems.push({ setting: `feeds.${at}.${name}`, message })
  for (const name of ['apiKeyFile', 'tags', 'published'] as const)
    if (feed[name] !== undefined && feed.misp === undefined) wrong(name, 'is for a feed with misp alone')
  if (feed.misp !== undefined && feed.apiKeyFile === undefined)
    wrong('misp', 'needs apiKeyFile: a file with the key of a user of that server')
  if ((feed.clientCertFile === undefined) !== (feed.clientKeyFile === undefined))
    wrong(
      feed.clientCertFile === undefined ? 'clientKeyFile' : 'clientCertFile',
      'needs the other one of clientCertFile and clientKeyFile',
    )
  return problems
}
