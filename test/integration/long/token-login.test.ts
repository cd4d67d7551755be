// Promise: a login with short-lived tokens renews them on open connections, and a token server in trouble is waited for like a broker.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { complete, fill, makeTopic, makeTopics, readTopic, tally, type Names } from '../../support/kafka.js'
import { givesJson, givesToken, startTokenServer, type TokenServer } from '../../support/token-server.js'
import { endWorkers, startLoadedProgram, times, until, type Worker } from '../../support/worker.js'

const servers: TokenServer[] = []
afterAll(async () => {
  await endWorkers()
  for (const server of servers.splice(0)) await server.close()
})

const { secure } = inject('broker')
const partitions = 2
const limitMs = 600_000

const setUp = async (first: Parameters<TokenServer['behave']>[0]) => {
  const server = await startTokenServer(first)
  servers.push(server)
  const made = await makeTopics({ partitions })
  const names = { ...made, alerts: `${made.output}-alerts` }
  await makeTopic(names.alerts, 1)
  const start = (env: Readonly<Record<string, string>> = {}): Worker =>
    startLoadedProgram(names, {
      THREATWEAVE_KAFKA_BROKERS: secure!.sasl,
      THREATWEAVE_KAFKA_SASL_MECHANISM: 'oauthbearer',
      THREATWEAVE_KAFKA_SASL_TOKEN_URL: server.url,
      THREATWEAVE_KAFKA_SASL_CLIENT_ID: 'threatweave',
      THREATWEAVE_KAFKA_SASL_CLIENT_SECRET: 'planted-secret',
      THREATWEAVE_KAFKA_SASL_EXTENSIONS: '{ logicalCluster: lkc-1, identityPoolId: pool-1 }',
      // Nobody loses it on a busy machine.
      THREATWEAVE_KAFKA_LIMITS_SESSION_TIMEOUT_MS: '30000',
      ...env,
    })
  return { server, names, start }
}
/** Sends events until a condition holds; how many there are on each partition. */
const fillUntil = async (names: Names, from: number, isEnough: () => boolean): Promise<number> => {
  let count = from
  do {
    await fill(names.input, partitions, count, count + 20)
    count += 20
    await sleep(200)
  } while (!isEnough())
  return count
}
const outcome = async (names: Names, count: number) =>
  tally(await readTopic(names.output, complete(partitions, count)), partitions, count)
const nothingWrong = { missing: 0, repeated: 0, outOfOrder: 0 }
const messages = (worker: Worker): string => JSON.stringify(worker.events) + worker.errors()

// A broker given by KAFKA_BROKERS has no listener of ours.
describe.runIf(secure)('a login with tokens of seconds', () => {
  // At least once: security-listeners, with tokens from a file.
  it('renews them on open connections, one request for all of them', async () => {
    const seconds = 4
    const { server, names, start } = await setUp(givesToken(seconds))
    const startedAt = Date.now()
    const worker = start({ THREATWEAVE_KAFKA_DELIVERY: 'exactly-once' })
    await until('a group', () => times(worker, 'group_joined') > 0, limitMs)
    const since = server.asked.length
    const restarts = times(worker, 'consumer_restarted') // the broker may just be loading the group
    const count = await fillUntil(names, 0, () => server.asked.length >= since + 3)
    const result = await outcome(names, count)
    const most = 1 + Math.ceil((Date.now() - startedAt) / (0.8 * seconds * 1000))
    expect(result).toEqual(nothingWrong)
    expect(server.asked.length).toBeLessThanOrEqual(most)
    expect(times(worker, 'consumer_restarted'), messages(worker)).toBe(restarts)
    expect(worker.running()).toBe(true)
  })

  it('goes on when every token has another name, which brokers refuse on an open connection', async () => {
    let tokens = 0
    const { server, names, start } = await setUp(givesToken(4, () => `session-${tokens++}`))
    const worker = start()
    const count = await fillUntil(names, 0, () => server.asked.length >= 4)
    expect(await outcome(names, count)).toEqual(nothingWrong)
    expect(worker.running(), messages(worker)).toBe(true)
  })
})

