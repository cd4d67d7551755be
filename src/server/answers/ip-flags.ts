// The flags of an address; each is stated only if a loaded list covers it.
import type { JsonObject } from '../answer.js'
import { isOn, type AddressIntelligence } from '../local/address-intelligence.js'

export const flagsOf = (about: AddressIntelligence): JsonObject => ({
  is_vpn: isOn(about, 'vpn'),
  is_cloud: isOn(about, 'cloud'),
  is_tor: isOn(about, 'tor'),
  is_proxy: isOn(about, 'proxy'),
  is_hosting: isOn(about, 'hosting'),
  is_mobile: isOn(about, 'mobile'),
  is_darkweb: isOn(about, 'darkweb'),
  is_scanner: isOn(about, 'scanner'),
  is_snort: isOn(about, 'snort'),
  is_anonymous_vpn: isOn(about, 'anonymous_vpn'),
})

/** The flags from lists, for answers without flags of their own; undefined if no list has the address. */
export const trueFlagsOf = (about: AddressIntelligence): JsonObject | undefined => {
  const flags = Object.entries(flagsOf(about)).filter(([, value]) => value === true)
  return flags.length === 0 ? undefined : Object.fromEntries(flags)
}
