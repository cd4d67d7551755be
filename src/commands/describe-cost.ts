// Describes the cost of a lookup with the chosen operations, and the lookups per day that the budget allows.
import { budgetOf } from '../config/budget.js'
import type { Config } from '../config/schema.js'
import { callsPerLookup } from '../domain/operation-choice.js'

export const describeCost = ({ intel, admit }: Config): string => {
  const { perDay } = budgetOf(admit)
  const [address, name] = [callsPerLookup(intel.ip.operations), callsPerLookup(intel.domain.operations)]
  const most = Math.max(address.most, name.most)
  const least = Math.max(1, Math.min(address.least, name.least))
  const fewest = Math.floor(perDay / most)
  const lookups = most === least ? count(fewest) : `${count(fewest)} to ${count(Math.floor(perDay / least))}`
  const list =
    intel.domain.operations['reports/personal'] === 'never' ? '' : ', and the list of own scans 144 calls a day'
  const budget = perDay === 0 ? '' : ` The daily budget of ${count(perDay)} calls allows ${lookups} lookups.`
  return `An address costs ${calls(address)}, a name ${calls(name)}${list}.${budget} \`threatweave estimate\` predicts the cost of a log per day.\n`
}

const calls = ({ least, most }: ReturnType<typeof callsPerLookup>): string =>
  least === most ? `${least} call${least === 1 ? '' : 's'}` : `${least} to ${most} calls`

const count = (value: number): string => value.toLocaleString('en-US')
