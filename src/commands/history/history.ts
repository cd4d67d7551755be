// The `history` command: who has seen an address, range or name, and what was said about it.
import { printable } from '../../domain/control-characters.js'
import { kafkaSettingsOf } from '../../app/limits.js'
import { configOption, loadConfig } from '../../config/load-config.js'
import { readHistory } from '../../follow-up/read-history.js'
import { exitCodes, UsageError, type Command } from '../../terminal/command.js'
import { write, writeJson } from '../../terminal/write-lines.js'
import { renderHistory } from './render-history.js'
import { parseSubject } from './subject.js'

export const history: Command = {
  summary: 'show who has seen an address, range or name, and what was said about it',
  help: `Usage: threatweave history VALUE [options]

VALUE is an address, a range (192.0.2.0/24) or a name, which stands for the names below it too. Prints for each indicator how
often it was seen in the last 14 days, when first and last, and by which inside hosts; then the alerts about it, with whom
they name. Reads kafka.sightingsTopic and kafka.alertsTopic; \`run\` writes the counts every few seconds.

Options:
      --json            print one JSON object
  -c, --config FILE     the configuration (default: THREATWEAVE_CONFIG, or built-in defaults)
  -h, --help            this text

Example:
  threatweave history 203.0.113.0/24

Exit codes: 0 seen, 1 never seen or not readable, 64 wrong usage, 78 wrong configuration.
`,
  options: { ...configOption, json: { type: 'boolean' } },
  takesArguments: true,
  run: async (args, io) => {
    const [value, ...more] = args.positionals
    if (value === undefined || more.length > 0)
      throw new UsageError('history takes one address, range or name: threatweave history 203.0.113.7')
    const subject = parseSubject(value)
    if (!subject) throw new UsageError(`${JSON.stringify(value)} is no address, range or name`)
    const config = loadConfig(args, io)
    if (config.kafka.sightingsTopic === '')
      throw new UsageError('kafka.sightingsTopic must be set: without it nothing is kept of what was seen')
    const found = await readHistory(kafkaSettingsOf(config), subject.covers, io.signal)
    if ('refused' in found) {
      io.stderr.write(`threatweave: ${printable(found.refused)}\n`)
      return exitCodes.failure
    }
    const history = { value: subject.text, ...found }
    if (args.values.json === true) await writeJson(io.stdout, `${JSON.stringify(history)}\n`)
    else await write(io.stdout, renderHistory(history))
    return found.indicators.length === 0 ? exitCodes.failure : exitCodes.ok
  },
}
