// Starts a real Kafka broker for the demo and tests: one KRaft node in a temporary folder.
import { readFile, writeFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { run } from './run.js'
import { brokerProperties, brokerUser } from './broker-properties.js'
import { provision, type Distribution, type Provision } from './distribution.js'

type Certificates = { readonly ca: string; readonly clientKey: string; readonly clientCertificate: string }

/** Creates a certificate authority, a server certificate and a client certificate with openssl. */
const certificates = async (folder: string): Promise<Certificates> => {
  const at = (name: string): string => join(folder, name)
  const openssl = async (...args: readonly string[]): Promise<void> => {
    const { code, output } = await run('openssl', args)
    if (code !== 0) throw new Error(`openssl could not make a certificate: ${output}`)
  }
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  await openssl('req', '-x509', ...newKey, '-days', '2', '-subj', '/CN=test authority', '-keyout', at('ca.key'), '-out', at('ca.pem')) // prettier-ignore
  for (const [name, subject] of [
    ['server', 'localhost'],
    ['client', 'weaver'],
  ] as const) {
    await writeFile(at(`${name}.ext`), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n')
    await openssl('req', ...newKey, '-subj', `/CN=${subject}`, '-keyout', at(`${name}.key`), '-out', at(`${name}.csr`))
    await openssl('x509', '-req', '-days', '2', '-in', at(`${name}.csr`), '-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-extfile', at(`${name}.ext`), '-out', at(`${name}.crt`)) // prettier-ignore
  }
  const key = await readFile(at('server.key'), 'utf8')
  await writeFile(at('server.pem'), key + (await readFile(at('server.crt'), 'utf8')))
  return { ca: at('ca.pem'), clientKey: at('client.key'), clientCertificate: at('client.crt') }
}

export type Broker = {
  readonly how: 'environment' | 'docker' | 'java'
  /** `host:port` of the plaintext listener. */
  readonly plain: string
  /** The SASL and TLS listeners, if requested. */
  readonly secure?: { readonly sasl: string; readonly tls: string; readonly certificates: Certificates }
  /** Java class path of Kafka's tools, if Kafka runs from jars. */
  readonly classPath?: string
  readonly stop: () => Promise<void>
  /** Kills the broker but keeps its data and ports; `resume` starts it again. */
  readonly halt: () => Promise<void>
  readonly resume: () => Promise<void>
}

type BrokerOptions = Provision & {
  readonly secure?: boolean
  /** The port that clients connect to, if a proxy is in front of the plaintext listener. */
  readonly advertisedPort?: number
}

/** Returns a running broker, or a sentence about the missing prerequisite. */
export const startBroker = async (options: BrokerOptions): Promise<Broker | { readonly missing: string }> => {
  const given = options.env.KAFKA_BROKERS
  if (given !== undefined && given !== '') {
    const nothing = (): Promise<void> => Promise.resolve()
    return { how: 'environment', plain: given, stop: nothing, halt: nothing, resume: nothing }
  }
  const distribution = await provision(options)
  if (distribution.how === 'missing') return { missing: distribution.missing }
  return launch(distribution, options.secure === true, options.advertisedPort)
}

const launch = async (
  distribution: Exclude<Distribution, { how: 'missing' }>,
  secure: boolean,
  advertisedPort: number | undefined,
): Promise<Broker | { readonly missing: string }> => {
  const folder = await mkdtemp(join(tmpdir(), 'threatweave-broker-'))
  const ports = await freePorts(4)
  const [plain = 0, controller = 0, sasl = 0, tls = 0] = ports
  const seen = distribution.how === 'docker' ? '/broker' : folder
  const made = secure ? await certificates(folder) : undefined
  await mkdir(join(folder, 'data'))
  await writeFile(
    join(folder, 'server.properties'),
    brokerProperties({
      seen,
      plain,
      controller,
      sasl,
      tls,
      secure,
      advertisedPort,
      bind: distribution.how === 'docker' ? '0.0.0.0' : '127.0.0.1',
    }),
  )
  const id = clusterId()
  const scram = secure
    ? ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((name) => [
        '--add-scram',
        `${name}=[name=${brokerUser.username},password=${brokerUser.password}]`,
      ])
    : []
  const name = `threatweave-${id.replace(/[^A-Za-z0-9]/g, '')}`

  let child: ChildProcess | undefined
  const end = async (): Promise<void> => {
    if (distribution.how === 'docker') await run('docker', ['kill', name])
    const running = child
    child = undefined
    if (!running || running.exitCode !== null || running.signalCode !== null) return
    const ended = new Promise((resolve) => running.once('exit', resolve))
    running.kill('SIGKILL')
    await ended
  }
  const begin = async (): Promise<string | undefined> => {
    child =
      distribution.how === 'java'
        ? spawn(
            'java',
            [...javaFlags, '-cp', distribution.classPath, 'kafka.Kafka', join(folder, 'server.properties')],
            {
              cwd: folder,
              stdio: 'ignore',
            },
          )
        : spawn(
            'docker',
            ['run', '--rm', '--name', name, '-v', `${folder}:/broker`]
              .concat(ports.flatMap((port) => ['-p', `127.0.0.1:${port}:${port}`]))
              .concat([distribution.image, '/opt/kafka/bin/kafka-server-start.sh', '/broker/server.properties']),
            { stdio: 'ignore' },
          )
    return (await answersOn(plain, child)) ? undefined : `the broker did not start within ${startSeconds} s`
  }
  const stop = async (): Promise<void> => {
    await end()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }

  const formatArguments = ['format', '-t', id, '-c', `${seen}/server.properties`, ...scram]
  const formatted =
    distribution.how === 'java'
      ? await run(
          'java',
          [...javaFlags, '-cp', distribution.classPath, 'kafka.tools.StorageTool', ...formatArguments],
          // The tool writes its log to the working directory.
          { cwd: folder },
        )
      : await run(
          'docker',
          ['run', '--rm', '-v', `${folder}:/broker`, distribution.image, '/opt/kafka/bin/kafka-storage.sh'].concat(
            formatArguments,
          ),
        )
  const trouble =
    formatted.code === 0 ? await begin() : `its storage could not be prepared: ${formatted.output.slice(-400)}`
  if (trouble !== undefined) {
    const log = await readFile(join(folder, 'broker.log'), 'utf8').catch(() => '')
    await stop()
    return { missing: `a Kafka was found (${distribution.how}) but ${trouble} ${log.slice(-800)}`.trim() }
  }
  return {
    how: distribution.how,
    plain: `127.0.0.1:${plain}`,
    ...(made ? { secure: { sasl: `127.0.0.1:${sasl}`, tls: `localhost:${tls}`, certificates: made } } : {}),
    ...(distribution.how === 'java' ? { classPath: distribution.classPath } : {}),
    stop,
    halt: end,
    resume: async () => {
      const failure = await begin()
      if (failure !== undefined) throw new Error(failure)
    },
  }
}

/** Clears the top bit so that the id starts with a letter: the storage tool would read a leading hyphen as an option. */
const clusterId = (): string => {
  const [first = 0, ...rest] = randomBytes(16)
  return Buffer.from([first & 0x7f, ...rest]).toString('base64url')
}

const javaFlags = [
  '-Xms256m',
  '-Xmx768m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=4',
  '-Dorg.slf4j.simpleLogger.logFile=broker.log',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
]

export const freePorts = async (count: number): Promise<readonly number[]> => {
  const servers = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once('error', reject)
          server.listen(0, '127.0.0.1', () => {
            const address = server.address()
            resolve(typeof address === 'object' && address !== null ? address.port : 0)
          })
        }),
    ),
  )
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

/** Enough for a slow machine; a broker that fails to start exits sooner. Its listener opens once it is ready. */
const startSeconds = 300

const answersOn = async (port: number, child: ChildProcess): Promise<boolean> => {
  for (let tries = 0; tries < 10 * startSeconds && child.exitCode === null; tries++) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy()
        resolve(true)
      })
      socket.once('error', () => {
        resolve(false)
      })
    })
    if (open) return true
    await sleep(100)
  }
  return false
}
