// Measures `run` on a real broker with a warm memory, with batches and with a failing provider, next to a plain kafkajs loop.
import { avroOf, startRegistry } from './avro.mjs'
import { measure } from './kafka-measure.mjs'
import { accusedInFlood, accusedUsually, shapeEvent } from './shape-events.mjs'
import {
  copyOfMemory,
  batchOf,
  fill,
  fillGateway,
  fillMemory,
  everythingFile,
  knownAddresses,
  makeTopic,
  newPerThousand,
  partitions,
  startProvider,
  topicSettings,
  troubleEvent,
  warmEvent,
} from './kafka-stage.mjs'
import { otlpJsonOf, otlpProtobufOf } from './otlp.mjs'
import { openStage } from './open-stage.mjs'

const count = Number(process.env.BENCH_EVENTS ?? 200_000)
const only = process.env.BENCH_ROWS

const raw = { name: 'raw kafkajs: parse, add a field, stringify', mode: 'raw' }
const warm = { name: 'at least once', mode: 'at-least-once', isWarm: true }
const once = { name: 'exactly once', mode: 'exactly-once' }
const alerting = { name: 'exactly once, with alerts', mode: 'exactly-once', topics: ['ALERTS'] }
const learning = {
  name: 'exactly once, with alerts, corrections and sightings',
  mode: 'exactly-once',
  topics: ['ALERTS', 'CORRECTIONS', 'SIGHTINGS'],
}
const batches = (size, settings) => ({
  name: `at least once, batches of ${size}${settings ? ', split' : ''}`,
  mode: 'at-least-once',
  size,
  settings,
})
const avro = { name: 'at least once, Avro', mode: 'at-least-once', isAvro: true }
/** The same placement for JSON: the annotation is in a header. */
const headers = {
  name: 'at least once, annotation in a header',
  mode: 'at-least-once',
  settings: { THREATWEAVE_OUTPUT_PLACEMENT: 'headers' },
}
const otlp = (form, settings) => ({
  name: `at least once, 100 log records of OpenTelemetry in ${form}`,
  mode: 'at-least-once',
  size: 100,
  input: form,
  settings,
})
const inProtobuf = { THREATWEAVE_KAFKA_INPUT_FORMAT: 'otlp_proto' }
const split = { THREATWEAVE_KAFKA_INPUT_BATCHES: 'split' }
/** Alternates a pass-through with our client, lookups only, all features, and all features with half of the events malicious. */
const pass = { name: 'shapes: pass-through by the same client', mode: 'pass', input: 'shapes' }
const plain = { name: 'shapes: plain', mode: 'at-least-once', input: 'shapes', isPlain: true }
const all = ['ALERTS', 'CORRECTIONS', 'SIGHTINGS', 'VERDICTS']
const everything = { ...plain, name: 'shapes: everything', isPlain: false, isEverything: true, topics: all }
const flood = { ...everything, name: 'shapes: flood', isEverything: false, input: 'flood', isFlood: true }
const shapes = [pass, plain, everything, flood]
const troubled = (name, trouble) => [{ name, mode: 'at-least-once', trouble }, warm]

/**
 * Defaults: one worker, a warm memory and a provider that answers at once. The speed of a machine varies, so compared rows alternate and
 * repeat.
 */
const rows = [
  ...[raw, warm, once, raw, warm, once, raw, warm, once, warm, raw],
  { name: 'at least once, 2 workers', mode: 'at-least-once', workers: 2 },
  { name: 'exactly once, 2 workers', mode: 'exactly-once', workers: 2 },
  ...[warm, batches(10), warm, batches(1_000), warm, batches(1_000, split), warm],
  ...[avro, headers, warm, avro, headers, warm, avro, headers, warm],
  ...[otlp('JSON'), otlp('Protobuf', inProtobuf), otlp('JSON'), otlp('Protobuf', inProtobuf), otlp('JSON'), warm],
  ...[once, alerting, learning, alerting, learning, alerting, learning, alerting, once],
  warm,
  ...shapes,
  ...shapes.toReversed(),
  ...shapes,
  ...troubled('provider of 200 ms, one call at a time', { delayMs: 200 }),
  ...troubled('provider of 5 s', { delayMs: 5_000 }),
  ...troubled('provider that hangs', { hangs: true }),
  ...troubled('provider that is down', { isDown: true }),
]

