// The `silence` command: creates a silence entry from an alert or from matchers.
import { randomUUID } from 'node:crypto'
import { userInfo } from 'node:os'
import { findAlert } from '../find-alert.js'
import { messageOf } from '../../../base/message-of.js'
import { loadConfig } from '../../../app/load-config.js'
import { configOption } from '../../../config/load-config.js'
import { printable } from '../../../domain/control-characters.js'
import { addSilence, silenceEntry, silenceProblems } from '../add-silence.js'
import type { Silence } from '../silence-file.js'
import { memberAt } from '../template.js'
import { exitCodes, UsageError, type Arguments, type Command, type Io } from '../../../terminal/command.js'

export const silence: Command = {
  summary: 'print or add the entry that silences an alert, or alerts that match fields',
  help: `Usage: threatweave silence ALERT [options]
       threatweave silence --match FIELD=VALUE [--match …] [options]

ALERT is the id of an alert (threatweave.alert_id, as a chat message or the SIEM shows it). It is looked for on
kafka.alertsTopic, newest first; alerts of the same rule about the same indicator and machine are silenced. With --match,
alerts whose fields have these values are. A value may be a list (a,b), a prefix (text*) or a range (10.0.0.0/8).

Options:
      --match FIELD=VALUE  a field of alerts, such as source.ip or rule.name; may be given several times
      --for TIME           how long: 4h, 7d, 2w (default: 7d)
      --reason TEXT        why (default: not given)
      --by NAME            who wants it (default: the user of this machine)
      --file FILE          add the entry to this file instead of printing it; \`notify\` reads it again within seconds
  -c, --config FILE        the configuration (default: THREATWEAVE_CONFIG, or built-in defaults)
  -h, --help               this text

What would hold back every alert is refused. To end a silence early, take its entry out of the file.

Example:
  threatweave silence --match source.ip=10.20.0.15 --for 7d --reason 'scanner, ticket 4711' --file silences.yaml

Exit codes: 0 printed or added, 1 no such alert, or the file cannot be written, 64 wrong usage.
`,
  options: {
    ...configOption,
    match: { type: 'string', multiple: true },
    for: { type: 'string' },
    reason: { type: 'string' },
    by: { type: 'string' },
    file: { type: 'string', takes: 'file' },
  },
  takesArguments: [[]],
  run: async (args, io) => {
    const match = await matchOf(args, io)
    if ('refused' in match) {
      io.stderr.write(`threatweave: ${printable(match.refused)}\n`)
      return exitCodes.failure
    }
    const { values } = args
    const entry: Silence = {
      id: `s-${randomUUID().slice(0, 8)}`,
      match: match.match,
      until: new Date(Date.now() + durationOf(values.for)).toISOString(),
      reason: typeof values.reason === 'string' ? values.reason : 'not given',
      by: typeof values.by === 'string' ? values.by : userInfo().username,
    }
    const [problem] = silenceProblems(entry)
    if (problem !== undefined) throw new UsageError(problem)
    if (typeof values.file !== 'string') {
      io.stdout.write(silenceEntry(entry))
      return exitCodes.ok
    }
    const refused = add(values.file, entry)
    if (refused !== undefined) {
      io.stderr.write(`threatweave: ${values.file} is not changed: ${printable(refused)}\n`)
      return exitCodes.failure
    }
    io.stdout.write(`${silenceEntry(entry)}added to ${printable(values.file)}\n`)
    return exitCodes.ok
  },
}

const add = (file: string, entry: Silence): string | undefined => {
  try {
    return addSilence(file, entry)
  } catch (error) {
    return messageOf(error)
  }
}

type Match = Silence['match']

const matchOf = async (args: Arguments, io: Io): Promise<{ readonly match: Match } | { readonly refused: string }> => {
  const { match: given = [] } = args.values
  const [id, another] = args.positionals
  const pairs = [given].flat().filter((one) => typeof one === 'string')
  if (another !== undefined || (id === undefined) === (pairs.length === 0))
    throw new UsageError('silence takes the id of an alert, or --match FIELD=VALUE')
  if (id === undefined) return { match: Object.fromEntries(pairs.map(readPair)) }
  if (!/^[0-9a-f]{32}$/.test(id))
    throw new UsageError(`${JSON.stringify(id)} is not an alert id, which has 32 digits, 0-9a-f`)
  const found = await findAlert(loadConfig(args, io), id, { env: io.env })
  if ('refused' in found) return found
  const fields = ['rule.id', 'threatweave.value', 'threatweave.peer'].flatMap((field) => {
    const value = memberAt(found.whole, field.split('.'))
    return typeof value === 'string' && value !== '' ? [[field, value]] : []
  })
  return { match: Object.fromEntries(fields) as Match }
}

const readPair = (pair: string): readonly [field: string, wanted: Match[string]] => {
  const at = pair.indexOf('=')
  const field = pair.slice(0, at)
  const value = pair.slice(at + 1)
  if (at < 1 || value === '') throw new UsageError(`--match takes FIELD=VALUE, not ${JSON.stringify(pair)}`)
  const values = value.split(',')
  const one = <Item>(items: readonly Item[]): Item | Item[] => (items.length === 1 ? (items[0] as Item) : [...items])
  if (values.every((text) => text.length > 1 && text.endsWith('*')))
    return [field, { prefix: one(values.map((text) => text.slice(0, -1))) }]
  if (values.every((text) => /^[0-9a-f.:]+\/\d{1,3}$/i.test(text))) return [field, { cidr: one(values) }]
  return [field, one(values)]
}

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }
const weekMs = 604_800_000

const durationOf = (text: Arguments['values'][string]): number => {
  if (text === undefined) return weekMs
  const found = typeof text === 'string' ? /^([1-9]\d{0,3})([mhdw])$/.exec(text) : null
  if (!found) throw new UsageError(`--for takes a time such as 4h, 7d or 2w, not ${JSON.stringify(text)}`)
  return Number(found[1]) * (units[found[2] ?? ''] ?? 0)
}
