// Writes the results of the bundled rules for each kind of event to a table in docs/alerts.md, by running them. Needs dist/.
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(import.meta.dirname, '..')
const page = join(root, 'docs/alerts.md')
const block = /(<!-- rules: [^\n]*-->\n)[^]*(<!-- end of rules -->)/

/** The columns: accusations against an indicator. */
const accusations = {
  serious: { verdict: 'malicious', threat_class: 'serious', categories: ['c2'] },
  uncategorized: { verdict: 'malicious', threat_class: 'uncategorized' },
  'background: scanner, spam …': { verdict: 'malicious', threat_class: 'background', categories: ['scanner'] },
  'background: VPN, proxy, Tor': { verdict: 'malicious', threat_class: 'background', categories: ['vpn'] },
  suspicious: { verdict: 'suspicious', threat_class: 'serious', categories: ['c2'] },
}

const administration = 22
const service = 443
const client = 50_000

/** The properties that distinguish the rows, in the order in which rows are merged. */
const dimensions = {
  port: {
    'to administration': [client, administration],
    'to another': [client, service],
    'from administration': [administration, client],
    'from another': [service, client],
  },
  activity: ['connection', 'request', 'login', 'query', 'mail', 'other'],
  direction: ['inbound', 'outbound', 'internal', 'external', 'unknown'],
  action: ['allowed', 'blocked', 'blocked after the right password', 'unknown'],
  role: ['source', 'destination', 'query', 'url', 'mail', 'answer', 'observer', 'translated', 'other', 'claimed'],
}
const valuesOf = (name) => (Array.isArray(dimensions[name]) ? dimensions[name] : Object.keys(dimensions[name]))

const combinations = (names) =>
  names.reduce((all, name) => all.flatMap((one) => valuesOf(name).map((value) => ({ ...one, [name]: [value] }))), [{}])

const candidateOf = ({ role, direction, action, activity }, accusation) => ({
  schema_version: 1,
  status: 'complete',
  type: 'ip',
  value: '203.0.113.7',
  role: role[0],
  direction: direction[0],
  action: action[0].split(' ')[0],
  activity: activity[0],
  // Only logins have a password.
  ...(action[0].includes('password') && activity[0] === 'login' && { password_accepted: true }),
  summary: '',
  indicators: [],
  ...accusation,
})

const eventOf = ({ port }) => {
  const [from, to] = dimensions.port[port[0]]
  return { object: { source: { port: from }, destination: { port: to } } }
}

/** Merges rows that differ only in this property. */
const merged = (rows, name) => {
  const alike = new Map()
  for (const row of rows) {
    const { [name]: _, ...others } = row
    const key = JSON.stringify(others)
    const found = alike.get(key)
    if (found) found[name] = [...found[name], ...row[name]]
    else alike.set(key, { ...row })
  }
  return [...alike.values()]
}

/** `judge`: returns the chosen rule and its level, or the reason why no rule matches. */
const rowsOf = (judge) => {
  const names = Object.keys(dimensions)
  const first = combinations(names.toReversed()).map((one) => ({
    ...one,
    cells: Object.values(accusations).map((accusation) => judge(candidateOf(one, accusation), eventOf(one))),
  }))
  const rows = names.reduce(merged, first)
  const placeOf = (row) => names.toReversed().map((name) => valuesOf(name).indexOf(row[name][0]))
  return rows.toSorted((one, other) => compare(placeOf(one), placeOf(other)))
}

const compare = (one, other) => {
  const at = one.findIndex((place, n) => place !== other[n])
  return at < 0 ? 0 : one[at] - other[at]
}

const shown = (name, values) => (values.length === valuesOf(name).length ? 'any' : values.join(', '))

const cellOf = ({ rule, level, reason }) => (reason === undefined ? `**${level}** ${rule}` : `– ${reason}`)

export const withRulesTable = (text, judge) => {
  const columns = ['role', 'direction', 'action', 'activity', 'port']
  const head = [...columns, ...Object.keys(accusations)]
  const rows = rowsOf(judge).map((row) => [
    ...columns.map((name) => shown(name, row[name])),
    ...row.cells.map((cell) => cellOf(cell)),
  ])
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return text.replace(block, (_, begin, end) => `${begin}\n${lines.join('\n')}\n\n${end}`)
}

/** Takes the program's own functions. */
export const openJudge = async ({ loadRules, chooseMatches, whyNoAlert }) => {
  const { set } = await loadRules({ paths: [], bundled: true, key: 'threatweave' })
  return (candidate, event) => {
    const [match] = chooseMatches(set.match([candidate], () => event))
    if (match) return { rule: basename(match.rule.file, '.yml').replace(/^threatweave_/, ''), level: match.rule.level }
    return { reason: whyNoAlert([candidate], [], set, () => event).reason }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { loadRules } = await import('../dist/alerts/load-rules.js')
  const { chooseMatches } = await import('../dist/alerts/choose-matches.js')
  const { whyNoAlert } = await import('../dist/alerts/why-no-alert.js')
  const judge = await openJudge({ loadRules, chooseMatches, whyNoAlert })
  writeFileSync(page, withRulesTable(readFileSync(page, 'utf8'), judge))
}