export const run = async () => {
  const { broker, folder, kafka, admin, close } = await openStage()
  const id = Date.now().toString(36)
  const registry = await startRegistry(warmEvent)
  const inputs = {
    warm: `bench-warm-${id}`,
    trouble: `bench-news-${id}`,
    avro: `bench-avro-${id}`,
    10: `bench-10-${id}`,
    1000: `bench-1000-${id}`,
    JSON: `bench-otlp-json-${id}`,
    Protobuf: `bench-otlp-protobuf-${id}`,
    shapes: `bench-shapes-${id}`,
    flood: `bench-flood-${id}`,
  }
  try {
    const memory = await fillMemory(folder)
    if (!only || /workers/.test(only)) await fillGateway(kafka, admin, broker, folder, memory.path)
    const wanted = rows.filter(({ name }) => !only || new RegExp(only).test(name))
    const needed = new Set(wanted.map(inputOf))
    for (const name of needed) await makeTopic(admin, inputs[name])
    const now = Date.now()
    const fills = {
      warm: () => fill(kafka, inputs.warm, warmEvent, count),
      avro: () => fill(kafka, inputs.avro, avroOf(warmEvent), count),
      trouble: () => fill(kafka, inputs.trouble, troubleEvent, count),
      10: () => fill(kafka, inputs[10], batchOf(warmEvent, 10), count / 10, 200),
      1000: () => fill(kafka, inputs[1000], batchOf(warmEvent, 1_000), count / 1_000, 2),
      JSON: () => fill(kafka, inputs.JSON, otlpJsonOf(warmEvent, 100), count / 100, 4),
      Protobuf: () => fill(kafka, inputs.Protobuf, otlpProtobufOf(warmEvent, 100), count / 100, 4),
      shapes: () => fill(kafka, inputs.shapes, shapeEvent(accusedUsually, now - count), count),
      flood: () => fill(kafka, inputs.flood, shapeEvent(accusedInFlood, now - count), count),
    }
    const everythingPath = everythingFile(folder)
    let bytes = 0
    for (const name of needed) {
      const filled = await fills[name]()
      if (bytes === 0) bytes = filled
    }
    console.log(`${count} events of ${Math.round(bytes / count)} bytes on ${partitions} partitions, broker on the same machine.
Each event has two addresses that are looked up, of ${knownAddresses} that were looked up before (${memory.calls} calls) and stand in the memory;
where the provider is in trouble ${newPerThousand} of 1,000 events bring one that was never seen.
`)
    const results = []
    for (const [index, row] of wanted.entries()) {
      const stage = { id: `${id}-${index}`, broker, inputs, folder, memory, registry, everythingPath }
      const result = await play(admin, row, stage)
      results.push({ ...row, ...result })
      console.error(`  ${row.name}: ${Math.round(result.rate)} events/s`)
    }
    print(results)
  } finally {
    await admin.deleteTopics({ topics: Object.values(inputs) }).catch(() => undefined)
    await close()
    await registry.stop()
  }
}

/** The name of a row's input. */
const inputOf = ({ isAvro, trouble, input, size = 1 }) =>
  isAvro ? 'avro' : trouble ? 'trouble' : (input ?? (size === 1 ? 'warm' : String(size)))

const play = async (admin, row, { id, broker, inputs, folder, memory, registry, everythingPath }) => {
  const { mode, workers = 1, trouble, topics = [], size = 1 } = row
  const names = { output: `bench-out-${id}`, dead: `bench-dead-${id}`, groupId: `bench-${id}` }
  // Large enough for a record with the annotations of a thousand events.
  await makeTopic(admin, names.output, [{ name: 'max.message.bytes', value: '4000000' }])
  await makeTopic(admin, names.dead)
  const more = await makeMoreTopics(admin, topics, id)
  const provider = mode === 'raw' || mode === 'pass' ? undefined : await startProvider(trouble ?? {})
  const settings = provider && {
    THREATWEAVE_MEMORY_PATH: copyOfMemory(memory.path, id),
    THREATWEAVE_INTEL_SERVICE_BASE_URL: provider.url,
    THREATWEAVE_ADMIT_PER_DAY: 'unlimited',
    ...more,
    ...(row.isAvro && { THREATWEAVE_KAFKA_INPUT_FORMAT: 'registry', THREATWEAVE_KAFKA_REGISTRY_URL: registry.url }),
    ...row.settings,
  }
  try {
    const input = inputs[inputOf(row)]
    const config = row.isEverything || row.isFlood ? everythingPath : undefined
    const perRecord = row.settings === split ? 1 : size
    const result = await measure(admin, {
      mode,
      workers,
      count,
      perRecord,
      broker,
      input,
      ...names,
      folder,
      settings,
      config,
    })
    return { ...result, ...(await provider?.asked()) }
  } finally {
    await provider?.stop()
    await admin.deleteTopics({ topics: [names.output, names.dead, ...Object.values(more)] })
  }
}

