// Builds `run` without a broker: turns input records into output records with all follow-up work, but sends nothing.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRunAlerts } from '../dist/app/open-alerting.js'
import { openApp } from '../dist/app/open-app.js'
import { createAppNews } from '../dist/app/app-news.js'
import { createCounting, insideBy, startRetro } from '../dist/app/open-counting.js'
import { kafkaSettingsOf } from '../dist/app/limits.js'
import { loadFiles } from '../dist/app/load-files.js'
import { watchRun } from '../dist/app/watch-run.js'
import { systemClock } from '../dist/base/clock.js'
import { loadAny } from '../dist/app/load-config.js'
import { attachmentsOf, startChunks } from '../dist/delivery/chunks.js'
import { split } from '../dist/delivery/deliver.js'
import { deliverTo } from '../dist/delivery/deliver-to.js'
import { openFollowUps } from '../dist/follow-up/open-follow-ups.js'
import { places, startProvider, writeList } from './kafka-stage.mjs'

export const partitions = 4

/** A client whose topics are empty. */
const emptyKafka = () => {
  const cluster = {
    connect: () => Promise.resolve(),
    disconnect: () => Promise.resolve(),
    addTargetTopic: () => Promise.resolve(),
    refreshMetadataIfNecessary: () => Promise.resolve(),
    findTopicPartitionMetadata: () => Array.from({ length: partitions }, (_, partitionId) => ({ partitionId })),
    findLeaderForPartitions: () => ({ 1: [0] }),
    findBroker: () =>
      Promise.resolve({
        listOffsets: () => Promise.resolve({ responses: [{ partitions: [{ offset: '0' }] }] }),
      }),
    fetchTopicsOffset: () =>
      Promise.resolve([
        { partitions: Array.from({ length: partitions }, (_, partition) => ({ partition, offset: '0' })) },
      ]),
  }
  return { [Symbol('private:Kafka:createCluster')]: () => cluster }
}

const topics = { alertsTopic: 'out-alerts', correctionsTopic: 'out-corrections', sightingsTopic: 'out-state' }
const off = { alertsTopic: '', correctionsTopic: '', sightingsTopic: '' }

/** `isEverything`: with alerts, corrections, state, counts, a feed and geo databases. Findings are cached after their first lookup. */
export const openShape = async ({ isEverything }) => {
  const folder = mkdtempSync(join(tmpdir(), 'threatweave-bench-'))
  const provider = await startProvider({})
  const clock = systemClock
  const emitted = { errors: 0 }
  const { config, problems } = loadAny({
    env: {},
    readFile: () => '',
    values: {
      admit: { perDay: 'unlimited' },
      intel: {
        service: { apiKey: 'key-of-the-bench', baseUrl: provider.url, concurrency: 32 },
        ...(isEverything && { geo: places }),
      },
      memory: { path: join(folder, 'memory') },
      ...(isEverything && { feeds: [{ name: 'listed', path: writeList(folder) }] }),
      kafka: {
        brokers: ['192.0.2.1:9092'],
        input: { topics: ['fw'] },
        output: { topic: 'out' },
        groupId: 'bench',
        deadLetterTopic: 'out-dead-letter',
        ...(isEverything ? topics : off),
      },
    },
  })
  if (!config) throw new Error(JSON.stringify(problems))
  const files = loadFiles(config)
  if ('problems' in files) throw new Error(JSON.stringify(files.problems))
  const watch = await watchRun(config, ({ event }) => {
    if (event === 'follow_up_failed' || event === 'kafka_client_warned') emitted.errors++
  })
  const { emit } = watch
  const settings = kafkaSettingsOf(config)
  const { counts, retro } = createCounting(config, files.table, { clock, random: Math.random, emit })
  const news = createAppNews()
  news.subscribe('feeds changed', retro.feedsChanged)
  news.subscribe('accused', retro.answered)
  const alerts = await openRunAlerts(config, { env: {}, clock, emit, files, alerted: watch.alerted })
  const app = await openApp(config, {
    names: alerts?.names,
    files,
    news,
    env: {},
    clock,
    emit,
    mode: 'live',
    asksLater: isEverything,
    ...watch.hooks,
  })
  if ('problems' in app) throw new Error(JSON.stringify(app.problems))
  const pipeline = app.observedPipeline(watch.observe)
  const facts = new Map(
    ['out', 'out-dead-letter', ...Object.values(topics)].map((topic) => [topic, { partitions, maxBytes: 1_048_588 }]),
  )
  const { now } = clock
  const output = { settings, placement: config.output.placement, key: config.output.key, emit, now }
  const form = deliverTo({ ...output, mayRaise: alerts?.mayRaise }, { facts })
  const counting = {
    counts,
    known: app.known,
    isInside: insideBy(app.decide),
    retro,
    start: () =>
      startRetro(
        retro,
        app,
        (about) => alerts?.retroMatch(about),
        clock,
        () => undefined,
      ),
  }
  const followUps = isEverything
    ? openFollowUps(
        { settings, late: { pipeline: app.again }, alerts, counting, emit, now, reachableMs: now },
        { facts },
        form.target,
        emptyKafka,
      )
    : undefined
  const closing = new AbortController()
  const states = Array.from({ length: partitions }, (_, partition) =>
    followUps?.open({
      topic: 'fw',
      partition,
      name: `fw/${partition}`,
      signal: closing.signal,
      claim: () => Promise.resolve({ offset: 0, topicId: undefined, isFormer: false }),
      readAgain: () => Promise.resolve({ records: [], gone: [], rest: [] }),
      write: (compose) => Promise.resolve(compose()).then(() => 'written'),
    }),
  )
  await Promise.all(states.map((state) => state?.ready))
  const max = { count: settings.limits.chunkEvents, bytes: settings.limits.chunkBytes }

  /** Delivers the records of one partition; returns the amount that would be sent. */
  const deliver = async (records, wait = app.waits.live) => {
    const sent = { records: 0, bytes: 0, besides: 0 }
    const state = states[records[0].partition]
    for (const chunk of await startChunks(records, { pipeline, wait, form, max, state })) {
      await chunk.ready
      for (const part of split(chunk.items.flat(), form.max))
        for (const { composed } of part) {
          sent.records++
          sent.bytes += composed.bytes
        }
      sent.besides += attachmentsOf(chunk).length
      chunk.listener?.committed()
    }
    return sent
  }
  return {
    deliver,
    /** Looks up all indicators of the records. */
    warm: (records) => deliver(records, app.waits.complete),
    errors: () => emitted.errors,
    close: async () => {
      closing.abort()
      await Promise.all(states.map((state) => state?.close()))
      await followUps?.close()
      await alerts?.close()
      await app.close()
      await provider.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
