// The `estimate` command: predicts how many lookups a log would need; sends nothing.
import { openReader } from '../app/open-app.js'
import { loadSources, type ConfiguredSource } from '../app/load-sources.js'
import type { Config } from '../config/schema.js'
import { printable } from '../domain/control-characters.js'
import { createOwnAddresses, noOwnRanges } from '../domain/own-addresses.js'
import { keyOf, type Indicator } from '../domain/indicator.js'
import { callsPerLookup, type Choice } from '../domain/operation-choice.js'
import { urlFor } from '../domain/source-description.js'
import { createForecast, type Forecast } from '../lookup/memory/forecast.js'
import { eventTime } from '../pipeline/event-time.js'
import { UsageError, type Arguments, type Command } from '../terminal/command.js'
import { reportStop } from '../terminal/report-stop.js'
import { loadConfig } from '../app/load-config.js'
import { accepted, configOption } from '../config/load-config.js'
import { createProgress, duration } from '../terminal/progress.js'
import { readLines, withInputErrors } from '../input/read-lines.js'
import { write } from '../terminal/write-lines.js'

const hourMs = 3_600_000

export const estimate: Command = {
  summary: 'predict lookups per day and month, hit ratio and cost of a log; sends nothing',
  help: `Usage: threatweave estimate [options] [FILE…]

Reads a log (files, also .gz, or standard input), finds what would be looked up, and simulates a memory of the
given size and lifetime. Sends nothing.

  -c, --config FILE     the configuration
      --memory N        size of the memory in findings (default: memory.maxEntries)
      --lifetime HOURS  lifetime of a finding (default: memory.freshSeconds.clean)
      --span HOURS      time the log covers (default: from its timestamps); less than an hour predicts little
      --price PRICE     price of one call, for the cost per month
      --list            print only the values that would be sent, one per line
      --json            print the figures as one JSON object

Example:
  threatweave estimate --price 0.002 firewall.log.gz
`,
  options: {
    ...configOption,
    memory: { type: 'string' },
    lifetime: { type: 'string' },
    span: { type: 'string' },
    price: { type: 'string' },
    list: { type: 'boolean' },
    json: { type: 'boolean' },
  },
  uselessBeside: { list: ['json', 'memory', 'lifetime', 'span', 'price'] },
  takesArguments: ['file'],
  run: async (args, io) => {
    const config = loadConfig(args, io)
    const { eventsInRecord, decode, extract, decide } = accepted(openReader(config, { isOneSource: true }))
    const memory = numberOf(args, 'memory') ?? config.memory.maxEntries
    const lifetimeMs = numberOf(args, 'lifetime', hourMs) ?? config.memory.freshSeconds.clean * 1000
    const spanMs = numberOf(args, 'span', hourMs)
    const price = numberOf(args, 'price')
    const forecast = createForecast({ memory, lifetimeMs })
    const sources = accepted(loadSources(config, { needsKeys: false })).map((source) => ({
      ...source,
      forecast: createForecast({ memory, lifetimeMs: source.description.freshHours * hourMs }),
    }))
    const skipped = new Map<string, Set<string>>()
    const asked = new Map<string, Indicator>()
    const namesSeen = new Set<string>()
    const now = Date.now()
    const progress = createProgress(io.stderr, { label: 'estimate' })
    const own = config.gate.ownRanges.length === 0 ? createOwnAddresses() : undefined
    let events = 0
    await withInputErrors(async () => {
      for await (const lines of readLines(args.positionals, io.stdin, io.signal)) {
        if (io.signal.aborted) break
        for (const bytes of lines.flatMap((line) => eventsInRecord(line.bytes))) {
          const event = decode(bytes)
          const keys: string[] = []
          const askable: Indicator[] = []
          const extraction = extract(event)
          own?.see(extraction)
          for (const sighting of extraction.sightings) {
            const decision = decide(sighting)
            if (decision.decision === 'lookup') {
              keys.push(keyOf(decision.ask))
              askable.push(decision.ask)
              if (sighting.type === 'domain') namesSeen.add(sighting.value)
              asked.set(keyOf(decision.ask), decision.ask)
            } else addTo(skipped, decision.reason, keyOf(sighting))
          }
          const time = eventTime(event.text, now)
          forecast.see(keys, time)
          for (const { description, forecast: own } of sources)
            own.see(askable.filter((one) => urlFor(description, one) !== undefined).map(keyOf), time)
          events++
        }
        progress.update(events, `${events} events`)
      }
    })
    progress.end()
    const figures = forecast.report(now, spanMs)
    const bySource = sources.map(({ description, ask, limits, forecast: own }) => {
      const { lookups, lookupsPerDay } = own.report(now, spanMs)
      return { source: description.id, ask, limits, lookupsAtMost: lookups, perDayAtMost: lookupsPerDay }
    })
    const calls = callsOf([...asked.values()], config)
    const operations = operationsOf([...asked.values()], figures, config)
    const reasons = [...skipped].map(([reason, values]) => [reason, values.size] as const).sort((a, b) => b[1] - a[1])
    if (args.values.list === true) {
      await write(io.stdout, [...asked.values()].map(({ value }) => `${printable(value)}\n`).join(''))
    } else if (args.values.json === true) {
      const monthly = (figures.lookupsPerMonth ?? 0) * (price ?? 0)
      const cost =
        price === undefined || figures.lookupsPerMonth === undefined
          ? {}
          : { costPerMonth: round(monthly * calls.least), costPerMonthAtMost: round(monthly * calls.most) }
      const callsAtMost = Math.ceil(figures.lookups * calls.most)
      const report = {
        ...figures,
        callsAtMost,
        operations,
        notAsked: Object.fromEntries(reasons),
        ...cost,
        ...(bySource.length > 0 && { sources: bySource }),
        ...(own && { ownRangesSuggested: own.ranges() }),
      }
      await write(io.stdout, `${JSON.stringify(report)}\n`)
    } else {
      const names = { seen: namesSeen.size, asked: [...asked.values()].filter(({ type }) => type === 'domain').length }
      await write(
        io.stdout,
        describe(figures, reasons, {
          memory,
          lifetimeMs,
          price,
          calls,
          operations,
          names,
          bySource,
          own: own?.ranges(),
        }),
      )
    }
    return reportStop(events, io)
  },
}

