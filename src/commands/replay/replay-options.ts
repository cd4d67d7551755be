// Command-line options of `replay`, checked against the configuration.
import { randomBytes } from 'node:crypto'
import { isTopicName } from '../../config/topic-name.js'
import type { Config } from '../../config/schema.js'
import { parseEdge, type Edge } from '../../kafka/edge.js'
import type { InputKind } from '../../replay/restore.js'
import { UsageError, type Arguments } from '../../terminal/command.js'

export type ReplayArguments = {
  readonly id: string
  readonly topic: string
  readonly kind: InputKind
  readonly from: Edge
  readonly to: Edge
  readonly fromText: string
  readonly toText: string
  readonly partition: number | undefined
  readonly times: readonly [number, number] | undefined
  readonly only: 'pending' | undefined
  readonly output: string
  readonly against: string | undefined
  readonly alerts: 'new' | 'all' | 'none'
  readonly alertsTopic: string
  readonly lookups: 'all' | 'none'
  readonly maxLookups: number | undefined
  readonly eventsPerSecond: number | undefined
  readonly isDryRun: boolean
  readonly isJson: boolean
}

export const readReplayArguments = (args: Arguments, { kafka }: Config, now: number): ReplayArguments => {
  if (args.positionals.length > 0)
    throw new UsageError(`replay takes options only, not ${JSON.stringify(args.positionals[0])}`)
  const text = (name: string): string | undefined => {
    const value = args.values[name]
    return typeof value === 'string' ? value : undefined
  }
  const named = (name: string): string | undefined => {
    const value = text(name)
    if (value !== undefined && !isTopicName(value))
      throw new UsageError(`--${name} must be the name of a topic, not ${JSON.stringify(value)}`)
    return value
  }
  const whole = (name: string): number | undefined => {
    const value = text(name)
    if (value === undefined) return undefined
    if (!/^\d{1,9}$/.test(value)) throw new UsageError(`--${name} must be a whole number, not ${JSON.stringify(value)}`)
    return Number(value)
  }
  const choice = <Name extends string>(name: string, choices: readonly Name[], otherwise: Name): Name => {
    const value = text(name) ?? otherwise
    const found = choices.find((one) => one === value)
    if (found === undefined)
      throw new UsageError(`--${name} must be ${choices.join(' or ')}, not ${JSON.stringify(value)}`)
    return found
  }
  const edge = (name: 'from' | 'to'): Edge => {
    const value = text(name)
    const found = value === undefined ? undefined : parseEdge(value, now)
    if (found) return found
    throw new UsageError(
      `--${name} must be a time (2026-11-09T08:00:00Z, 2026-11-09, 7d for seven days ago), an offset, ${name === 'from' ? 'earliest' : 'now'}${value === undefined ? '' : `, not ${JSON.stringify(value)}`}`,
    )
  }
  const topic = named('topic')
  if (topic === undefined) throw new UsageError('--topic must name the topic to replay')
  const id =
    text('id') ??
    `${new Date(now).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}-${randomBytes(2).toString('hex')}`
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(id))
    throw new UsageError('--id may contain letters, digits, dot, dash and underscore')
  const output = named('output') ?? `${topic}-replay-${id}`
  if (!isTopicName(output)) throw new UsageError('--output is needed: the default name would be too long')
  if (output === topic) throw new UsageError(`--output must be another topic than ${topic}, which is read`)
  if (kafka.input.topics.includes(output))
    throw new UsageError(`--output ${output} is an input of the live run, which would annotate its events again`)
  if (output === kafka.output.topic && args.values['into-live'] !== true)
    throw new UsageError(`--output ${output} is the live output; add --into-live to confirm`)
  const rate = text('rate')
  const eventsPerSecond = rate === undefined ? undefined : Number(rate)
  if (eventsPerSecond !== undefined && !(eventsPerSecond > 0 && eventsPerSecond < 1e9))
    throw new UsageError(`--rate must be a number of events per second, not ${JSON.stringify(rate)}`)
  const refuseUseless = (option: string, beside: string): void => {
    if (text(option) !== undefined) throw new UsageError(`--${option} has no effect with ${beside}; remove it`)
  }
  const alerts = choice('alerts', ['new', 'all', 'none'], 'new')
  if (alerts === 'none') refuseUseless('alerts-output', '--alerts none')
  const lookups = choice('lookups', ['all', 'none'], 'all')
  if (lookups === 'none') refuseUseless('max-lookups', '--lookups none')
  const from = edge('from')
  const to = edge('to')
  if (from.kind === 'time' && to.kind === 'time' && from.time >= to.time)
    throw new UsageError('--from must be before --to')
  const defaultKind =
    topic === kafka.output.topic ? 'annotated' : topic === kafka.deadLetterTopic ? 'dead-letter' : 'raw'
  const kind = choice('input', ['raw', 'annotated', 'dead-letter'], defaultKind)
  if (kind === 'dead-letter' && topic !== kafka.deadLetterTopic)
    throw new UsageError(`--input dead-letter needs kafka.deadLetterTopic: nobody else's headers are believed`)
  const only = text('only') === undefined ? undefined : choice('only', ['pending'], 'pending')
  if (only !== undefined && kind !== 'annotated')
    throw new UsageError(`--only ${only} needs annotated events: --topic must be the output topic of run`)
  return {
    id,
    topic,
    kind,
    only,
    from,
    to,
    fromText: text('from') ?? '',
    toText: text('to') ?? '',
    partition: whole('partition'),
    times:
      args.values['strict-time'] === true
        ? [from.kind === 'time' ? from.time : -Infinity, to.kind === 'time' ? to.time : Infinity]
        : undefined,
    output,
    against: named('against'),
    alerts,
    alertsTopic: named('alerts-output') ?? `${output.slice(0, 240)}-alerts`,
    lookups,
    maxLookups: whole('max-lookups'),
    eventsPerSecond,
    isDryRun: args.values['dry-run'] === true,
    isJson: args.values.json === true,
  }
}
