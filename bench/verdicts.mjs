// Findings for the indicators of the samples, the same in every run.

const at = Date.now()
const flags = { is_malicious: false, can_remote_access: false, is_vpn: false, is_anonymous_vpn: false }
const known = (facts) => ({ status: 'known', source: 'service', at, facts: { flags, categories: [], ...facts } })

const spread = (text) => {
  let hash = 7
  for (const character of text) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) | 0
  return hash >>> 0
}

/** One finding in twenty is malicious or Tor, one in twenty is "not found". */
export const findingOf = ({ value }) => {
  const kind = spread(value) % 40
  if (kind === 0)
    return known({
      flags: { ...flags, is_malicious: true },
      inbound: 'critical',
      categories: ['malware'],
      abuseRecords: 3,
    })
  if (kind === 1) return known({ flags: { ...flags, is_tor: true }, inbound: 'moderate', scanningRecords: 1 })
  if (kind < 4) return { status: 'unknown', reason: 'not_found', at }
  return known({ inbound: 'safe', outbound: 'safe' })
}

/** Sources agree with the provider, so events differ only in the number of accusers. */
export const sourceFindingOf = (id, { value }) => {
  const kind = spread(value) % 40
  const listing = { feed: id, entry: value, level: 'malicious', score: 85, categories: [], evidence: 'score 97', at }
  const facts = kind === 0 ? { listings: [listing] } : {}
  return {
    status: 'known',
    source: `source:${id}`,
    at,
    operations: [id],
    facts: { flags: {}, categories: [], ...facts },
  }
}
