// Compares `run` with Redpanda Connect on the same events, broker and provider, alternating; prints a table and writes a plot.
import { writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { measure } from '../kafka-measure.mjs'
import {
  everythingFile,
  fill,
  makeTopic,
  partitions,
  startProvider,
  topicSettings,
  warmEvent,
} from '../kafka-stage.mjs'
import { openStage } from '../open-stage.mjs'
import { accusedInFlood, accusedUsually, shapeEvent } from '../shape-events.mjs'
import { findPeer } from './find-peer.mjs'
import { plot } from './plot.mjs'

const count = Number(process.env.BENCH_EVENTS ?? 400_000)
const rounds = Number(process.env.BENCH_ROUNDS ?? 3)
const only = process.env.BENCH_ROWS
const plotPath = process.env.BENCH_PLOT ?? 'peers.svg'
/** The latency of a lookup over a network. */
const delayMs = 5

const peers = [
  { name: 'Redpanda Connect, no lookups', config: 'pass-through.yaml' },
  { name: 'Redpanda Connect, lookups', config: 'lookups.yaml' },
  { name: 'Redpanda Connect, order kept', config: 'ordered.yaml' },
]
const topics = ['ALERTS', 'CORRECTIONS', 'SIGHTINGS', 'VERDICTS']
const ours = [
  { name: 'Threatweave, lookups', mode: 'at-least-once' },
  { name: 'Threatweave, exactly once', mode: 'exactly-once' },
  { name: 'Threatweave, everything on', mode: 'at-least-once', input: 'shapes', topics },
  { name: 'Threatweave, flood', mode: 'at-least-once', input: 'flood', topics },
].map((row) => ({ ...row, isOurs: true }))

export const run = async () => {
  const peer = findPeer()
  if ('missing' in peer) console.log(`  Without Redpanda Connect, whose rows are left out: ${peer.missing}`)
  const rows = [...('missing' in peer ? [] : peers), ...ours].filter(({ name }) => !only || new RegExp(only).test(name))
  const { broker, folder, kafka, admin, close } = await openStage()
  const id = Date.now().toString(36)
  const inputs = { lookups: `peers-lookups-${id}`, shapes: `peers-shapes-${id}`, flood: `peers-flood-${id}` }
  const now = Date.now()
  const events = {
    lookups: warmEvent,
    shapes: shapeEvent(accusedUsually, now - count),
    flood: shapeEvent(accusedInFlood, now - count),
  }
  const everything = everythingFile(folder)
  const provider = await startProvider({ delayMs })
  const taken = rows.map((row) => ({ ...row, rates: [], cpus: [], memory: [], calls: [] }))
  try {
    let size = 0
    for (const name of new Set(rows.map(({ input = 'lookups' }) => input))) {
      await makeTopic(admin, inputs[name])
      size = Math.round((await fill(kafka, inputs[name], events[name], count)) / count)
    }
    for (let round = 0; round < rounds; round++)
      for (const [nth, row] of (round % 2 === 0 ? taken : taken.toReversed()).entries()) {
        const stage = { id: `${id}-${round}-${nth}`, broker, folder, provider, input: inputs[row.input ?? 'lookups'] }
        const { rate, cpu, rss, calls } = await play(admin, row, { ...stage, peer, everything })
        row.rates.push(rate)
        row.cpus.push(cpu)
        row.memory.push(rss)
        row.calls.push(calls)
        console.error(`  ${row.name}: ${Math.round(rate)} events/s, ${cpu.toFixed(1)} µs`)
      }
    const caption = [
      `${count} events of about ${size} bytes on ${partitions} partitions, a provider that answers in ${delayMs} ms, ${rounds} rounds, alternating; the broker is on the same machine.`,
      `${'missing' in peer ? 'Redpanda Connect was not measured' : `Redpanda Connect ${peer.version}`}, Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GB. ${new Date().toISOString().slice(0, 10)}.`,
    ]
    print(taken, caption)
    writeFileSync(plotPath, plot(taken, caption))
    console.log(`\n  The plot is in ${plotPath}.`)
  } finally {
    await provider.stop()
    await admin.deleteTopics({ topics: Object.values(inputs) }).catch(() => undefined)
    await close()
  }
}

const play = async (admin, row, { id, broker, folder, provider, input, peer, everything }) => {
  const output = `peers-out-${id}`
  const groupId = `peers-${id}`
  const names = { output, dead: `peers-dead-${id}` }
  for (const topic of Object.values(names)) await makeTopic(admin, topic)
  const more = {}
  for (const kind of row.topics ?? []) {
    more[`THREATWEAVE_KAFKA_${kind}_TOPIC`] = `peers-${kind.toLowerCase()}-${id}`
    await makeTopic(admin, `peers-${kind.toLowerCase()}-${id}`, topicSettings(kind))
  }
  const before = await provider.asked()
  const stage = { workers: 1, count, broker, input, ...names, groupId, folder }
  try {
    const measured = await measure(
      admin,
      row.isOurs
        ? {
            ...stage,
            mode: row.mode,
            config: row.topics && everything,
            settings: {
              THREATWEAVE_MEMORY_PATH: join(folder, `memory-${id}`),
              THREATWEAVE_INTEL_SERVICE_BASE_URL: provider.url,
              THREATWEAVE_INTEL_SERVICE_CONCURRENCY: '32',
              THREATWEAVE_ADMIT_PER_DAY: 'unlimited',
              ...more,
            },
          }
        : {
            ...stage,
            mode: row.name,
            command: {
              program: peer.path,
              args: ['run', new URL(row.config, import.meta.url).pathname],
              env: { BROKERS: broker, INPUT: input, OUTPUT: output, GROUP: groupId, PROVIDER: provider.url },
            },
          },
    )
    const after = await provider.asked()
    return { ...measured, calls: after.calls - before.calls }
  } finally {
    await admin.deleteTopics({ topics: [...Object.values(names), ...Object.values(more)] }).catch(() => undefined)
  }
}

const range = (numbers, text) => {
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)].map(text)
  return low === high ? low : `${low} to ${high}`
}
const whole = (number) => Math.round(number).toLocaleString('en')

const print = (rows, caption) => {
  for (const line of caption) console.log(line)
  console.log('\n| | events per second | CPU per event, µs | memory, MB | calls |\n|---|---|---|---|---|')
  for (const { name, rates, cpus: taken, memory, calls } of rows)
    console.log(
      `| ${[name, range(rates, whole), range(taken, (us) => us.toFixed(1)), range(memory, whole), range(calls, whole)].join(' | ')} |`,
    )
}