type Calls = { readonly least: number; readonly most: number }

/** The average number of calls per lookup, from all clean to all malicious. */
const callsOf = (asked: readonly Indicator[], { intel }: Config): Calls => {
  const calls = { ip: callsPerLookup(intel.ip.operations), domain: callsPerLookup(intel.domain.operations) }
  if (asked.length === 0) return { least: 1, most: 1 }
  const average = (each: keyof Calls): number =>
    asked.reduce((sum, { type }) => sum + calls[type][each], 0) / asked.length
  return { least: average('least'), most: average('most') }
}

type OperationForecast = {
  readonly operation: string
  readonly when: Choice
  /** An upper bound for conditional operations. */
  readonly calls: number
  readonly perDay?: number
}

/** The cost of each chosen operation; lookups are split by the share of each indicator type. */
const operationsOf = (
  asked: readonly Indicator[],
  { lookups, lookupsPerDay }: Forecast,
  { intel }: Config,
): readonly OperationForecast[] =>
  (['ip', 'domain'] as const).flatMap((type) => {
    const part = asked.length === 0 ? 0 : asked.filter((one) => one.type === type).length / asked.length
    if (part === 0) return []
    return Object.entries(intel[type].operations).flatMap(([name, when]): OperationForecast[] => {
      if (when === 'never') return []
      const operation = `${type}/${name}`
      if (name === 'reports/personal') return [{ operation, when, calls: 1, perDay: listsPerDay }]
      const perDay = lookupsPerDay === undefined ? {} : { perDay: Math.ceil(lookupsPerDay * part) }
      return [{ operation, when, calls: Math.round(lookups * part), ...perDay }]
    })
  })

/** One list serves all names for ten minutes, so there are 144 a day. */
const listsPerDay = 144

const operationRow = ({ operation, when, calls, perDay }: OperationForecast): readonly [string, string] => {
  const atMost = when === 'always' ? '' : 'at most '
  const day = perDay === undefined ? '' : `, ${atMost}${count(perDay)} per day`
  return [operation, `asked ${when}: ${atMost}${count(calls)} for this log${day}`]
}

const addTo = (skipped: Map<string, Set<string>>, reason: string, key: string): void => {
  let values = skipped.get(reason)
  if (!values) skipped.set(reason, (values = new Set()))
  values.add(key)
}

const numberOf = (args: Arguments, name: string, unit = 1): number | undefined => {
  const text = args.values[name]
  if (text === undefined) return undefined
  const value = Number(text)
  if (!(value > 0)) throw new UsageError(`--${name} must be a number above 0, not ${JSON.stringify(text)}`)
  return value * unit
}

type Assumptions = {
  readonly memory: number
  readonly lifetimeMs: number
  readonly price: number | undefined
  readonly calls: Calls
  readonly operations: readonly OperationForecast[]
  /** Distinct names in the log that may be looked up, and the distinct questions for them. */
  readonly names: { readonly seen: number; readonly asked: number }
  readonly bySource: readonly SourceForecast[]
  /** Our own public addresses found in the log; undefined if gate.ownRanges is set. */
  readonly own: readonly string[] | undefined
}

