// Recognises questions about internal names and addresses, which a gateway never sends to the provider.
import { parseAddress, readAddress } from '../../domain/address.js'
import type { GateOptions } from '../../domain/decision.js'
import { parseHostname, parseSuffix } from '../../domain/hostname.js'
import type { Indicator } from '../../domain/indicator.js'
import { isInternalName } from '../../domain/internal-names.js'
import { isInside } from '../../domain/special-ranges.js'
import { createDecide } from '../../lookup/gate.js'
import type { OperationName } from '../../domain/operations.js'
import type { Values } from '../parameters.js'

export type StaysInside = {
  readonly indicator: (indicator: Indicator) => boolean
  readonly question: (operation: OperationName, values: Values) => boolean
}

/** Filters of a search whose value is a host or an address. */
const hostFields = new Set(['domain', 'host', 'hostname', 'ip', 'site', 'url'])

/** Clients such as scripts may have no gate of their own, so the gateway checks again. */
export const createStaysInside = (options: Partial<GateOptions> = {}): StaysInside => {
  // Documentation addresses reveal nothing internal. Allow lists only save credits, so they are ignored here.
  const decide = createDecide({ ...options, documentation: true, allow: { ranges: none, names: none } })
  const isDeclaredPublic = (name: string): boolean => options.publicSuffixes?.has(name) === true
  const mustStay = (name: string): boolean =>
    options.internalSuffixes?.has(name) === true || options.deny?.names.has(name) === true

  const isInsideAddress = (value: string): boolean => {
    const address = readAddress(value)
    if (address === undefined) return false
    const decision = decide({ type: 'ip', value, field: '', role: 'destination', evidence: 'field' })
    return isInside(address) || (decision.decision === 'skip' && decision.reason === 'own_range')
  }
  /** True for anything but a public address or name. */
  const staysAsHost = (text: string): boolean => {
    const address = parseAddress(text.replace(/^\[|\]$/g, ''))
    if (address !== undefined) return isInsideAddress(address)
    const name = parseHostname(text)
    if (name === undefined) return !isDeclaredPublic(parseSuffix(text) ?? '')
    return (
      decide({ type: 'domain', value: name, field: '', role: 'destination', evidence: 'field' }).decision === 'skip'
    )
  }
  /** Search words can look like names: `node.js` has no public suffix, so it is not a host. */
  const staysAsWord = (text: string): boolean => {
    const address = parseAddress(text)
    if (address !== undefined) return isInsideAddress(address)
    const name = parseSuffix(text) ?? text.toLowerCase().replace(/\.+$/, '')
    return name.includes('.') && !isDeclaredPublic(name) && (isInternalName(name) || mustStay(name))
  }

  const staysAsTerm = (term: string, isHost: boolean): boolean => {
    const url = term.includes('://') && URL.canParse(term) ? new URL(term) : undefined
    if (url) return staysAsHost(url.hostname) || wordsOf(term).some(staysAsWord)
    return (isHost && staysAsHost(hostOf(term))) || wordsOf(term).some(staysAsWord)
  }
  const staysAsQuery = (operation: OperationName, text: string): boolean => {
    const terms = text.split(/[\s"]+/).filter((term) => term !== '')
    const isAboutDomains = operation.startsWith('domain/')
    // A filter may have a space after its colon.
    let field: string | undefined
    return terms.some((term) => {
      const [whole = '', own] = /^-?([a-z_]{2,41}):(?!\/\/)/i.exec(term) ?? []
      const named = (own ?? field)?.toLowerCase()
      field = own !== undefined && whole.length === term.length ? own : undefined
      if (whole.length === term.length) return false
      const isHost = named === undefined ? isAboutDomains && terms.length === 1 : hostFields.has(named)
      return staysAsTerm(term.slice(whole.length), isHost)
    })
  }

  return {
    indicator: ({ type, value }) => (type === 'ip' ? isInsideAddress(value) : staysAsHost(value)),
    question: (operation, { ip, query }) =>
      (typeof ip === 'string' && isInsideAddress(ip)) || (typeof query === 'string' && staysAsQuery(operation, query)),
  }
}

const none = { size: 0, has: () => false }

/** Of a site without a scheme. */
const hostOf = (term: string): string => {
  const bare = term.split(/[/?#]/, 1)[0] ?? ''
  return parseAddress(bare) === undefined ? bare.replace(/:\d{1,5}$/, '') : bare
}

const wordsOf = (term: string): readonly string[] =>
  term.split(/[^\p{L}\p{M}\p{N}._:-]+|:(?=\/\/|\d{1,5}(?![\da-f:]))/iu)
