// The `explain` command: shows the indicators, roles and action in each event and the rules that found them; lookups only with --online.
import { connectedSettingsOf } from '../../app/connected-settings.js'
import { openSchemaValues, readWrittenAt } from '../../app/open-records.js'
import { originalOf } from '../../app/open-rule-events.js'
import type { Config } from '../../config/schema.js'
import type { Annotation } from '../../domain/annotation.js'
import { readRecord } from '../../kafka/topic-reader.js'
import { openReader } from '../../app/open-app.js'
import { printable } from '../../domain/control-characters.js'
import { noAlertWords } from '../../domain/no-alert-reason.js'
import { formatOf, type Extraction, type Sighting } from '../../domain/sighting.js'
import { exitCodes, type Command, type Io } from '../../terminal/command.js'
import { reportStop } from '../../terminal/report-stop.js'
import { loadConfig } from '../../app/load-config.js'
import { accepted, configOption } from '../../config/load-config.js'
import { readLines, withInputErrors } from '../../input/read-lines.js'
import { renderTable, type Column } from '../../terminal/table.js'
import { networkText } from '../../terminal/verdict-card.js'
import { write, writeJson } from '../../terminal/write-lines.js'
import { explainOnline } from './explain-online.js'
import { openKnown, type KnownAboutEvent, type OpenKnown } from './open-known.js'
import { withScope } from '../../base/scope.js'
import { marksOf, showMarked, wordsAround } from './mark-values.js'

export const explain: Command = {
  summary: 'show what is found in log events, by which rule, with local verdicts; makes no lookups without --online',
  help: `Usage: threatweave explain [options] [FILE… | TOPIC/PARTITION/OFFSET…]
       threatweave explain --online [options] VALUE…

Reads one event a line from files (.gz too) or standard input, or events of Kafka topics by their place (of a record of many
all, or one: firewall/3/42#7), and shows each with
its values marked (source, destination, others and the word that tells the action in colours of their own), and for every
value, role and action the rule that gave it and what that rule saw. With feeds or a memory in the configuration it also shows
what they know about each value, and which alert rules fire. The first word of a rule's id says what kind of evidence it is,
strongest first:

  format:…     a log format that recognised the event; docs/formats.md tells how to write one
  field:…      a field name of the table; names of your own go in a log format
  words:…      the words of an unknown field name, such as client_ip_addr
  text:…       the text around the value: from … to …, ->, Failed password for …
  position:…   the place in the line, which is a guess

Options:
      --online        ask the lookup service about addresses, names and CVE ids, given in place of files: what alerts
                      show as context (alerts.context), or all five operations; each call is paid
      --json          print one JSON object a line
  -c, --config FILE   the configuration to run with (default: THREATWEAVE_CONFIG, or built-in defaults)
  -h, --help          this text

Example:
  echo 'action=deny src=192.0.2.7 dst=10.0.0.5' | threatweave explain
  threatweave explain -c threatweave.yaml firewall-annotated/3/4711
`,
  options: { ...configOption, json: { type: 'boolean' }, online: { type: 'boolean' } },
  takesArguments: ['file'],
  unit: () => 'event',
  run: async (args, io) => {
    const config = loadConfig(args, io)
    if (args.values.online === true) return explainOnline(args.positionals, config, io, args.values.json === true)
    const { eventsInRecord, decode, extract, files } = accepted(openReader(config, { isOneSource: true }))
    const isJson = args.values.json === true
    const isColoured = io.stdout.isTTY === true && (io.env.NO_COLOR ?? '') === ''
    const explainBy =
      (known: OpenKnown | undefined) =>
      async (bytes: Buffer, written?: Annotation): Promise<string> => {
        const event = decode(bytes)
        const found = extract(event)
        const knows = await known?.of(bytes, written)
        if (isJson)
          return `${JSON.stringify({ ...explained(event.text, found), ...(knows && { known: knows }), ...(written && { annotation: written }) })}\n`
        return (
          render(event.text, found, isColoured) +
          (knows ? renderKnown(knows) : '') +
          (written ? renderWritten(written) : '')
        )
      }
    let events = 0
    const show = async (out: string, count: number): Promise<void> => {
      await (isJson ? writeJson : write)(io.stdout, out)
      events += count
    }
    return withScope(async (scope) => {
      const explainOne = explainBy(scope.use(await openKnown(config, files, io)))
      if (args.positionals.length > 0 && args.positionals.every(isPlace)) {
        for (const place of args.positionals) {
          const read = await readPlacedEvents(place, config, io.env)
          if ('refused' in read) {
            io.stderr.write(`threatweave: ${printable(read.refused)}\n`)
            return exitCodes.failure
          }
          for (const { bytes, annotation } of read) await show(await explainOne(bytes, annotation), 1)
        }
        return exitCodes.ok
      }
      await withInputErrors(async () => {
        for await (const lines of readLines(args.positionals, io.stdin, io.signal)) {
          if (io.signal.aborted) break
          let out = ''
          const all = lines.flatMap(({ bytes }) => eventsInRecord(bytes))
          for (const bytes of all) out += await explainOne(bytes)
          await show(out, all.length)
        }
      })
      return reportStop(events, io)
    })
  },
}

type Explained = {
  /** The format that recognised the event; otherwise `kind` is set. */
  readonly format?: string
  readonly kind?: string
  readonly action: { readonly value: string; readonly rule?: string; readonly saw?: string }
  readonly indicators: readonly (Pick<Sighting, 'type' | 'value' | 'field' | 'role' | 'rule'> & {
    readonly saw?: string
  })[]
  readonly truncated?: true
}

