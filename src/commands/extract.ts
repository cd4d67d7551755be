// The `extract` command: lists the indicators of each event and the gate's decisions, as a table or JSON lines, without lookups.
import { openReader } from '../app/open-app.js'
import { directionOf, sideOf } from '../pipeline/annotate/direction.js'
import type { Command } from '../terminal/command.js'
import { reportStop } from '../terminal/report-stop.js'
import { loadConfig } from '../app/load-config.js'
import { accepted, configOption } from '../config/load-config.js'
import { readLines, withInputErrors } from '../input/read-lines.js'
import { printable } from '../domain/control-characters.js'
import { write, writeJson } from '../terminal/write-lines.js'

export const extract: Command = {
  summary: 'show the addresses and names in log events and the decision for each; makes no lookups',
  help: `Usage: threatweave extract [options] [FILE…]

Reads one event a line from files (.gz too) or standard input and shows what is found in each. On a terminal it prints a table with
line numbers, else one JSON object per event, in order (a line that is a batch or an envelope stands for the events in it):

  {"action":"blocked","direction":"inbound","indicators":[
    {"type":"ip","value":"198.51.100.60","field":"src","role":"source","decision":"lookup"}, …]}

decision is lookup (may be asked of the service), feeds (local intelligence only) or skip, with the reason. Nobody is asked.

Options:
  -c, --config FILE   the configuration to run with (default: THREATWEAVE_CONFIG, or built-in defaults)
      --json          print JSON on a terminal too
  -h, --help          this text

Example:
  echo 'action=deny src=192.0.2.7 dst=10.0.0.5' | threatweave extract
`,
  options: { ...configOption, json: { type: 'boolean' } },
  takesArguments: ['file'],
  unit: () => 'event',
  run: async (args, io) => {
    const config = loadConfig(args, io)
    const { eventsInRecord, decode, extract: find, decide, gate } = accepted(openReader(config, { isOneSource: true }))
    const isTable = io.stdout.isTTY === true && args.values.json !== true
    if (isTable) await write(io.stdout, header)
    let events = 0
    await withInputErrors(async () => {
      for await (const lines of readLines(args.positionals, io.stdin, io.signal)) {
        if (io.signal.aborted) break
        let out = ''
        const all = lines.flatMap(({ bytes, origin }) => eventsInRecord(bytes).map((event) => ({ event, origin })))
        for (const { event, origin } of all) {
          const { action, sightings, truncated, flow } = find(decode(event))
          const indicators = sightings.map((sighting) => {
            const decision = decide(sighting)
            const { type, value, field, role } = sighting
            return decision.decision === 'lookup'
              ? { type, value, field, role, decision: decision.decision }
              : { type, value, field, role, decision: decision.decision, reason: decision.reason }
          })
          const sides = sightings.map((one) => ({ role: one.role, side: sideOf(one, gate.ownRanges) }))
          const direction = directionOf(sides, flow)
          out += isTable
            ? rowsOf(placeOf(origin, args.positionals.length > 1), action, direction, indicators)
            : `${JSON.stringify({ action, direction, indicators, ...(truncated ? { truncated } : {}) })}\n`
        }
        await (isTable ? write : writeJson)(io.stdout, out)
        events += all.length
      }
    })
    return reportStop(events, io)
  },
}

type Found = {
  readonly value: string
  readonly field: string
  readonly role: string
  readonly decision: string
  readonly reason?: string
}

/** Pads all cells but the last. */
const cells = (place: string, ...rest: readonly string[]): string => {
  const widths = [8, 10, 12, 39, 24]
  const columns = rest.map((cell, at) => (at === rest.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
  return `${place.padStart(6)}  ${columns.join('  ')}`.trimEnd()
}
const header = `${cells('line', 'action', 'direction', 'role', 'value', 'field', 'would be')}\n`

/** Only the line number if there is a single file. */
const placeOf = (origin: string, isOneOfMany: boolean): string =>
  isOneOfMany ? origin : origin.slice(origin.lastIndexOf(':') + 1)

const rowsOf = (place: string, action: string, direction: string, indicators: readonly Found[]): string => {
  const [first, ...others] = indicators
  if (!first) return `${printable(cells(place, action, direction, 'no address or name'))}\n`
  const row = (one: Found): string[] => [one.role, one.value, one.field, doneWith(one)]
  return [cells(place, action, direction, ...row(first)), ...others.map((one) => cells('', '', '', ...row(one)))]
    .map((line) => `${printable(line)}\n`)
    .join('')
}

const doneWith = ({ decision, reason }: Found): string => {
  if (decision === 'lookup') return 'looked up'
  return decision === 'feeds' ? `checked in feeds only (${reason ?? ''})` : `skipped (${reason ?? ''})`
}
