// Measures three shapes of a run without a broker, alternating: nothing but the lookup, everything on, and everything on while half of the events are accused.
import { openShape, partitions } from './open-shape.mjs'
import { addressOf, eventBetween } from './kafka-stage.mjs'

/** Of a fetch, for each partition. */
const perPartition = 500
const warmUp = Number(process.env.BENCH_WARM_UP ?? 24)
const rounds = Number(process.env.BENCH_ROUNDS ?? 40)
const only = process.env.BENCH_ONLY

/** The provider of the benches accuses what has 0 or 40 in the third place. */
const accusedAddresses = Array.from({ length: 256 }, (_, n) => addressOf((((n >> 7) * 40) << 7) | (n & 127)))
const cleanAddresses = Array.from({ length: 2_000 }, (_, n) => addressOf(n + 128)).filter(
  (address) => !/^45\.\d+\.40\./.test(address),
)
const cleanAddress = (n) => cleanAddresses[(Math.imul(n, 7919) >>> 0) % cleanAddresses.length]
const accusedAddress = (n) => accusedAddresses[(Math.imul(n, 7919) >>> 0) % accusedAddresses.length]
const host = (n) => `10.0.${(n >> 8) & 3}.${n & 255}`

/** Of a thousand events, how many are accused. */
const usual = 16
const flood = 500
/** Of so many accused events one is about a machine that was not seen with the indicator before: it raises an alert, the others are suppressed. */
const newPeer = 8

const eventOf = (n, accused) => {
  const isAccused = (Math.imul(n, 2_654_435) >>> 0) % 1_000 < accused
  if (!isAccused) return eventBetween(n, host(n % 400), cleanAddress(n))
  const isNew = n % newPeer === 0
  return eventBetween(
    n,
    isNew ? `10.${64 + ((n >> 16) & 63)}.${(n >> 8) & 255}.${n & 255}` : host(n % 8),
    accusedAddress(n % 97),
  )
}

const shapes = {
  plain: { isEverything: false, accused: usual },
  everything: { isEverything: true, accused: usual },
  flood: { isEverything: true, accused: flood },
}

/** As fetched: a run of events for each partition. */
const fetchOf = (round, accused) => {
  const timestamp = String(Date.now())
  return Array.from({ length: partitions }, (_, partition) =>
    Array.from({ length: perPartition }, (_, at) => {
      const offset = round * perPartition + at
      const event = JSON.parse(eventOf(offset * partitions + partition, accused))
      event['@timestamp'] = new Date(Date.now()).toISOString()
      const value = Buffer.from(JSON.stringify(event))
      return { topic: 'fw', partition, offset: String(offset), timestamp, key: null, value, headers: [] }
    }),
  )
}

/** What somebody would write who only adds a field. */
const floor = (records) => {
  let bytes = 0
  for (const { value } of records) {
    const event = JSON.parse(value.toString('utf8'))
    event.threatweave = { schema_version: 1, status: 'complete', verdict: 'clean' }
    bytes += Buffer.from(JSON.stringify(event)).length
  }
  return bytes
}

const cpuOf = async (work) => {
  const start = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(start)
  return user + system
}

const sorted = (numbers) => numbers.toSorted((one, other) => one - other)
const median = (numbers) => sorted(numbers)[numbers.length >> 1]
const ratio = (taken, slow, fast) => median(taken[slow].map((us, round) => us / taken[fast][round]))

export const run = async () => {
  const names = Object.keys(shapes).filter((name) => only === undefined || only.split(',').includes(name))
  const open = {}
  for (const name of names) {
    open[name] = await openShape(shapes[name])
    const all = [...cleanAddresses, ...accusedAddresses]
    for (let n = 0; n < all.length; n += 1_000)
      await open[name].warm(
        all.slice(n, n + 1_000).map((ip, at) => ({
          topic: 'fw',
          partition: 0,
          offset: String(n + at),
          timestamp: String(Date.now()),
          key: null,
          value: Buffer.from(`{"source":{"ip":"${ip}"}}`),
          headers: [],
        })),
      )
  }
  const taken = Object.fromEntries([...names, 'floor'].map((name) => [name, []]))
  const sent = Object.fromEntries(names.map((name) => [name, 0]))
  const events = perPartition * partitions
  for (let round = -warmUp; round < rounds; round++) {
    const order = round % 2 === 0 ? names : names.toReversed()
    for (const name of order) {
      const fetched = fetchOf(round + warmUp + 20, shapes[name].accused)
      const us = await cpuOf(async () => {
        for (const records of fetched) {
          const { besides } = await open[name].deliver(records)
          if (round >= 0) sent[name] += besides
        }
      })
      if (round >= 0) taken[name].push(us / events)
    }
    const fetched = fetchOf(round + warmUp + 20, usual).flat()
    const us = await cpuOf(() => floor(fetched))
    if (round >= 0) taken.floor.push(us / events)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  for (const name of ['floor', ...names])
    console.log(
      `  ${name.padEnd(12)}${median(taken[name]).toFixed(2).padStart(7)} µs of CPU an event (median), ${sorted(taken[name])[0].toFixed(2).padStart(6)} at least${
        name === 'floor' ? '' : `, ${(sent[name] / (rounds * events)).toFixed(3)} records beside each`
      }`,
    )
  if (only === undefined) {
    console.log(`  everything ${ratio(taken, 'everything', 'plain').toFixed(2)} times plain`)
    console.log(`  flood ${ratio(taken, 'flood', 'everything').toFixed(2)} times everything`)
    const share = flood / 1_000
    const clean = median(taken.everything)
    const one = (median(taken.flood) - (1 - share) * clean) / share
    console.log(`  an accused event costs ${(one / clean).toFixed(2)} times one of everything`)
  }
  const errors = names.reduce((sum, name) => sum + open[name].errors(), 0)
  if (errors > 0) console.log(`  ${errors} failures of what follows from events`)
  for (const name of names) await open[name].close()
}