/** Long enough that its last fifth is noticed on a busy machine: what happens then is waited for. */
const lasting = 24

// Side by side: most of it is waiting for tokens to end.
describe.runIf(secure)('a token server in trouble', { concurrent: true }, () => {
  it('that is away is not needed while a token lasts, then waited for as a broker, and found when it is back', async () => {
    const { server, names, start } = await setUp(givesToken(lasting))
    const worker = start()
    const first = await fillUntil(names, 0, () => times(worker, 'group_joined') > 0)
    expect(await outcome(names, first)).toEqual(nothingWrong)
    await server.close()
    // It has failed to renew, and the stream does not notice.
    await until('a warning', () => /valid for \d+ s more/.test(messages(worker)), limitMs)
    const second = await fillUntil(names, first, () => true)
    const lost = await worker.said('brokers_unreachable', limitMs)
    expect(lost.cause).toMatch(/the token server 127\.0\.0\.1:\d+ does not answer: ECONNREFUSED/)
    expect(worker.running(), messages(worker)).toBe(true)
    await fill(names.input, partitions, second, second + 20)
    // What a broker answers to anybody does not count as reachable.
    await until('a new consumer', () => times(worker, 'consumer_restarted') > 0, limitMs)
    expect(times(worker, 'brokers_reachable')).toBe(0)
    await server.open()
    await worker.said('brokers_reachable', limitMs)
    expect(await outcome(names, second + 20)).toEqual(nothingWrong)
    expect(messages(worker)).not.toContain('planted-secret')
  })

  it('that answers nonsense or is away is waited for at the start', async () => {
    const { server, names, start } = await setUp((response) => response.end('<html>'))
    const worker = start()
    const postponed = await worker.said('start_postponed', limitMs)
    expect(postponed.cause).toContain('gives no token: its answer is a web page')
    await server.close()
    await until('nobody there', () => messages(worker).includes('ECONNREFUSED'), limitMs)
    server.behave(givesToken(60))
    await server.open()
    await fill(names.input, partitions, 0, 20)
    expect(await outcome(names, 20)).toEqual(nothingWrong)
  })

  it('that refuses the secret ends the start, with a sentence', async () => {
    const { start } = await setUp(givesJson({ error: 'invalid_client', error_description: 'no such client' }, 401))
    const worker = start()
    expect(await worker.exit).toBe(78)
    expect(worker.errors()).toMatch(
      /Kafka cannot be used: the token server 127\.0\.0\.1:\d+ refuses the client: HTTP 401, invalid_client, no such client/,
    )
  })

  it('whose token the brokers refuse ends the start, with a sentence', async () => {
    const { start } = await setUp(givesJson({ access_token: 'nonsense', expires_in: 60 }))
    const worker = start()
    expect(await worker.exit).toBe(78)
    expect(worker.errors()).toMatch(
      /Kafka cannot be used: SASL OAUTHBEARER authentication failed: the broker refuses the token: .*invalid_token/,
    )
  })

  it('that refuses the secret later ends the program when the last token has ended, not before', async () => {
    const { server, names, start } = await setUp(givesToken(lasting))
    const worker = start()
    const first = await fillUntil(names, 0, () => times(worker, 'group_joined') > 0)
    server.behave(givesJson({ error: 'invalid_client' }, 401))
    await until('a warning', () => /invalid_client; the token in use is valid for/.test(messages(worker)), limitMs)
    expect(worker.running()).toBe(true)
    // 1 where a send noticed first: the next start reads the secret again, and refuses a wrong one.
    expect([1, 78]).toContain(await worker.exit)
    expect(worker.errors()).toContain('refuses the client: HTTP 401, invalid_client')
    expect({ ...(await outcome(names, first)), repeated: 0 }).toEqual(nothingWrong)
  })
})
