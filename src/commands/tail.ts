// The `tail` command: shows annotated events as they arrive, one line each, with filters.
import { loadConfiguredRules } from '../app/check-file.js'
import { openSchemaValues, readWrittenOf } from '../app/open-records.js'
import { openRuleEvents } from '../app/open-rule-events.js'
import { connectedSettingsOf } from '../app/connected-settings.js'
import { writtenCandidates } from '../alerts/candidates.js'
import { describeRuleProblem } from '../alerts/sigma/rule.js'
import { loadConfig } from '../app/load-config.js'
import { configOption } from '../config/load-config.js'
import type { Config } from '../config/schema.js'
import { hostOf } from '../domain/listed-url.js'
import { printable } from '../domain/control-characters.js'
import type { Annotation } from '../domain/annotation.js'
import type { AnyObject } from '../base/json-object.js'
import { levels, type Level } from '../domain/finding.js'
import { writtenFormat, type WrittenEvents } from '../pipeline/batch/read-written.js'
import { reasons } from '../domain/reason.js'
import { followTopic, type Followed } from '../kafka/follow-topic.js'
import { parseEdge, type Edge } from '../kafka/edge.js'
import { exitCodes, UsageError, type Arguments, type Command, type Io } from '../terminal/command.js'
import { reportStop } from '../terminal/report-stop.js'
import { write, writeJson } from '../terminal/write-lines.js'

export const tail: Command = {
  summary: 'show annotated events as they arrive, filtered',
  help: `Usage: threatweave tail [options]

Follows kafka.output.topic and prints one line per event: time, verdict, direction, action, why, and the log line. It joins no
consumer group and commits nothing, so it can run beside anything. Ctrl-C ends it.

Options:
      --verdict LIST    only events with one of these verdicts: malicious, suspicious, clean, unknown
      --reason LIST     only events that are unknown for one of these reasons, such as pending
      --value VALUE     only events with this address or name
      --rule ID         only events that match this Sigma rule (its id or title) of the configuration
      --topic TOPIC     another topic of annotated events
      --from WHEN       a time (2026-11-09T08:00:00Z), a time ago (15m, 2h), an offset, earliest or now (default: now)
  -n, --count N         stop after N events
      --json            print the events as they are, one JSON object per line
  -c, --config FILE     the configuration (default: THREATWEAVE_CONFIG, or built-in defaults)
  -h, --help            this text

Example:
  threatweave tail --verdict malicious,suspicious --from 1h
`,
  options: {
    ...configOption,
    verdict: { type: 'string', takes: { listOf: levels } },
    reason: { type: 'string', takes: { listOf: reasons } },
    value: { type: 'string' },
    rule: { type: 'string' },
    topic: { type: 'string' },
    from: { type: 'string', takes: ['earliest', 'now'] },
    count: { type: 'string', short: 'n' },
    json: { type: 'boolean' },
  },
  unit: () => 'event',
  run: async (args, io) => {
    const config = loadConfig(args, io)
    const { topic, from, limit, isWanted } = await readOptions(args, config)
    const isJson = args.values.json === true
    const colour = io.stdout.isTTY === true && (io.env.NO_COLOR ?? '') === ''
    const enough = new AbortController()
    const registry = await openSchemaValues(config, { env: io.env })
    const readWritten = readWrittenOf(config, registry)
    let shown = 0
    const each = async (record: Followed): Promise<void> => {
      await registry?.prepare([{ ...record, topic, format: writtenFormat(record.headers) }])
      for (const event of annotatedEvents(readWritten(record))) {
        if (enough.signal.aborted || !isWanted(event)) continue
        // In JSON a line break can only be whitespace between tokens.
        const written = isJson
          ? writeJson(io.stdout, `${event.text.replace(/[\r\n]+/g, ' ')}\n`)
          : write(io.stdout, lineOf(event, record, io, colour))
        if (++shown === limit) enough.abort()
        // The reader has closed the pipe (`| head`) or the disk is full; the caller reports output errors.
        await written.catch(() => enough.abort())
      }
    }
    const refused = await followTopic(
      connectedSettingsOf(config, { env: io.env }),
      topic,
      from,
      each,
      AbortSignal.any([io.signal, enough.signal]),
    ).finally(() => registry?.close())
    if (!refused) return reportStop(shown, io)
    io.stderr.write(`threatweave: ${printable(refused.refused)}\n`)
    return exitCodes.failure
  },
}

type AnnotatedEvent = { readonly text: string; readonly whole: AnyObject; readonly annotation: Annotation }
type Options = {
  readonly topic: string
  readonly from: Edge
  readonly limit: number
  readonly isWanted: (event: AnnotatedEvent) => boolean
}