type SourceForecast = Pick<ConfiguredSource, 'ask' | 'limits'> & {
  readonly source: string
  readonly lookupsAtMost: number
  readonly perDayAtMost: number | undefined
}

/** An upper bound, because the lookups at a source depend on the answers of others. */
const sourceRow = ({ source, ask, limits, lookupsAtMost, perDayAtMost }: SourceForecast): readonly [string, string] => {
  const perDay = perDayAtMost === undefined ? '' : `, ${count(perDayAtMost)} per day`
  const allowed = limits.map(({ calls, per }) => `${count(calls)} per ${per}`).join(', ')
  const when = ask === 'always' ? 'asked always' : `at most; asked only where ${ask}`
  return [
    `source ${source}`,
    `${count(lookupsAtMost)} for this log${perDay} (${when}); allowed: ${allowed || 'any number'}`,
  ]
}

const moreCalls = 'suspicious and malicious indicators cost more calls'

const describe = (
  figures: Forecast,
  reasons: readonly (readonly [string, number])[],
  { memory, lifetimeMs, price, calls, operations, names, bySource, own }: Assumptions,
): string => {
  const notAsked = reasons.reduce((sum, [, count]) => sum + count, 0)
  const rows: (readonly [string, string])[] = [
    ['events', `${count(figures.events)}, ${count(figures.eventsWithoutAsks)} of them without an indicator to look up`],
    ['would be looked up', `${count(figures.distinct)} distinct, seen ${count(figures.asks)} times`],
    ...(names.asked < names.seen
      ? ([
          [
            'names',
            `${count(names.seen)} in this log are asked as ${count(names.asked)}: by their registrable domains, so there are fewer than \`extract\` shows`,
          ],
        ] as const)
      : []),
    [
      'would be skipped',
      `${count(notAsked)} distinct${notAsked ? `: ${reasons.map(([reason, n]) => `${reason} ${count(n)}`).join(', ')}` : ''}`,
    ],
    ...(own ? ([['own addresses', ownAddresses(own)]] as const) : []),
    ['lookups for this log', `${count(figures.lookups)}, with an empty memory`],
    ...(calls.most > 1
      ? ([
          [
            'calls for them',
            `${count(Math.round(figures.lookups * calls.least))} to ${count(Math.ceil(figures.lookups * calls.most))}: ${moreCalls}`,
          ],
        ] as const)
      : []),
    ...operations.map(operationRow),
    ['memory', `${count(memory)} findings, lifetime ${duration(lifetimeMs)}`],
    ...bySource.map(sourceRow),
    ['hit ratio', figures.asks === 0 ? 'none: nothing in this log would be looked up' : percent(figures.hitRatio)],
  ]
  if (figures.asks === 0) return layOut(rows)
  if (figures.spanMs === undefined || figures.lookupsPerDay === undefined || figures.lookupsPerMonth === undefined)
    rows.push(['per day, per month', `${whyNoSpan(figures)}: give --span HOURS`])
  else {
    const isShort = figures.doubt === 'short'
    const about = isShort ? 'perhaps' : 'about'
    rows.push(['time covered', `${duration(figures.spanMs)}${isShort ? `: ${tooShort}` : ''}`])
    rows.push(['lookups per day', `${about} ${count(figures.lookupsPerDay)}`])
    rows.push(['lookups per month', `${about} ${count(figures.lookupsPerMonth)}`])
    if (price !== undefined) {
      const monthly = figures.lookupsPerMonth * price
      const most =
        calls.most > calls.least ? ` if everything is clean, ${round(monthly * calls.most).toFixed(2)} at most` : ''
      rows.push(['cost per month', `${about} ${round(monthly * calls.least).toFixed(2)}${most}`])
    }
  }
  return layOut(rows)
}

const ownAddresses = (suggested: readonly string[]): string =>
  suggested.length === 0
    ? `gate.ownRanges ${noOwnRanges}; no address translation in this log suggests any`
    : `address translation shows public addresses of yours; if they are, set gate.ownRanges: [${suggested.join(', ')}]`

const layOut = (rows: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, text]) => `${name.padEnd(width)}  ${text}\n`).join('')
}

const tooShort = 'less than an hour predicts little; use more of the log'

const whyNoSpan = ({ doubt, times: [first, last] = ['', ''] }: Forecast): string =>
  doubt === 'future'
    ? `the timestamps are in the future (${first} to ${last}), so they cannot be event times`
    : doubt === 'years'
      ? `the timestamps are years apart (${first} to ${last}), so some cannot be event times`
      : 'the log has no timestamps'

const count = (value: number): string => value.toLocaleString('en-US')
const percent = (ratio: number): string => `${(ratio * 100).toFixed(1)} %`
const round = (value: number): number => Math.round(value * 100) / 100
