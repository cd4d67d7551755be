// What is wrong with settings that name nobody who knows anything: every event would leave as unknown and look as if it had been examined.
import type { Problem } from './problem.js'
import type { Config } from './schema.js'

/** The two ways out, for the one who has neither. */
export const twoWaysOut =
  "a key (THREATWEAVE_INTEL_SERVICE_API_KEY_FILE=key.txt) or a feed (THREATWEAVE_FEEDS='[{name: mine, path: list.txt}]')"

export const hasIntelligence = ({ intel, feeds }: Config): boolean => intel.service.apiKey !== '' || feeds.length > 0

export const intelligenceProblems = (config: Config): Problem[] =>
  hasIntelligence(config)
    ? []
    : [
        {
          setting: 'intel.service.apiKey',
          message: `and feeds are both empty, so nothing could be known about any event: give ${twoWaysOut}`,
        },
      ]
