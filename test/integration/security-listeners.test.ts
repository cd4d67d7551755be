// Promise: the link can be encrypted and both ends prove who they are.
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { brokerUser } from '../../src/demo/broker.js'
import { complete, fill, makeTopics, readTopic, settingsFor, tally, type Names } from '../support/kafka.js'
import { endWorkers, startWorker } from '../support/worker.js'

afterEach(endWorkers)

const { secure } = inject('broker')
const none = { mechanism: 'none', username: '', password: '', tokenFile: '' } as const

const works = async (names: Names, changes: Parameters<typeof settingsFor>[1]): Promise<void> => {
  await fill(names.input, 2, 0, 100)
  startWorker(settingsFor(names, changes))
  expect(tally(await readTopic(names.output, complete(2, 100)), 2, 100)).toEqual({
    missing: 0,
    repeated: 0,
    outOfOrder: 0,
  })
}

// A broker given by KAFKA_BROKERS has no listeners of ours.
describe.runIf(secure)('the link to the brokers', () => {
  it.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)('authenticates with %s', async (mechanism) => {
    const names = await makeTopics({ partitions: 2 })
    await works(names, { brokers: [secure!.sasl], sasl: { ...none, mechanism, ...brokerUser } })
  })

  it('authenticates with oauthbearer, its token read from a file', async () => {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    const now = Math.floor(Date.now() / 1000)
    const tokenFile = join(tmpdir(), `threatweave-token-${process.pid}`)
    await writeFile(
      tokenFile,
      `${part({ alg: 'none' })}.${part({ sub: brokerUser.username, iat: now, exp: now + 600 })}.\n`,
    )
    const names = await makeTopics({ partitions: 2 })
    await works(names, { brokers: [secure!.sasl], sasl: { ...none, mechanism: 'oauthbearer', tokenFile } })
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
