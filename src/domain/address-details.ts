// Descriptive facts about an address: open ports, exposed devices, owner and location.
import type { Geo } from './geo.js'

/** Kinds of publicly reachable devices and pages. */
export const exposures = ['webcam', 'iot', 'nas', 'admin_page', 'other_ports'] as const
export type Exposure = (typeof exposures)[number]

/** Country and network come from the provider, unless a local database has them. */
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

/** Merges the details of several answers about one address; the first owner wins. */
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
