// The `extract` command: what would be looked at in each event, one JSON object a line; nobody is asked.
import { openReader } from '../app/open-app.js'
import { directionOf, sideOf } from '../pipeline/annotate/direction.js'
import type { Command } from '../terminal/command.js'
import { reportStop } from '../terminal/report-stop.js'
import { accepted, configOption, loadConfig } from '../config/load-config.js'
import { readLines, withInputErrors } from '../input/read-lines.js'
import { writeJson } from '../terminal/write-lines.js'

export const extract: Command = {
  summary: 'show the addresses and names in log events and what would be done with each; asks nobody',
  help: `Usage: threatweave extract [options] [FILE…]

Reads one event a line from files (.gz too) or standard input and prints one JSON object per event, in order (a line that is a
batch or an envelope stands for the events in it):

  {"action":"blocked","direction":"inbound","indicators":[
    {"type":"ip","value":"198.51.100.60","field":"src","role":"source","decision":"lookup"}, …]}

decision is lookup (may be asked of the service), feeds (local intelligence only) or skip, with the reason. Nobody is asked.

Options:
  -c, --config FILE   the configuration to run with (default: THREATWEAVE_CONFIG, or built-in defaults)
  -h, --help          this text

Example:
  echo 'action=deny src=192.0.2.7 dst=10.0.0.5' | threatweave extract
`,
  options: configOption,
  takesArguments: true,
  unit: () => 'event',
  run: async (args, io) => {
    const config = loadConfig(args, io)
    const { eventsInRecord, decode, extract: find, decide, gate } = accepted(openReader(config, true))
    let events = 0
    await withInputErrors(async () => {
      for await (const lines of readLines(args.positionals, io.stdin, io.signal)) {
        if (io.signal.aborted) break
        let out = ''
        const all = lines.flatMap(({ bytes }) => eventsInRecord(bytes))
        for (const bytes of all) {
          const { action, sightings, truncated } = find(decode(bytes))
          const indicators = sightings.map((sighting) => {
            const decision = decide(sighting)
            const { type, value, field, role } = sighting
            return decision.decision === 'lookup'
              ? { type, value, field, role, decision: decision.decision }
              : { type, value, field, role, decision: decision.decision, reason: decision.reason }
          })
          const direction = directionOf(sightings.map((one) => ({ role: one.role, side: sideOf(one, gate.ownRanges) })))
          out += `${JSON.stringify({ action, direction, indicators, ...(truncated ? { truncated } : {}) })}\n`
        }
        await writeJson(io.stdout, out)
        events += all.length
      }
    })
    return reportStop(events, io)
  },
}
