// Upgrades three workers from an older commit to this build and back under load, and counts lost and duplicate events per delivery mode:
// `npm run build && node scripts/rolling-upgrade.mjs COMMIT [at-least-once|exactly-once]`.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kafka, logLevel, Partitioners } from 'kafkajs'
import { startBroker } from '../dist/parts/demo/broker.js'
import { openTopicReader, readToEnd } from '../dist/kafka/topic-reader.js'

const root = resolve(import.meta.dirname, '..')
const [commit, only] = process.argv.slice(2)
if (commit === undefined) throw new Error('which commit is the older build?')

const partitions = 6
const workers = 3
const eventsPerSecond = 200
/** The time between two steps of a change. */
const stepMs = 4_000
/** The run ends after this time without new records on any topic. */
const quietMs = 25_000
/** A run that takes longer than this is stuck. */
const giveUpMs = 300_000
/** A feed lists this address: every event about it raises an alert, with or without the provider. */
const listed = '192.0.2.7'

/** One in twenty-five events has an address whose answer may be delayed; a tenth of all events are malicious. */
const addressOf = (n) => (n % 250 === 7 ? listed : n % 25 === 0 ? `203.0.113.${n % 250}` : `198.51.100.${n % 250}`)
const isHeld = (address) => address.startsWith('203.0.113.')
const isMalicious = (address) =>
  address === listed || Number(address.split('.').at(-1)) % 10 === 3 || /^203\.0\.113\.(?:25|125|225)$/.test(address)

const say = (line) => process.stdout.write(`${line}\n`)

