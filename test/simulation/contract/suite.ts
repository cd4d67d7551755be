// All scenarios that hold for any broker.
import { fetchScenarios } from './fetch.js'
import { produceScenarios } from './produce.js'
import type { Scenario } from './scenario.js'

export const scenarios: readonly Scenario[] = [...produceScenarios, ...fetchScenarios]