const place = /^([A-Za-z0-9._-]{1,249})\/(\d{1,9})\/(\d{1,15})(?:#(\d{1,5}))?$/

/** `topic/partition/offset`, optionally with `#` and the index of a member. */
const isPlace = (text: string): boolean => place.test(text)

type PlacedEvent = { readonly bytes: Buffer; readonly annotation?: Annotation }

/** Reads the original events of a record, with the annotations written for them. */
const readPlacedEvents = async (
  text: string,
  config: Config,
  env: Io['env'],
): Promise<readonly PlacedEvent[] | { readonly refused: string }> => {
  const [, topic = '', partition = '', offset = '', member] = place.exec(text) ?? []
  const at = { topic, partition: Number(partition), offset: Number(offset) }
  const record = await readRecord(connectedSettingsOf(config, { env }), at)
  if ('refused' in record) return record
  if (record.value === null) return { refused: `${text} is a record without a value` }
  const registry = await openSchemaValues(config, { env, isPatient: true })
  const { events } = await readWrittenAt(topic, record, config, registry).finally(() => registry?.close())
  const wanted = events.filter((event) => member === undefined || event.member === Number(member))
  if (wanted.length === 0) return { refused: `${topic}/${partition}/${offset} has no member ${member ?? ''}` }
  return wanted.map(({ bytes, object, annotation }) => ({
    bytes: object && annotation ? originalOf(object, config.output.key, annotation.read_as !== undefined) : bytes,
    ...(annotation && { annotation: annotation as unknown as Annotation }),
  }))
}

const explained = (text: string, found: Extraction): Explained => {
  const { action, actionRule = '', actionSaw = '', sightings, truncated } = found
  const format = formatOf(found)
  const marks = marksOf(text, sightings, '')
  // A value set by a format does not appear in the line.
  const isSeen = actionSaw !== '' && text.toLowerCase().includes(actionSaw.toLowerCase())
  return {
    ...(format === undefined ? { kind: found.format ?? 'text' } : { format }),
    action: { value: action, ...(actionRule !== '' && { rule: actionRule }), ...(isSeen && { saw: actionSaw }) },
    indicators: sightings.map((sighting) => {
      const { type, value, field, role, rule = '' } = sighting
      const mark = marks.find((one) => one.value === value)
      const saw = byName.test(rule) ? field : mark && wordsAround(text, mark)
      return { type, value, field, role, rule, ...(saw !== undefined && { saw }) }
    }),
    ...(truncated && { truncated }),
  }
}

/** Rules that match only the name of a field. */
const byName = /^(?:field|words|language:field|extract\.fields)/

const columns: readonly Column[] = [
  { title: 'found', max: 64 },
  { title: 'is' },
  { title: 'rule', max: 64 },
  { title: 'what it saw', max: 80 },
]

const render = (text: string, found: Extraction, isColoured: boolean): string => {
  const { format, kind = '', action, indicators, truncated } = explained(text, found)
  const rows = indicators.map(({ value, role, rule = '', saw = '' }) => [value, role, guessed(rule), saw])
  rows.push(['action', action.value, action.rule ?? '', action.saw ?? ''])
  const read = format === undefined ? `no format; read as ${kind}` : `format ${format}`
  const line = showMarked(text, marksOf(text, found.sightings, found.actionSaw ?? ''), isColoured)
  const table = renderTable(columns, rows).replace(/^/gm, '  ').trimEnd()
  return `${line}\n  ${read}${truncated ? '; the event has further indicators' : ''}\n\n${table}\n\n`
}

const guessed = (rule: string): string => (rule.startsWith('position:') ? `${rule} (a guess)` : rule)

const knownColumns: readonly Column[] = [
  { title: 'known', max: 64 },
  { title: 'verdict' },
  { title: 'score', align: 'right' },
  { title: 'from', max: 48 },
  { title: 'since', max: 24 },
]

/** Shown only with geo databases, to avoid an empty column. */
const whereColumn: Column = { title: 'where', max: 48 }

const renderKnown = ({ values, rules, noAlert }: KnownAboutEvent): string => {
  const hasPlaces = values.some(({ country, as }) => country !== undefined || as !== undefined)
  const rows = values.map(({ value, verdict, reason, score, country, as, source = '', entry, at = '' }) => [
    value,
    reason === undefined ? verdict : `${verdict} (${reason})`,
    score === undefined ? '' : String(score),
    entry === undefined ? source : `${source} as ${entry}`,
    at.slice(0, 19),
    ...(hasPlaces ? [[country ?? '', as ? networkText(as) : ''].filter((text) => text !== '').join(', ')] : []),
  ])
  const table =
    rows.length > 0
      ? `${renderTable(hasPlaces ? [...knownColumns, whereColumn] : knownColumns, rows)
          .replace(/^/gm, '  ')
          .trimEnd()}\n\n`
      : ''
  const fired = rules
    .map(
      ({ title, level, value }) =>
        `${printable(title)} (${level}${value === undefined ? '' : `, ${printable(value)}`})`,
    )
    .join(', ')
  if (noAlert === undefined) return `${table}  rules that fire: ${fired === '' ? 'none' : fired}\n\n`
  const { reason, rule } = noAlert
  const filter = rule === undefined ? '' : ` in "${printable(rule)}"`
  return `${table}  no rule fires because ${noAlertWords[reason]}${filter} (${reason})\n\n`
}

const renderWritten = ({ verdict, status, reason, verdict_time, ...rest }: Annotation): string => {
  const summary = (rest as Partial<Annotation>).summary ?? ''
  const because = [status, ...(reason === undefined ? [] : [reason]), summary].filter((one) => one !== '').join(', ')
  return `  written with it: ${verdict}, ${printable(because)}${verdict_time === undefined ? '' : `, obtained ${verdict_time}`}\n\n`
}