/** Topics besides the output, by setting. */
const makeMoreTopics = async (admin, kinds, id) => {
  const topics = {}
  for (const kind of kinds) {
    const topic = (topics[`THREATWEAVE_KAFKA_${kind}_TOPIC`] = `bench-${kind.toLowerCase()}-${id}`)
    await makeTopic(admin, topic, topicSettings(kind))
  }
  return topics
}

/** The nearest rows for comparison, before and after. */
const beside = (results, at, isRival) => {
  const before = results.slice(0, at).findLast(isRival)
  const after = results.slice(at + 1).find(isRival)
  const found = [before, after].filter((one) => one !== undefined)
  const mean = (key) => found.reduce((sum, one) => sum + one[key], 0) / found.length
  return found.length === 0 ? undefined : { rate: mean('rate'), cpu: mean('cpu') }
}

const isRaw = ({ mode }) => mode === 'raw'
const isWarm = (row) => row.isWarm === true
const isOnce = ({ name }) => name === once.name
const isAlerting = ({ name }) => name === alerting.name
const isLearning = ({ name }) => name === learning.name
const isPass = ({ mode }) => mode === 'pass'
const isPlain = (row) => row.isPlain === true
const isEverything = (row) => row.isEverything === true
const isShape = ({ name }) => name.startsWith('shapes: ')

const print = (results) => {
  console.log(
    '| loop | events/s | CPU µs an event | most memory of a worker | second half against first | calls | of raw | of raw, by CPU | of warm | of warm, by CPU |',
  )
  console.log('|---|---|---|---|---|---|---|---|---|---|')
  const against = results.map((row, at) => ({
    row,
    raw: isRaw(row) || isShape(row) ? undefined : beside(results, at, isRaw),
    warm: isRaw(row) || isWarm(row) || isShape(row) ? undefined : beside(results, at, isWarm),
    once: isAlerting(row) ? beside(results, at, isOnce) : undefined,
    alerting: isLearning(row) ? beside(results, at, isAlerting) : undefined,
    pass: isPlain(row) ? beside(results, at, isPass) : undefined,
    plain: isEverything(row) ? beside(results, at, isPlain) : undefined,
    everything: row.isFlood ? beside(results, at, isEverything) : undefined,
  }))
  for (const { row, raw: rival, warm: calm } of against)
    console.log(
      `| ${[
        row.name,
        Math.round(row.rate),
        row.cpu.toFixed(1),
        `${Math.round(row.rss)} MB`,
        row.growth.toFixed(2),
        row.calls ?? '',
        ...ratios(row, rival),
        ...ratios(row, calm),
      ].join(' | ')} |`,
    )
  console.log('')
  summarise(
    'at least once against raw',
    against.filter(({ row }) => isWarm(row)),
    'raw',
  )
  summarise(
    'exactly once against at least once',
    against.filter(({ row }) => isOnce(row)),
    'warm',
  )
  summarise(
    'exactly once with alerts against without',
    against.filter(({ row }) => isAlerting(row)),
    'once',
  )
  summarise(
    'exactly once with what is learnt later against alerts alone',
    against.filter(({ row }) => isLearning(row)),
    'alerting',
  )
  for (const [what, of, rival] of [
    ['plain against a pass-through by the same client', isPlain, 'pass'],
    ['everything against plain', isEverything, 'plain'],
    ['a flood against everything', (row) => row.isFlood, 'everything'],
  ])
    summarise(
      what,
      against.filter(({ row }) => of(row)),
      rival,
    )
}

const summarise = (what, rows, rival) => {
  const known = rows.filter((one) => one[rival] !== undefined)
  if (known.length === 0) return
  const rates = known.map(({ row, [rival]: other }) => row.rate / other.rate)
  const cpus = known.map(({ row, [rival]: other }) => other.cpu / row.cpu)
  console.log(
    `${what}: ${median(rates).toFixed(2)} of the rate, ${median(cpus).toFixed(2)} by CPU (medians of ${known.length})`,
  )
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]

/** Higher is better in both. */
const ratios = (row, rival) =>
  rival ? [(row.rate / rival.rate).toFixed(2), (rival.cpu / row.cpu).toFixed(2)] : ['', '']