const readOptions = async ({ values }: Arguments, config: Config): Promise<Options> => {
  const text = (name: string): string | undefined => (typeof values[name] === 'string' ? values[name] : undefined)
  const listed = (name: string, known: readonly string[]): ReadonlySet<string> | undefined => {
    const given = text(name)?.split(',')
    const wrong = given?.find((one) => !known.includes(one))
    if (wrong !== undefined)
      throw new UsageError(`--${name} takes ${known.join(', ')}; ${JSON.stringify(wrong)} is none of them`)
    return given && new Set(given)
  }
  const from = parseEdge(text('from') ?? 'now', Date.now())
  if (!from)
    throw new UsageError(
      `--from takes a time, a time ago such as 15m, an offset, earliest or now, not ${JSON.stringify(text('from'))}`,
    )
  const count = text('count')
  if (count !== undefined && !/^[1-9]\d{0,8}$/.test(count))
    throw new UsageError(`--count takes a whole number from 1 on, not ${JSON.stringify(count)}`)
  const topic = text('topic') ?? config.kafka.output.topic
  if (topic === '') throw new UsageError('--topic, or kafka.output.topic in the configuration, must name the topic')
  const verdicts = listed('verdict', levels)
  const wantedReasons = listed('reason', reasons)
  const value = text('value')?.toLowerCase()
  const rule = text('rule')
  const rules = rule === undefined ? undefined : await rulesNamed(rule, config)
  return {
    topic,
    from,
    limit: count === undefined ? Infinity : Number(count),
    isWanted: ({ annotation, whole }) =>
      (verdicts?.has(annotation.verdict) ?? true) &&
      (wantedReasons?.has(annotation.reason ?? '') ?? true) &&
      (value === undefined || mentions(annotation, whole, value)) &&
      (rules?.(annotation, whole) ?? true),
  }
}

const rulesNamed = async (
  name: string,
  config: Config,
): Promise<(annotation: Annotation, event: AnnotatedEvent['whole']) => boolean> => {
  const { set, problems } = await loadConfiguredRules([], config)
  if (problems.length > 0) throw new UsageError(problems.map(describeRuleProblem).join('\n'))
  const isNamed = ({ id, title }: { readonly id: string; readonly title: string }): boolean =>
    id === name || title.toLowerCase() === name.toLowerCase()
  if (!set.rules.some(isNamed))
    throw new UsageError(`no rule has the id or title ${JSON.stringify(name)}; alerts.rules lists the rule files`)
  const eventOf = openRuleEvents(config)
  return (annotation, event) =>
    set.match(writtenCandidates(annotation), () => eventOf(event, annotation)).some(({ rule }) => isNamed(rule))
}

/** A compact annotation has no list of indicators, so the event itself is searched. */
const mentions = (annotation: Annotation, whole: AnnotatedEvent['whole'], value: string): boolean => {
  const { indicators } = annotation as Partial<Annotation>
  const isIt = (one: Pick<Partial<Annotation>, 'type' | 'value'>): boolean =>
    one.value !== undefined && (one.value === value || hostOf(one.type, one.value) === value)
  if (isIt(annotation) || indicators?.some(isIt)) return true
  if (indicators !== undefined && annotation.indicators_omitted === undefined) return false
  const literal = value.replace(/[^\w]/g, '\\$&')
  return new RegExp(`(?<![\\w.-])${literal}(?!\\.?[\\w-])`).test(JSON.stringify(whole).toLowerCase())
}

const annotatedEvents = ({ events }: WrittenEvents): readonly AnnotatedEvent[] =>
  events.flatMap(({ bytes, object, annotation }) => {
    if (typeof annotation?.verdict !== 'string') return []
    const whole = object ?? { message: bytes.toString() }
    return [
      {
        text: object ? bytes.toString() : JSON.stringify(whole),
        whole,
        annotation: annotation as unknown as Annotation,
      },
    ]
  })

const colours: Record<Level, number> = { malicious: 31, suspicious: 33, clean: 32, unknown: 90 }

const lineOf = (
  { whole, annotation }: AnnotatedEvent,
  { timestamp }: Followed,
  { stdout }: Io,
  isColoured: boolean,
): string => {
  const { verdict, direction, action, status, reason } = annotation
  const time = new Date(Number(timestamp)).toISOString().slice(11, 19)
  const why = (annotation as Partial<Annotation>).summary ?? reason ?? status
  const text = typeof whole.message === 'string' ? whole.message : JSON.stringify(whole)
  const start = `${time}  ${verdict.padEnd(10)}`
  const rest = printable(`  ${direction.padEnd(8)}  ${action.padEnd(7)}  ${why}  | ${text}`)
  const width = Math.max(80, stdout.columns ?? 200) - start.length
  const clipped = rest.length > width ? `${rest.slice(0, width - 1)}…` : rest
  return isColoured ? `\u001b[${colours[verdict]}m${start}\u001b[0m${clipped}\n` : `${start}${clipped}\n`
}