const run = (command, args, cwd) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`)
}

/** Builds the program of the commit in a separate worktree. */
const buildOf = (folder) => {
  const tree = join(folder, 'older')
  run('git', ['worktree', 'add', '--detach', tree, commit], root)
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'))
  run('npx', ['tsc', '-p', 'tsconfig.build.json'], tree)
  run('node', ['scripts/bundle.mjs'], tree)
  return tree
}

// ---- a provider that delays some answers ----

const startProvider = async () => {
  let holds = false
  const held = []
  const answer = (request, response) => {
    const ip = new URL(request.url ?? '/', 'http://localhost').searchParams.get('ip') ?? ''
    const isLate = Number(ip.split('.').at(-1)) % 7 === 0
    if (holds && isHeld(ip)) {
      held.push(() => answer(request, response))
      return
    }
    // Some answers arrive after their events were sent.
    setTimeout(
      () => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ ip, is_malicious: isMalicious(ip), status: 200 }))
      },
      isLate ? 900 : 5,
    )
  }
  const server = createServer(answer)
  await new Promise((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    hold: () => {
      holds = true
    },
    release: () => {
      holds = false
      for (const one of held.splice(0)) one()
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

// ---- workers ----

const startWorker = (build, label, env) => {
  const child = spawn(process.execPath, [join(build, 'dist/cli.js'), 'run'], {
    cwd: build,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const counts = new Map()
  const lines = []
  let rest = ''
  child.stderr.on('data', (data) => {
    const all = (rest + data.toString()).split('\n')
    rest = all.pop() ?? ''
    for (const line of all) {
      const event = line.startsWith('{') ? JSON.parse(line) : { event: 'said', line }
      counts.set(event.event, (counts.get(event.event) ?? 0) + Number(event.records ?? event.events ?? 1))
      if (!line.startsWith('{') || Number(event.level ?? 0) >= 50 || event.level === 'error')
        lines.push(line.slice(0, 300))
    }
  })
  const exit = new Promise((done) => child.once('exit', (code, signal) => done(code ?? signal)))
  return {
    label,
    counts,
    lines,
    exit,
    kill: (signal) => child.kill(signal),
    joined: async () => {
      while (!counts.has('group_joined')) {
        if (child.exitCode !== null) throw new Error(`${label} ended with ${child.exitCode}: ${lines.join('\n')}`)
        await sleep(50)
      }
    },
  }
}

// ---- the contents of topics ----

/** Reads all committed records. */
const readAll = async (kafka, topics) => {
  const reader = await openTopicReader(kafka)
  try {
    const records = {}
    for (const topic of topics) {
      records[topic] = []
      await readToEnd(
        reader,
        topic,
        ({ value }) => records[topic].push(value),
        () => true,
      )
    }
    return records
  } finally {
    await reader.close()
  }
}

const countBy = (values) => {
  const counts = new Map()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}
const doubled = (counts) => [...counts.values()].reduce((sum, count) => sum + count - 1, 0)

// ---- one upgrade and one downgrade ----

const change = async (delivery, older, broker, folder) => {
  const provider = await startProvider()
  const kafka = new Kafka({ brokers: [broker.plain], logLevel: logLevel.NOTHING })
  const id = `${delivery}-${Date.now()}`
  const names = Object.fromEntries(
    ['in', 'out', 'dead', 'alerts', 'corrections', 'state'].map((name) => [name, `${name}-${id}`]),
  )
  const admin = kafka.admin()
  await admin.connect()
  await admin.createTopics({
    waitForLeaders: true,
    topics: Object.values(names).map((topic) => ({
      topic,
      numPartitions: partitions,
      configEntries: topic === names.state ? [{ name: 'cleanup.policy', value: 'compact,delete' }] : [],
    })),
  })
  const env = {
    PATH: process.env.PATH ?? '',
    THREATWEAVE_GATE_DOCUMENTATION: 'true',
    THREATWEAVE_LOG_LEVEL: 'info',
    THREATWEAVE_OPS_ENABLED: 'false',
    THREATWEAVE_MEMORY_PATH: 'none',
    THREATWEAVE_ADMIT_PER_DAY: 'unlimited',
    THREATWEAVE_ENRICH_DEADLINE_MS: '300',
    THREATWEAVE_INTEL_SERVICE_API_KEY: 'sample-key',
    THREATWEAVE_INTEL_SERVICE_BASE_URL: provider.url,
    THREATWEAVE_INTEL_SERVICE_ALLOW_HTTP: 'true',
    THREATWEAVE_FEEDS: JSON.stringify([{ name: 'listed', path: join(folder, 'feed.txt') }]),
    THREATWEAVE_ALERTS_BUNDLED: 'false',
    THREATWEAVE_ALERTS_RULES: join(folder, 'rule.yml'),
    THREATWEAVE_ALERTS_SUPPRESS_SECONDS: '0',
    THREATWEAVE_KAFKA_BROKERS: broker.plain,
    THREATWEAVE_KAFKA_GROUP_ID: `group-${id}`,
    THREATWEAVE_KAFKA_INPUT_TOPICS: names.in,
    THREATWEAVE_KAFKA_INPUT_START: 'earliest',
    THREATWEAVE_KAFKA_OUTPUT_TOPIC: names.out,
    THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: names.dead,
    THREATWEAVE_KAFKA_ALERTS_TOPIC: names.alerts,
    THREATWEAVE_KAFKA_CORRECTIONS_TOPIC: names.corrections,
    THREATWEAVE_KAFKA_SIGHTINGS_TOPIC: names.state,
    THREATWEAVE_KAFKA_VERDICTS_TOPIC: '',
    THREATWEAVE_KAFKA_DELIVERY: delivery,
    THREATWEAVE_KAFKA_LIMITS_SESSION_TIMEOUT_MS: '6000',
  }
  const all = []
  const start = async (build, label) => {
    const worker = startWorker(build, label, env)
    all.push(worker)
    await worker.joined()
    return worker
  }
  const running = await Promise.all(Array.from({ length: workers }, (_, nth) => start(older, `older ${nth}`)))

  // The load.
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  let seq = 0
  let isLoading = true
  const loading = (async () => {
    while (isLoading) {
      const messages = Array.from({ length: eventsPerSecond / 10 }, () => {
        const n = seq++
        return {
          partition: n % partitions,
          value: JSON.stringify({ n, src_ip: addressOf(n), dst_ip: '10.0.0.9', action: 'allowed' }),
        }
      })
      await producer.send({ topic: names.in, messages })
      await sleep(100)
    }
  })()

  const ends = []
  const roll = async (build, label) => {
    for (let nth = 0; nth < workers; nth++) {
      await sleep(stepMs)
      // Kills the last worker without a chance to drain.
      const signal = nth === workers - 1 ? 'SIGKILL' : 'SIGTERM'
      running[nth].kill(signal)
      ends.push(`${running[nth].label}: ${await running[nth].exit}`)
      running[nth] = await start(build, `${label} ${nth}`)
    }
    await sleep(stepMs)
  }
  const began = Date.now()
  await sleep(stepMs)
  const upFrom = seq
  // Events that wait for these answers must survive the upgrade.
  provider.hold()
  await roll(root, 'this')
  provider.release()
  await sleep(stepMs)
  const downFrom = seq
  provider.hold()
  await roll(older, 'older again')
  provider.release()
  await sleep(stepMs)
  isLoading = false
  await loading
  const seconds = Math.round((Date.now() - began) / 1_000)

  // Waits until no more records arrive.
  const endOf = async (topic) => (await admin.fetchTopicOffsets(topic)).reduce((sum, { high }) => sum + Number(high), 0)
  const lagNow = async () => {
    const [{ partitions: committed }] = await admin.fetchOffsets({ groupId: `group-${id}`, topics: [names.in] })
    return (await endOf(names.in)) - committed.reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0)
  }
  const until = Date.now() + giveUpMs
  let lag = await lagNow()
  for (let former = '', since = Date.now(); Date.now() - since < quietMs && Date.now() < until;) {
    await sleep(1_000)
    const now = JSON.stringify(await Promise.all([names.out, names.alerts, names.corrections].map(endOf)))
    lag = await lagNow()
    if (now !== former || lag > 0) since = Date.now()
    former = now
  }
  for (const worker of running) worker.kill('SIGTERM')
  for (const worker of running) ends.push(`${worker.label}: ${await worker.exit}`)
  const records = await readAll(kafka, Object.values(names))
  await producer.disconnect()
  await admin.disconnect()
  provider.close()

  // Evaluates the output.
  const bodyOf = (value) => JSON.parse(String(value))
  const phaseOf = (n) => (n < upFrom ? 'older' : n < downFrom ? 'upgrade' : 'downgrade')
  const out = records[names.out].map(bodyOf)
  const written = countBy(out.map(({ n }) => n))
  let disordered = 0
  const lastIn = new Map()
  const seen = new Set()
  for (const { n } of out) {
    if (seen.has(n)) continue
    seen.add(n)
    if (n < (lastIn.get(n % partitions) ?? -1)) disordered++
    lastIn.set(n % partitions, Math.max(n, lastIn.get(n % partitions) ?? -1))
  }
  const left = new Map()
  for (const { n, threatweave } of out)
    if (
      ['pending', 'deadline', 'timeout', 'breaker_open', 'cooling_down', 'queue_full', 'unavailable'].includes(
        threatweave.reason,
      )
    )
      left.set(n, threatweave)
  const corrections = records[names.corrections].map(bodyOf)
  const corrected = countBy(corrections.map(({ n }) => n))
  const uncorrected = [...left.keys()].filter((n) => !corrected.has(n))
  const alerts = records[names.alerts].map(bodyOf)
  const alertedOrigins = countBy(
    alerts.flatMap(({ threatweave: { origin, origins } }) => origins ?? [origin]).map((origin) => origin.split('#')[0]),
  )
  const originAt = (n) => `${names.in}/${n % partitions}/${Math.floor(n / partitions)}`
  const accused = [...written.keys()].filter((n) => isMalicious(addressOf(n)))
  const report = {
    delivery,
    seconds,
    events: seq,
    written: out.length,
    lost: seq - written.size,
    doubled: doubled(written),
    disordered,
    'dead letters': records[names.dead].length,
    'left without an answer': left.size,
    uncorrected: uncorrected.length,
    'uncorrected by phase': Object.fromEntries(countBy(uncorrected.map(phaseOf))),
    'corrections twice': doubled(corrected),
    accused: accused.length,
    'not alerted': accused.filter((n) => !alertedOrigins.has(originAt(n))).length,
    'alerted twice': doubled(alertedOrigins),
    'state records': records[names.state].length,
    lag,
    ends: ends.join(', '),
  }
  for (const [name, value] of Object.entries(report))
    say(`  ${name}: ${typeof value === 'object' ? JSON.stringify(value) : value}`)
  for (const [origin, count] of [...alertedOrigins].filter(([, count]) => count > 1).slice(0, 5)) {
    const n = Number(origin.split('/').at(-1)) * partitions + Number(origin.split('/').at(-2))
    const about = alerts.filter(({ threatweave: { origin: one, origins = [one] } }) => origins.includes(origin))
    const kinds = about.map(({ rule, threatweave: { kind, id } }) => `${rule.name} ${kind ?? ''} ${id ?? ''}`)
    say(`  alerted ${count} times: event ${n} (${phaseOf(n)}) about ${addressOf(n)}: ${kinds.join('; ')}`)
  }
  const warned = countBy([])
  for (const { counts } of all)
    for (const name of [
      'late_events_dropped',
      'state_record_refused',
      'sightings_refused',
      'attachments_dropped',
      'follow_up_failed',
      'producer_replaced',
      'kafka_client_warned',
      'sightings_restored',
    ])
      if (counts.has(name)) warned.set(name, (warned.get(name) ?? 0) + counts.get(name))
  say(`  said: ${JSON.stringify(Object.fromEntries(warned))}`)
  for (const { label, lines } of all) for (const line of lines.slice(0, 5)) say(`  ${label}: ${line}`)
  const isExact = delivery === 'exactly-once'
  return (
    report.lost === 0 &&
    lag === 0 &&
    report.disordered === 0 &&
    report['dead letters'] === 0 &&
    report.uncorrected === 0 &&
    report['not alerted'] === 0 &&
    (!isExact || (report.doubled === 0 && report['corrections twice'] === 0 && report['alerted twice'] === 0))
  )
}

if (!existsSync(join(root, 'dist/cli.js'))) throw new Error('npm run build, first')
const folder = mkdtempSync(join(tmpdir(), 'threatweave-rolling-'))
writeFileSync(join(folder, 'feed.txt'), `${listed}\n`)
writeFileSync(
  join(folder, 'rule.yml'),
  `title: Malicious
id: 6b1d5b6e-5f0b-4c7e-9a39-0d0f6f6c3a01
level: high
logsource:
  category: firewall
detection:
  selection:
    threatweave.verdict: malicious
  condition: selection
`,
)
let broker
let isGood = true
try {
  const older = buildOf(folder)
  broker = await startBroker({ env: process.env, stderr: process.stderr })
  if ('missing' in broker) throw new Error(broker.missing)
  for (const delivery of ['at-least-once', 'exactly-once'].filter((one) => only === undefined || one === only)) {
    say(`${commit} → this build → ${commit}, ${delivery}`)
    const isFine = await change(delivery, older, broker, folder)
    say(isFine ? '  nothing lost, doubled or stuck' : '  FAILED')
    isGood &&= isFine
  }
} finally {
  await broker?.stop?.()
  spawnSync('git', ['worktree', 'remove', '--force', join(folder, 'older')], { cwd: root })
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = isGood ? 0 : 1
