// Promise: the link can be encrypted and both ends prove who they are.
import { randomUUID } from 'node:crypto'
import { rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { brokerUser } from '../../src/parts/demo/broker-properties.js'
import { complete, fill, makeTopics, readTopic, settingsFor, tally, type Names } from '../support/kafka.js'
import { endWorkers, startWorker } from '../support/worker.js'

afterAll(endWorkers)

const { secure } = inject('broker')
const none = { mechanism: 'none', username: '', password: '', tokenFile: '' } as const

const works = async (names: Names, changes: Parameters<typeof settingsFor>[1]): Promise<void> => {
  await fill(names.input, 2, 0, 100)
  // A session of ten seconds: whoever loses it on a busy machine repeats what it had in its hands.
  startWorker(settingsFor(names, { ...changes, limits: { sessionTimeoutMs: 10_000 } }))
  expect(tally(await readTopic(names.output, complete(2, 100)), 2, 100)).toEqual({
    missing: 0,
    repeated: 0,
    outOfOrder: 0,
  })
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
/** A token that is good for fifteen seconds. */
const writeToken = async (file: string): Promise<void> => {
  const now = Math.floor(Date.now() / 1000)
  const claims = { sub: brokerUser.username, iat: now - 1, exp: now + 15 }
  // Under a name of its own: on a busy machine the next one may begin before this one is done.
  const written = `${file}.${randomUUID()}`
  await writeFile(written, `${part({ alg: 'none' })}.${part(claims)}.\n`)
  await rename(written, file)
}

// A broker given by KAFKA_BROKERS has no listeners of ours.
describe.runIf(secure)('the link to the brokers', { concurrent: true }, () => {
  it.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)('authenticates with %s', async (mechanism) => {
    const names = await makeTopics({ partitions: 2 })
    await works(names, { brokers: [secure!.sasl], sasl: { ...none, mechanism, ...brokerUser } })
  })

  // Exactly once: token-login, with tokens from a server.
  it('authenticates with oauthbearer, and again with the next token of its file before the last one ends', async () => {
    const tokenFile = join(tmpdir(), `threatweave-token-${process.pid}`)
    await writeToken(tokenFile)
    const renewing = setInterval(() => void writeToken(tokenFile), 1_000)
    const names = await makeTopics({ partitions: 2 })
    const sasl = { ...none, mechanism: 'oauthbearer', tokenFile } as const
    startWorker(settingsFor(names, { brokers: [secure!.sasl], sasl, limits: { sessionTimeoutMs: 10_000 } }))
    let count = 0
    // The client asks for a new session ten seconds before the last one ends, so that every few seconds.
    for (const until = Date.now() + 9_000; Date.now() < until; count += 50) {
      await fill(names.input, 2, count, count + 50)
      await sleep(500)
    }
    const records = await readTopic(names.output, complete(2, count))
    clearInterval(renewing)
    expect(tally(records, 2, count)).toEqual({ missing: 0, repeated: 0, outOfOrder: 0 })
  })

  it('is encrypted, with certificates from files on both ends', async () => {
    const { ca, clientCertificate, clientKey } = secure!.certificates
    const names = await makeTopics({ partitions: 2 })
    await works(names, {
      brokers: [secure!.tls],
      delivery: 'exactly-once',
      tls: {
        enabled: true,
        caFile: ca,
        certificateFile: clientCertificate,
        keyFile: clientKey,
        keyPassphrase: '',
        serverName: '',
      },
    })
  })

  it('is refused with a wrong password, and the process says so and exits', async () => {
    const names = await makeTopics({ partitions: 2 })
    const worker = startWorker(
      settingsFor(names, {
        brokers: [secure!.sasl],
        sasl: { ...none, mechanism: 'scram-sha-256', username: 'weaver', password: 'wrong' },
      }),
    )
    expect(await worker.exit).toBe(1)
    expect(String(worker.events.at(-1)?.sentence)).toMatch(/authentication failed/i)
  })

  it('is refused without a certificate, and the process says so and exits', async () => {
    const names = await makeTopics({ partitions: 2 })
    const worker = startWorker(
      settingsFor(names, {
        brokers: [secure!.tls],
        tls: { enabled: true, caFile: '', certificateFile: '', keyFile: '', keyPassphrase: '', serverName: '' },
      }),
    )
    expect(await worker.exit).toBe(1)
    expect(String(worker.events.at(-1)?.sentence)).toMatch(/certificate/i)
  })
})
