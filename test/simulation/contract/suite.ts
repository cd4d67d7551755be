// All scenarios: those that run side by side on one broker, the one that needs its own broker, and those that need two.
import { pairScenarios } from './elsewhere.js'
import { fetchScenarios } from './fetch.js'
import { groupScenarios } from './groups.js'
import { produceScenarios } from './produce.js'
import { restartScenario } from './restart.js'
import type { Scenario } from './scenario.js'
import { topicScenarios } from './topics.js'
import { transactionScenarios } from './transactions.js'

export const scenarios: readonly Scenario[] = [
  ...topicScenarios,
  ...produceScenarios,
  ...fetchScenarios,
  ...transactionScenarios,
  ...groupScenarios,
]

export { pairScenarios, restartScenario }
