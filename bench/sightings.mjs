// Measures the counting of sightings: memory and time for two million new indicators, time for known ones, and a full search.
import { countPartitions } from '../dist/follow-up/count-partitions.js'
import { newlyMalicious } from '../dist/follow-up/retro.js'

const total = 2_000_000
const hosts = 500
const dayMs = 86_400_000

const judged = (type, value, role, decision) => ({
  sighting: { type, value, field: `${role}.ip`, role, evidence: 'field' },
  decision,
  verdict: { level: 'clean', flags: {}, because: '' },
  late: undefined,
})
const seen = (n) => {
  const value = n % 10 < 7 ? `${1 + ((n >>> 24) & 127)}.${(n >>> 16) & 255}.${(n >>> 8) & 255}.${n & 255}` : undefined
  const name = n % 10 < 9 ? `host-${n.toString(36)}.example.com` : `2001:db8::${(n >>> 16).toString(16)}:${n & 65535}`
  return judged((value ?? n % 10 === 9) ? 'ip' : 'domain', value ?? name, 'destination', { decision: 'lookup' })
}
const inside = Array.from({ length: hosts }, (_, n) =>
  judged('ip', `10.0.${n >>> 8}.${n & 255}`, 'source', { decision: 'skip', reason: 'private_address' }),
)

export const run = async () => {
  const now = 20_000 * dayMs + 3_600_000
  const all = countPartitions({ seed: 0x5eed, judge: () => ({ level: 'unknown', flags: {}, because: '' }) })
  const counts = all.of('firewall/0')
  const note = (events) => {
    const start = process.cpuUsage()
    counts.count(events, now)
    const { user, system } = process.cpuUsage(start)
    return user + system
  }
  globalThis.gc?.()
  const before = process.memoryUsage()
  let us = 0
  for (let n = 0; n < total; n += 500) {
    const events = Array.from({ length: 500 }, (_, at) => ({
      offset: n + at,
      time: now - 1000,
      judged: [inside[(n + at) % hosts], seen(n + at)],
    }))
    us += note(events)
  }
  globalThis.gc?.()
  const after = process.memoryUsage()
  const { rows, bytes } = all.size()
  console.log(`  ${rows} distinct indicators, each new: ${(us / total).toFixed(2)} µs per event`)
  console.log(`  ${(bytes / 1_048_576).toFixed(0)} MB in tables, ${(bytes / rows).toFixed(0)} bytes per indicator`)
  console.log(
    `  resident ${((after.rss - before.rss) / 1_048_576).toFixed(0)} MB more, ${(after.rss / 1_048_576).toFixed(0)} MB in all`,
  )

  const known = Array.from({ length: 5_000 }, (_, n) => [inside[n % hosts], seen(n * 331)])
  let again = 0
  let offset = total
  for (let round = 0; round < 200; round++)
    again += note(Array.from({ length: 5_000 }, (_, at) => ({ offset: offset++, time: now, judged: known[at] })))
  console.log(`  ${known.length} indicators seen before: ${(again / 1_000_000).toFixed(2)} µs per event`)

  const start = performance.now()
  const found = await newlyMalicious(
    counts.unalerted(true),
    ({ value }) => ({ level: value.endsWith('.0.1') ? 'malicious' : 'unknown', flags: {}, because: '' }),
    () => new Promise((resolve) => setImmediate(resolve)),
  )
  console.log(
    `  a search of all for what is malicious now: ${(performance.now() - start).toFixed(0)} ms, ${found.length} found`,
  )
}
