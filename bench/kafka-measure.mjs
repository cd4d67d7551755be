// Runs one loop of the Kafka bench and reports throughput, CPU and memory.
import { spawn } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { environment } from './kafka-stage.mjs'

const here = (path) => new URL(path, import.meta.url).pathname

/** Baseline loops: plain kafkajs, and our Kafka client alone. */
const loops = { raw: 'kafka-raw.mjs', pass: 'kafka-pass.mjs' }

const start = (run) => {
  const { mode, workers, broker, input, output, dead, groupId, folder, settings, config, command } = run
  const quiet = { stdio: ['ignore', 'ignore', 'inherit'] }
  if (command)
    return spawn(command.program, command.args, { ...quiet, env: { ...environment(folder, {}), ...command.env } })
  if (loops[mode])
    return spawn(process.execPath, [here(loops[mode]), JSON.stringify({ broker, input, output, groupId })], quiet)
  const log = process.env.BENCH_LOG ? 'inherit' : 'ignore'
  return spawn(process.execPath, [...nodeOptions(), here('../dist/cli.js'), ...commandOf(workers, config)], {
    stdio: ['ignore', log, log],
    cwd: folder,
    env: environment(folder, {
      THREATWEAVE_KAFKA_BROKERS: broker,
      THREATWEAVE_KAFKA_INPUT_TOPICS: input,
      THREATWEAVE_KAFKA_INPUT_START: 'earliest',
      THREATWEAVE_KAFKA_OUTPUT_TOPIC: output,
      THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: dead,
      THREATWEAVE_KAFKA_GROUP_ID: groupId,
      THREATWEAVE_KAFKA_DELIVERY: mode,
      ...settings,
    }),
  })
}

const commandOf = (workers, config) => ['run', '--workers', String(workers), ...(config ? ['--config', config] : [])]

/** The image's Node options; workers inherit them from their parent. */
const nodeOptions = () => [
  '--max-semi-space-size=32',
  ...(process.env.BENCH_PROFILE ? ['--cpu-prof', `--cpu-prof-dir=${process.env.BENCH_PROFILE}`] : []),
]

/**
 * Measures from a tenth of the events to the last, to exclude starting and joining. Stops after `limitMs`; `atEnd` is called while the
 * program still runs.
 */
export const measure = async (admin, run) => {
  const { count, workers, output, perRecord = 1, limitMs = Infinity, atEnd } = run
  const child = start(run)
  let began
  const most = { firstHalf: 0, secondHalf: 0, gateway: 0 }
  try {
    for (;;) {
      if (child.exitCode !== null) throw new Error(`${run.mode} ended with exit code ${child.exitCode}`)
      const done = (await admin.fetchTopicOffsets(output)).reduce((sum, { high }) => sum + Number(high) * perRecord, 0)
      const family = processes(child.pid)
      const working = workers === 1 ? family : family.filter(({ pid }) => pid !== child.pid)
      const half = done < count / 2 ? 'firstHalf' : 'secondHalf'
      most[half] = Math.max(most[half], ...working.map(({ rss }) => rss))
      const cpu = family.reduce((sum, { cpuUs }) => sum + cpuUs, 0)
      if (!began && done >= count / 10) began = { at: performance.now(), done, cpu }
      // Transaction markers count as records too, at most a few in a thousand.
      const tookMs = began ? performance.now() - began.at : 0
      if (began && (done >= count || tookMs > limitMs) && done > began.done) {
        const events = Math.min(count, done) - began.done
        await atEnd?.()
        return {
          done: Math.min(count, done),
          rate: (events * 1000) / tookMs,
          cpu: (cpu - began.cpu) / events,
          rss: Math.max(most.firstHalf, most.secondHalf),
          growth: most.secondHalf / most.firstHalf,
        }
      }
      await sleep(50)
    }
  } finally {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM')
      await ended
    }
  }
}

/** CPU time and memory of a process and its children, from /proc. */
const processes = (parent) => {
  const found = []
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (Number(pid) !== parent && Number(fields[1]) !== parent) continue
      const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
      found.push({ pid: Number(pid), cpuUs: (Number(fields[11]) + Number(fields[12])) * 10_000, rss })
    } catch {
      continue // the process has exited meanwhile
    }
  }
  return found
}
