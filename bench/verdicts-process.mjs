// One process of the verdicts bench: appends verdicts or reads them into a memory, and reports CPU time and network bytes.
import diagnostics from 'node:diagnostics_channel'
import { load } from '../dist/config/load.js'
import { kafkaSettingsOf, limits, lookupSettingsOf } from '../dist/app/limits.js'
import { tableOf } from '../dist/app/open-table.js'
import { createClient } from '../dist/kafka/client.js'
import { openIdempotentSender } from '../dist/kafka/producers.js'
import { openTopicReader } from '../dist/kafka/topic-reader.js'
import { createSharedVerdicts } from '../dist/server/gateway/shared-verdicts.js'
import { createAppendVerdicts } from '../dist/verdicts/append-verdicts.js'
import { tailVerdicts } from '../dist/verdicts/tail-verdicts.js'
import { indicatorOf, sharedFinding } from './shared-findings.mjs'

const { mode, broker, topic, key, from = 0, count, atOnce = 1_000 } = JSON.parse(process.argv[2])
const sockets = new Set()
diagnostics.subscribe('net.client.socket', ({ socket }) => sockets.add(socket))
const bytes = () => [...sockets].reduce((sum, { bytesRead, bytesWritten }) => sum + bytesRead + bytesWritten, 0)

const { config } = load({
  values: { kafka: { brokers: [broker], verdictsTopic: topic }, memory: { maxEntries: 2_000_000 } },
  env: {},
  readFile: () => '',
})
const settings = kafkaSettingsOf(config)
const ignore = () => undefined

/** Returns a function that reports CPU time and bytes per verdict since this call. */
const measured = () => {
  const began = { cpu: process.cpuUsage(), bytes: bytes(), at: performance.now() }
  return () => {
    const { user, system } = process.cpuUsage(began.cpu)
    process.send({
      cpuUs: (user + system) / count,
      bytes: (bytes() - began.bytes) / count,
      seconds: (performance.now() - began.at) / 1000,
    })
  }
}

const append = async () => {
  let appended = 0
  let next = ignore
  const appending = createAppendVerdicts({
    openSender: () => openIdempotentSender(createClient(settings, ignore), 'none', ignore),
    topic: () => Promise.resolve({ topic, partitions: 1, key }),
    by: 'threatweave@bench',
    emit: (event) => {
      if (event.event === 'verdicts_appended') appended += event.verdicts
      next()
    },
  })
  const send = async (first, end) => {
    const wanted = appended + end - first
    for (let n = first; n < end; n++) appending.append(indicatorOf(n), sharedFinding(n))
    while (appended < wanted) await new Promise((resolve) => (next = resolve))
  }
  // Excludes connecting and compiling.
  await send(from, from + atOnce)
  const done = measured()
  for (let n = from + atOnce; n < from + atOnce + count; n += atOnce)
    await send(n, Math.min(n + atOnce, from + atOnce + count))
  done()
  await appending.close()
}

const read = async () => {
  const shared = createSharedVerdicts(
    lookupSettingsOf(config, limits, { maxEntries: 2_000_000, forOutages: true }).memory,
    { table: tableOf(config), now: Date.now, paid: ignore },
  )
  let learnt = 0
  let done
  const tail = tailVerdicts({
    openReader: () => openTopicReader(createClient(settings, ignore)),
    topic,
    key,
    learn: ({ indicator, finding }, isJustNow) => shared.learn(indicator, finding, isJustNow),
    isFull: shared.isFull,
    touch: shared.touch,
    now: Date.now,
    emit: (event) => {
      if (event.event !== 'verdicts_learnt') return
      learnt += event.verdicts
      if (mode === 'follow' && event.delayMs === undefined) return
      if (learnt >= count) {
        learnt = -Infinity
        done()
      }
    },
  })
  if (mode === 'restore') done = measured()
  await tail.started
  if (mode !== 'follow') return
  learnt = 0
  done = measured()
  process.send('ready')
}

process.on('disconnect', () => process.exit(0))
await (mode === 'append' ? append() : read())
