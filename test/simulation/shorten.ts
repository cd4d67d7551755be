// Finds the fewest faults of a failing scenario that still break one of the same promises.
import type { Broken } from './checks.js'
import type { Fault, Scenario } from './scenario.js'

export const shorten = async (
  scenario: Scenario,
  broken: readonly Broken[],
  brokenBy: (fewer: Scenario) => Promise<readonly Broken[]>,
): Promise<readonly Fault[]> => {
  const promises = new Set(broken.map(({ promise }) => promise))
  let { faults } = scenario
  for (const fault of scenario.faults) {
    const fewer = faults.filter((other) => other !== fault)
    const still = await brokenBy({ ...scenario, faults: fewer })
    if (still.some(({ promise }) => promises.has(promise))) faults = fewer
  }
  return faults
}
