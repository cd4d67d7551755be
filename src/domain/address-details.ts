// What is known about an address besides whether it is bad: what is open there, and whose it is.
import type { Geo } from './geo.js'

/** What a camera, a device and so on are called that everybody can reach. */
export const exposures = ['webcam', 'iot', 'nas', 'admin_page', 'other_ports'] as const
export type Exposure = (typeof exposures)[number]

/** Country and network are the provider's; a database of the operator's own goes before it. */
export type AddressDetails = Geo & {
  readonly owner?: string
  /** In ascending order. */
  readonly openPorts?: readonly number[]
  /** CVE ids. */
  readonly vulnerabilities?: readonly string[]
  readonly exposes?: readonly Exposure[]
}

const maxPorts = 16
const maxVulnerabilities = 8

export const portsOf = (ports: Iterable<number>): readonly number[] =>
  [...new Set(ports)].sort((one, other) => one - other).slice(0, maxPorts)

export const vulnerabilitiesOf = (ids: Iterable<string>): readonly string[] =>
  [...new Set(ids)].slice(0, maxVulnerabilities)

/** What several answers about one address say together; where they disagree about whose it is, the first counts. */
export const joinDetails = (one: AddressDetails, other: AddressDetails): AddressDetails => {
  const ports = [...(one.openPorts ?? []), ...(other.openPorts ?? [])]
  const ids = [...(one.vulnerabilities ?? []), ...(other.vulnerabilities ?? [])]
  const open = exposures.filter((name) => [one, other].some(({ exposes = [] }) => exposes.includes(name)))
  return {
    ...other,
    ...one,
    ...(ports.length > 0 && { openPorts: portsOf(ports) }),
    ...(ids.length > 0 && { vulnerabilities: vulnerabilitiesOf(ids) }),
    ...(open.length > 0 && { exposes: open }),
  }
}
