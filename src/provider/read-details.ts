// Reads open ports, exposures, owner and location from an answer.
import { exposures, portsOf, vulnerabilitiesOf, type AddressDetails } from '../domain/address-details.js'
import type { AddressPlaces, PortPlaces } from '../domain/service-profile.js'
import { parseTimestamp } from '../domain/timestamp.js'
import { countAt, textAt, textsAt, valueAt, valuesOf } from './fact-at.js'
import { textOf, wholeNumber } from './read-value.js'

const maxPort = 65_535
const maxIds = 64

/** Undefined if an answer has none of these. */
export const createDetailsReader = (
  places: Pick<AddressPlaces, 'ports' | 'vulnerabilities' | 'exposes' | 'owner' | 'country' | 'asNumber' | 'asName'>,
): ((answer: unknown) => AddressDetails | undefined) => {
  const openPorts = places.ports === undefined ? () => [] : createPortReader(places.ports)
  const ids = textsAt(places.vulnerabilities, { most: maxIds, maxLength: 24 })
  const exposed = exposures.map((name) => [name, countAt(places.exposes?.[name])] as const)
  const owner = textAt(places.owner, 100)
  const country = textAt(places.country, 16)
  const asNumber = valueAt(places.asNumber)
  const asName = textAt(places.asName, 100)
  return (answer) => {
    const ports = openPorts(answer)
    const vulnerabilities = vulnerabilitiesOf(
      ids(answer).flatMap((id) => (/^CVE-\d{4}-\d{4,10}$/i.test(id) ? [id.toUpperCase()] : [])),
    )
    const exposes = exposed.flatMap(([name, count]) => ((count(answer) ?? 0) > 0 ? [name] : []))
    const whose = owner(answer)
    const where = country(answer)
    const written = asNumber(answer)
    const number = wholeNumber(typeof written === 'string' ? written.replace(/^AS/i, '') : written) ?? 0
    const name = asName(answer)
    const details: AddressDetails = {
      ...(whose !== undefined && { owner: whose }),
      ...(where !== undefined && /^[a-z]{2}$/i.test(where) && { country: where.toUpperCase() }),
      ...(number > 0 && number < 2 ** 32 && { as: { number, ...(name !== undefined && { name }) } }),
      ...(ports.length > 0 && { openPorts: ports }),
      ...(vulnerabilities.length > 0 && { vulnerabilities }),
      ...(exposes.length > 0 && { exposes }),
    }
    return Object.keys(details).length > 0 ? details : undefined
  }
}

/** Rows of several scans are mixed; per port the newest counts, or the first of equal age. */
const createPortReader = (places: PortPlaces): ((answer: unknown) => readonly number[]) => {
  const rows = valuesOf(places.rows)
  const portOf = valueAt(places.port)
  const statusOf = valueAt(places.status)
  const at = valueAt(places.at)
  return (answer) => {
    const newest = new Map<number, { readonly at: number; readonly isOpen: boolean }>()
    for (const row of rows(answer)) {
      const port = wholeNumber(portOf(row))
      if (port === undefined || port === 0 || port > maxPort) continue
      const isOpen = textOf(statusOf(row), 16)?.toLowerCase() !== 'closed'
      const time = parseTimestamp(at(row)) ?? 0
      if (time > (newest.get(port)?.at ?? -1)) newest.set(port, { at: time, isOpen })
    }
    return portsOf([...newest].flatMap(([port, { isOpen }]) => (isOpen ? [port] : [])))
  }
}
