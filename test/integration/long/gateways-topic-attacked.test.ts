// Promise: whoever can write to the gateways topic, but has no key, can neither give the gateways their budget back nor delay a takeover.
import { afterEach, expect, it } from 'vitest'
import { openAsker, openFleet, sessionMs, theCaller } from '../../support/gateways.js'
import { client, readTopic } from '../../support/kafka.js'
import { startLimitedProvider } from '../../support/limited-provider.js'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (let close = closers.pop(); close; close = closers.pop()) await close()
})

const perDay = 50
const addressOf = (nth: number): string => `2001:db8:37::${(nth + 1).toString(16)}`

it('a signed record that is written again and one that is not signed change nothing for the next caller', async () => {
  const provider = await startLimitedProvider(4, 5)
  closers.push(provider.close)
  const fleet = await openFleet(2, provider.url, {
    THREATWEAVE_INTEL_SERVICE_CONCURRENCY: '4',
    THREATWEAVE_ADMIT_PER_DAY: String(perDay),
  })
  closers.push(fleet.close)
  const first = fleet.start(0)
  await theCaller([first])
  const asker = openAsker(fleet.urls)
  closers.push(asker.close)
  let next = 0
  const askNew = (count: number): Promise<unknown> =>
    Promise.all(Array.from({ length: count }, () => asker.ask(addressOf(next++))))

  await askNew(10)
  const old = (await readTopic(fleet.topics.gateways, (records) => records.length > 10)).at(-1)
  await askNew(30)
  expect(provider.calls).toHaveLength(40)
  first.kill('SIGTERM')
  await first.exit
  const written = await readTopic(fleet.topics.gateways, (records) => records.length > 10, { calmMs: 2_000 })
  const { caller } = JSON.parse(String(written.at(-1)?.value)) as { readonly caller: string | null }

  const producer = client().producer()
  await producer.connect()
  const forged = { schema_version: 1, sequence: 9_999, caller: 'nobody', reserved: { hour: { index: 0, count: 0 }, day: { index: 0, count: 0 } } } // prettier-ignore
  await producer.send({
    topic: fleet.topics.gateways,
    messages: [
      { key: old?.key ?? null, value: old?.value ?? null, headers: old?.headers ?? {} },
      { key: 'gateways', value: JSON.stringify(forged) },
    ],
  })
  await producer.disconnect()

  const second = fleet.start(1)
  await theCaller([second])
  const began = second.events.find(({ event }) => event === 'calling_began')
  // The one before says that none of its calls is in flight, unless a busy machine takes too long for that: then the next one waits, and what was
  // reserved counts as used.
  const isReleased = caller === null
  if (isReleased) expect(began?.waitedMs).toBeLessThan(sessionMs)
  const refused = second.events.map(({ message }) => String(message))
  expect(refused).toContainEqual(
    expect.stringContaining('were ignored: 1 that repeat an older one, 1 without a valid signature'),
  )
  await askNew(30)
  expect(provider.calls.length).toBeLessThanOrEqual(perDay)
  expect(provider.calls.length).toBeGreaterThan(isReleased ? perDay - 1 : 40)
})
