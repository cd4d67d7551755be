// The `history` command: shows sightings, verdicts and alerts of an address, range or name.
import { parseRange, readAddress } from '../domain/address.js'
import type { Finding, Level } from '../domain/finding.js'
import { parseHostname } from '../domain/hostname.js'
import type { Indicator } from '../domain/indicator.js'
import { worstLevel } from '../domain/judge.js'
import { createRangeSet } from '../domain/range-set.js'
import { readVerdictHistory, type VerdictPeriod } from '../verdicts/verdict-history.js'
import { readHistory, type History } from '../follow-up/read-history.js'
import { printable } from '../domain/control-characters.js'
import { renderTable } from '../terminal/table.js'
import { connectedSettingsOf } from '../app/connected-settings.js'
import { tableOf } from '../app/open-table.js'
import { loadConfig } from '../app/load-config.js'
import { configOption } from '../config/load-config.js'
import { exitCodes, UsageError, type Command } from '../terminal/command.js'
import { write, writeJson } from '../terminal/write-lines.js'

export const history: Command = {
  summary: 'show the sightings, verdicts and alerts of an address, range or name',
  help: `Usage: threatweave history VALUE [options]

VALUE is an address, a range (192.0.2.0/24) or a name, which stands for the names below it too. Prints for each indicator how
often it was seen in the last 14 days, when first and last, and by which inside hosts; then the alerts about it, with whom
they name; then how the provider's verdict changed, who asked and how many calls it took. Reads kafka.sightingsTopic,
kafka.alertsTopic and kafka.verdictsTopic; \`run\` writes the counts every few seconds.

Options:
      --json            print one JSON object
  -c, --config FILE     the configuration (default: THREATWEAVE_CONFIG, or built-in defaults)
  -h, --help            this text

Example:
  threatweave history 203.0.113.0/24

Exit codes: 0 seen, 1 never seen or not readable, 64 wrong usage, 78 wrong configuration.
`,
  options: { ...configOption, json: { type: 'boolean' } },
  takesArguments: [[]],
  run: async (args, io) => {
    const [value, ...more] = args.positionals
    if (value === undefined || more.length > 0)
      throw new UsageError('history takes one address, range or name: threatweave history 203.0.113.7')
    const subject = parseSubject(value)
    if (!subject) throw new UsageError(`${JSON.stringify(value)} is no address, range or name`)
    const config = loadConfig(args, io)
    const { sightingsTopic, verdictsTopic } = config.kafka
    if (sightingsTopic === '' && verdictsTopic === '')
      throw new UsageError('kafka.sightingsTopic or kafka.verdictsTopic must be set: without them there is no history')
    const settings = connectedSettingsOf(config, { env: io.env })
    const table = tableOf(config)
    const levelOf = (finding: Finding, about: Indicator): Level =>
      finding.status === 'known' ? worstLevel(finding, about, table, finding.at) : 'unknown'
    const found = await readHistory(settings, subject.covers, io.signal)
    const verdicts = verdictsTopic === '' ? [] : await readVerdictHistory(settings, subject.covers, levelOf, io.signal)
    const refuse = (why: string): number => {
      io.stderr.write(`threatweave: ${printable(why)}\n`)
      return exitCodes.failure
    }
    if ('refused' in found) return refuse(found.refused)
    if ('refused' in verdicts) return refuse(verdicts.refused)
    const { otherGroups, ...seen } = found
    if (otherGroups && seen.indicators.length === 0)
      io.stderr.write(
        `threatweave: kafka.sightingsTopic has counts of consumer groups other than ${printable(settings.groupId)}: set kafka.groupId to the group of \`run\`\n`,
      )
    const history = { value: subject.text, ...seen, ...(verdictsTopic !== '' && { verdicts }) }
    if (args.values.json === true) await writeJson(io.stdout, `${JSON.stringify(history)}\n`)
    else await write(io.stdout, renderHistory(history))
    return seen.indicators.length + verdicts.length === 0 ? exitCodes.failure : exitCodes.ok
  },
}

const maxPeers = 8

type Told = History & { readonly value: string; readonly verdicts?: readonly VerdictPeriod[] }

/** The history of a value as tables. */
const renderHistory = ({ verdicts = [], ...told }: Told): string => {
  if (verdicts.length === 0) return renderSeen(told)
  return `${renderSeen(told)}\n${renderTable(
    [
      { title: 'indicator', max: 80 },
      { title: 'verdict' },
      { title: 'first answer' },
      { title: 'last answer' },
      { title: 'answers', align: 'right' },
      { title: 'calls', align: 'right' },
      { title: 'asked by', max: 120 },
    ],
    verdicts.map(({ indicator, verdict, from, to, answers, calls, by }) => [
      indicator,
      verdict,
      timeOf(from),
      timeOf(to),
      String(answers),
      String(calls),
      listOf(by, 0),
    ]),
  )}`
}

const renderSeen = ({ value, indicators, alerts }: Told): string => {
  if (indicators.length === 0 && alerts.length === 0) return `${printable(value)} was not seen in the last 14 days.\n`
  const seen = renderTable(
    [
      { title: 'indicator', max: 80 },
      { title: 'events', align: 'right' },
      { title: 'first seen' },
      { title: 'last seen' },
      { title: 'by', max: 120 },
    ],
    indicators.map(({ indicator, count, first_seen, last_seen, peers, other_sightings = 0 }) => [
      indicator,
      String(count),
      timeOf(first_seen),
      timeOf(last_seen),
      listOf(peers, other_sightings),
    ]),
  )
  if (alerts.length === 0) return `${seen}\nNo alert names it.\n`
  return `${seen}\n${renderTable(
    [
      { title: 'alert at' },
      { title: 'level' },
      { title: 'rule', max: 60 },
      { title: 'about', max: 80 },
      { title: 'events', align: 'right' },
      { title: 'names', max: 120 },
    ],
    alerts.map(({ at, level, rule, value: about, count, peers }) => [
      timeOf(at),
      level,
      rule,
      about,
      String(count),
      listOf(peers, 0),
    ]),
  )}`
}

const timeOf = (iso: string): string => iso.slice(0, 19).replace('T', ' ')

const listOf = (peers: readonly string[], otherSightings: number): string => {
  const more = peers.length - maxPeers
  return [
    ...peers.slice(0, maxPeers),
    ...(more > 0 ? [`${more} more`] : []),
    ...(otherSightings > 0 ? [`${otherSightings} sightings by others`] : []),
  ].join(', ')
}

type Subject = { readonly text: string; readonly covers: (indicator: Indicator) => boolean }

/** Parses the subject: an address, a range, or a name with its subdomains. */
const parseSubject = (text: string): Subject | undefined => {
  const range = parseRange(text)
  if (range) {
    const set = createRangeSet([range])
    const covers = ({ type, value }: Indicator): boolean => {
      const address = type === 'ip' ? readAddress(value) : undefined
      return address !== undefined && set.has(address)
    }
    return { text, covers }
  }
  const name = parseHostname(text)
  if (name === undefined) return undefined
  return {
    text: name,
    covers: ({ type, value }) => type === 'domain' && (value === name || value.endsWith(`.${name}`)),
  }
}
