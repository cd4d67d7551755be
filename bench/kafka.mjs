// `run` on a real broker with a warm memory, next to the raw kafkajs loop in the same run, and with a provider in trouble.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBroker } from '../dist/demo/broker.js'
import { Kafka, logLevel } from '../dist/kafka/mended-kafkajs.js'
import { measure } from './kafka-measure.mjs'
import {
  copyOfMemory,
  fill,
  fillGateway,
  fillMemory,
  knownAddresses,
  makeTopic,
  newPerThousand,
  partitions,
  startProvider,
  troubleEvent,
  warmEvent,
} from './kafka-stage.mjs'

const count = Number(process.env.BENCH_EVENTS ?? 200_000)
const only = process.env.BENCH_ROWS

/** `workers` 1, all known and a provider that answers at once unless said otherwise. */
const rows = [
  { name: 'raw kafkajs: parse, add a field, stringify', mode: 'raw' },
  { name: 'at least once', mode: 'at-least-once', isWarm: true },
  { name: 'exactly once', mode: 'exactly-once', isWarm: true },
  { name: 'raw kafkajs again', mode: 'raw' },
  { name: 'at least once, 2 workers', mode: 'at-least-once', workers: 2 },
  { name: 'exactly once, 2 workers', mode: 'exactly-once', workers: 2 },
  { name: 'at least once again', mode: 'at-least-once', isWarm: true },
  { name: 'provider of 200 ms, one call at a time', mode: 'at-least-once', trouble: { delayMs: 200 } },
  { name: 'provider of 5 s', mode: 'at-least-once', trouble: { delayMs: 5_000 } },
  { name: 'at least once again', mode: 'at-least-once', isWarm: true },
  { name: 'provider that hangs', mode: 'at-least-once', trouble: { hangs: true } },
  { name: 'provider that is down', mode: 'at-least-once', trouble: { isDown: true } },
  { name: 'at least once again', mode: 'at-least-once', isWarm: true },
  { name: 'raw kafkajs at the end', mode: 'raw' },
]

export const run = async () => {
  const broker = await startBroker({ env: process.env, say: (line) => console.error(line) })
  if ('missing' in broker) throw new Error(broker.missing)
  const folder = mkdtempSync(join(tmpdir(), 'threatweave-bench-'))
  const kafka = new Kafka({ brokers: broker.plain.split(','), logLevel: logLevel.NOTHING })
  const admin = kafka.admin()
  await admin.connect()
  const id = Date.now().toString(36)
  const inputs = { warm: `bench-warm-${id}`, trouble: `bench-news-${id}` }
  try {
    const memory = await fillMemory(folder)
    if (!only || /workers/.test(only)) await fillGateway(kafka, admin, broker.plain, folder, memory.path)
    await makeTopic(admin, inputs.warm)
    await makeTopic(admin, inputs.trouble)
    const bytes = await fill(kafka, inputs.warm, warmEvent, count)
    await fill(kafka, inputs.trouble, troubleEvent, count)
    console.log(`${count} events of ${Math.round(bytes / count)} bytes on ${partitions} partitions, broker on the same machine.
Each event has two addresses that are looked up, of ${knownAddresses} that were looked up before (${memory.calls} calls) and stand in the memory;
where the provider is in trouble ${newPerThousand} of 1,000 events bring one that was never seen.
`)
    const results = []
    for (const [index, row] of rows.entries()) {
      if (only && !new RegExp(only).test(row.name)) continue
      const result = await play(admin, row, { id: `${id}-${index}`, broker: broker.plain, inputs, folder, memory })
      results.push({ ...row, ...result })
      console.error(`  ${row.name}: ${Math.round(result.rate)} events/s`)
    }
    print(results)
  } finally {
    await admin.deleteTopics({ topics: Object.values(inputs) }).catch(() => undefined)
    await admin.disconnect()
    await broker.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const play = async (admin, { mode, workers = 1, trouble }, { id, broker, inputs, folder, memory }) => {
  const names = { output: `bench-out-${id}`, dead: `bench-dead-${id}`, groupId: `bench-${id}` }
  await makeTopic(admin, names.output)
  await makeTopic(admin, names.dead)
  const provider = mode === 'raw' ? undefined : await startProvider(trouble ?? {})
  const settings = provider && {
    THREATWEAVE_MEMORY_PATH: copyOfMemory(memory.path, id),
    THREATWEAVE_INTEL_SERVICE_BASE_URL: provider.url,
  }
  try {
    const input = trouble ? inputs.trouble : inputs.warm
    const result = await measure(admin, { mode, workers, count, broker, input, ...names, folder, settings })
    return { ...result, ...(await provider?.asked()) }
  } finally {
    await provider?.stop()
    await admin.deleteTopics({ topics: [names.output, names.dead] })
  }
}

/** Machines do not keep their pace: each row is held against the rows to compare with that stand nearest, before and after. */
const beside = (results, at, isRival) => {
  const before = results.slice(0, at).findLast(isRival)
  const after = results.slice(at + 1).find(isRival)
  const found = [before, after].filter((one) => one !== undefined)
  const mean = (key) => found.reduce((sum, one) => sum + one[key], 0) / found.length
  return found.length === 0 ? undefined : { rate: mean('rate'), cpu: mean('cpu') }
}

const print = (results) => {
  console.log(
    '| loop | events/s | CPU µs an event | most memory of a worker | second half against first | calls | of raw | of raw, by CPU | of warm | of warm, by CPU |',
  )
  console.log('|---|---|---|---|---|---|---|---|---|---|')
  for (const [at, row] of results.entries()) {
    const raw = row.mode === 'raw' ? undefined : beside(results, at, ({ mode }) => mode === 'raw')
    const warm =
      row.isWarm || row.mode === 'raw'
        ? undefined
        : beside(results, at, ({ mode, isWarm }) => isWarm && mode === row.mode)
    console.log(
      `| ${[
        row.name,
        Math.round(row.rate),
        row.cpu.toFixed(1),
        `${Math.round(row.rss)} MB`,
        row.growth.toFixed(2),
        row.calls ?? '',
        ...ratios(row, raw),
        ...ratios(row, warm),
      ].join(' | ')} |`,
    )
  }
  const once = results.find(({ name }) => name === 'exactly once')
  const atLeast = results.find(({ name }) => name === 'at least once')
  if (once && atLeast)
    console.log(
      `\nexactly once against at least once: ${(once.rate / atLeast.rate).toFixed(2)} of the rate, ${(atLeast.cpu / once.cpu).toFixed(2)} by CPU`,
    )
}

/** More is better in both. */
const ratios = (row, rival) =>
  rival ? [(row.rate / rival.rate).toFixed(2), (rival.cpu / row.cpu).toFixed(2)] : ['', '']
