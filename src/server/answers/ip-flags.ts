// The booleans about an address, each stated only when a loaded source covers it.
import type { JsonObject } from '../answer.js'
import { isOn, type Dossier } from '../local/dossier.js'

export const flagsOf = (dossier: Dossier): JsonObject => ({
  is_vpn: isOn(dossier, 'vpn'),
  is_cloud: isOn(dossier, 'cloud'),
  is_tor: isOn(dossier, 'tor'),
  is_proxy: isOn(dossier, 'proxy'),
  is_hosting: isOn(dossier, 'hosting'),
  is_mobile: isOn(dossier, 'mobile'),
  is_darkweb: isOn(dossier, 'darkweb'),
  is_scanner: isOn(dossier, 'scanner'),
  is_snort: isOn(dossier, 'snort'),
  is_anonymous_vpn: isOn(dossier, 'anonymous_vpn'),
})

/** What the lists say of the address, for an answer that states no flags by itself; nothing where it is on none. */
export const trueFlagsOf = (dossier: Dossier): JsonObject | undefined => {
  const flags = Object.entries(flagsOf(dossier)).filter(([, value]) => value === true)
  return flags.length === 0 ? undefined : Object.fromEntries(flags)
}
