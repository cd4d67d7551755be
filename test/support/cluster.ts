// Three KRaft nodes with three replicas per topic, to test moves of leaders and coordinators.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '../../src/parts/demo/broker.js'
import { provision } from '../../src/parts/demo/distribution.js'
import { run } from '../../src/parts/demo/run.js'
import { withAdmin } from './kafka.js'

export const nodes = [0, 1, 2] as const

export type Cluster = {
  /** Addresses of all nodes, separated by commas. */
  readonly brokers: string
  /** Stops a node gracefully, as in an upgrade, so that its partitions move first, then starts it. Resolves with all replicas in sync. */
  readonly restart: (node: number) => Promise<void>
  /** Kills a node and starts it. Resolves with all replicas in sync. */
  readonly kill: (node: number) => Promise<void>
  readonly stop: () => Promise<void>
}

export const startCluster = async (): Promise<Cluster> => {
  const found = await provision({ env: process.env, only: 'java' })
  if (found.how !== 'java') throw new Error('a cluster of three brokers needs Java and Maven')
  const folder = await mkdtemp(join(tmpdir(), 'threatweave-cluster-'))
  const ports = await freePorts(2 * nodes.length)
  const [plain, controllers] = [ports.slice(0, nodes.length), ports.slice(nodes.length)]
  const brokers = plain.map((port) => `127.0.0.1:${port}`).join(',')
  const java = (node: number): readonly string[] => [
    '-Xms96m',
    '-Xmx320m',
    '-XX:+UseSerialGC',
    `-Dorg.slf4j.simpleLogger.logFile=${join(folder, `${node}.log`)}`,
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
    '-cp',
    found.classPath,
  ]
  const settings = (node: number): string => join(folder, `${node}.properties`)
  const children: (ChildProcess | undefined)[] = []

  const begin = (node: number): void => {
    children[node] = spawn('java', [...java(node), 'kafka.Kafka', settings(node)], { cwd: folder, stdio: 'ignore' })
  }
  const end = async (node: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    const child = children[node]
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await ended
  }
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => end(node, 'SIGKILL')))
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  const inSync = async (): Promise<void> => {
    for (let tries = 0; !(await areInSync(brokers).catch(() => false)); tries++) {
      const gone = nodes.find((node) => children[node]?.exitCode !== null)
      if (gone !== undefined || tries === 300)
        throw new Error(`not in sync: ${await readFile(join(folder, `${gone ?? 0}.log`), 'utf8')}`)
      await sleep(500)
    }
  }
  const again = async (node: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    await end(node, signal)
    begin(node)
    await inSync()
  }

  for (const node of nodes) await writeFile(settings(node), propertiesOf(node, folder, plain, controllers))
  const formatted = await Promise.all(
    nodes.map((node) =>
      run('java', [...java(node), 'kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', settings(node)]),
    ),
  )
  const refused = formatted.find(({ code }) => code !== 0)
  if (refused) throw new Error(`the storage of the cluster could not be prepared: ${refused.output}`)
  for (const node of nodes) begin(node)
  await inSync()
  return {
    brokers,
    restart: (node) => again(node, 'SIGTERM'),
    kill: (node) => again(node, 'SIGKILL'),
    stop,
  }
}

/** Any value of 16 bytes. */
const clusterId = 'VGhyZWF0d2VhdmVUaHJlZQ'

/** Whether all nodes are up and all replicas are in sync. */
const areInSync = (brokers: string): Promise<boolean> =>
  withAdmin(async (admin) => {
    const { brokers: present } = await admin.describeCluster()
    const { topics } = await admin.fetchTopicMetadata()
    const isWhole = topics.every(({ partitions }) =>
      partitions.every(({ isr, replicas }) => isr.length === replicas.length),
    )
    return present.length === nodes.length && isWhole
  }, brokers)

/** The offsets topic has one partition, so its leader coordinates every group. */
const propertiesOf = (node: number, folder: string, plain: readonly number[], controllers: readonly number[]): string =>
  [
    'process.roles=broker,controller',
    `node.id=${node}`,
    `controller.quorum.voters=${controllers.map((port, id) => `${id}@127.0.0.1:${port}`).join(',')}`,
    'controller.listener.names=CONTROLLER',
    'inter.broker.listener.name=PLAIN',
    'listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAIN:PLAINTEXT',
    `listeners=PLAIN://127.0.0.1:${plain[node]},CONTROLLER://127.0.0.1:${controllers[node]}`,
    `advertised.listeners=PLAIN://127.0.0.1:${plain[node]}`,
    `log.dirs=${join(folder, `data-${node}`)}`,
    'auto.create.topics.enable=false',
    'default.replication.factor=3',
    'min.insync.replicas=2',
    'offsets.topic.num.partitions=1',
    'offsets.topic.replication.factor=3',
    'transaction.state.log.num.partitions=3',
    'transaction.state.log.replication.factor=3',
    'transaction.state.log.min.isr=2',
    'share.coordinator.state.topic.num.partitions=1',
    'share.coordinator.state.topic.replication.factor=3',
    'share.coordinator.state.topic.min.isr=2',
    'group.initial.rebalance.delay.ms=0',
    'group.min.session.timeout.ms=1000',
    'num.network.threads=2',
    'num.io.threads=4',
    '',
  ].join('\n')
