// Measures three shapes of a run without a broker in turns: lookups only, all features, and all features under malicious traffic.
import { openShape, partitions } from './open-shape.mjs'
import { accusedAddresses, accusedInFlood, accusedUsually, cleanAddresses, shapeEvent } from './shape-events.mjs'

/** Events per partition in each fetch. */
const perPartition = 500
const warmUp = Number(process.env.BENCH_WARM_UP ?? 24)
const rounds = Number(process.env.BENCH_ROUNDS ?? 40)
const only = process.env.BENCH_ONLY

const shapes = {
  plain: { isEverything: false, accused: accusedUsually },
  everything: { isEverything: true, accused: accusedUsually },
  flood: { isEverything: true, accused: accusedInFlood },
}

/** Grouped by partition, as fetched. */
const fetchOf = (round, accused) => {
  const now = Date.now()
  const eventOf = shapeEvent(accused, now - (round + 1) * perPartition * partitions)
  return Array.from({ length: partitions }, (_, partition) =>
    Array.from({ length: perPartition }, (_, at) => {
      const offset = round * perPartition + at
      const value = Buffer.from(eventOf(offset * partitions + partition))
      return { topic: 'fw', partition, offset: String(offset), timestamp: String(now), key: null, value, headers: [] }
    }),
  )
}

/** The minimum work of a program that only adds a field. */
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
    const fetched = fetchOf(round + warmUp + 20, accusedUsually).flat()
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
    const share = accusedInFlood / 1_000
    const clean = median(taken.everything)
    const one = (median(taken.flood) - (1 - share) * clean) / share
    console.log(`  an accused event costs ${(one / clean).toFixed(2)} times one of everything`)
  }
  const errors = names.reduce((sum, name) => sum + open[name].errors(), 0)
  if (errors > 0) console.log(`  ${errors} failures of what follows from events`)
  for (const name of names) await open[name].close()
}
