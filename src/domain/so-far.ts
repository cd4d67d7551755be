// Partial findings: the answers received so far while other calls are still open.
import type { Finding } from './finding.js'

const known = new WeakMap<Promise<Finding>, () => Finding | undefined>()

/** `soFar` is called when a decision cannot wait for the rest. */
export const noteSoFar = (promise: Promise<Finding>, soFar: () => Finding | undefined): void =>
  void known.set(promise, soFar)

export const soFarOf = (promise: Promise<Finding>): Finding | undefined => known.get(promise)?.()

/** `made` was made from `promise`, by `change`. */
export const carrySoFar = (
  promise: Promise<Finding>,
  made: Promise<Finding>,
  change: (finding: Finding) => Finding,
): Promise<Finding> => {
  const soFar = known.get(promise)
  if (soFar)
    noteSoFar(made, () => {
      const finding = soFar()
      return finding && change(finding)
    })
  return made
}
