// Everything that some command would refuse to start with, told beforehand: rules, feeds, lists, keys, certificates, services.
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { openClient, openReading, readText } from './open-app.js'
import type { Problem } from '../config/problem.js'
import type { Config } from '../config/schema.js'
import { messageOf } from '../domain/message-of.js'
import { feedProblems } from '../feeds/status.js'
import { openFeeds } from '../feeds/open-feeds.js'
import { loadSafeguard } from '../feeds/load-lists.js'
import { openAlerting } from './open-alerting.js'
import { openUpstream } from './open-server.js'
import { readKeys } from '../server/keys.js'
import type { Io } from '../terminal/command.js'
import { kafkaProblems } from './kafka-problems.js'
import { readNamed, tlsProblems } from './tls-problems.js'

/** `asksBrokers`: Kafka is wanted, also where no setting of it is given. */
export const startProblems = async (config: Config, env: Io['env'], asksBrokers: boolean): Promise<Problem[]> => {
  const reading = openReading(config)
  const safeguard = loadSafeguard(config.intel.safeguard, readText)
  return [
    ...('problems' in reading ? reading.problems : []),
    ...('problems' in safeguard ? safeguard.problems : []),
    ...(await refusedFeeds(config)),
    ...(await ruleProblems(config)),
    ...(await clientProblems(config, env)),
    ...memoryProblems(config),
    ...serveProblems(config.serve),
    ...kafkaIfUsed(config.kafka, asksBrokers),
  ]
}

const refusedFeeds = async ({ feeds }: Config): Promise<readonly Problem[]> => {
  const local = await openFeeds(feeds, { pollMs: 0 })
  await local.close()
  return feedProblems(local.status())
}

const ruleProblems = async (config: Config): Promise<readonly Problem[]> => {
  const alerts = await openAlerting(config, { late: () => undefined })
  if ('problems' in alerts) return alerts.problems
  await alerts.close()
  return []
}

/** A gateway asks another address with the same key. */
const clientProblems = async (config: Config, env: Io['env']): Promise<Problem[]> => {
  const problems = new Map<string, Problem>()
  for (const open of [openClient, ...(config.serve.upstream === '' ? [] : [openUpstream])]) {
    const client = open(config, { env })
    if (client && 'problems' in client)
      for (const problem of client.problems) problems.set(`${problem.setting} ${problem.message}`, problem)
    else await client?.close()
  }
  return [...problems.values()]
}

/** A folder that cannot be written costs money after a restart; only a budget that is counted there keeps anything from starting. */
const memoryProblems = ({ memory, admit }: Config): Problem[] => {
  const message = admit.perHour > 0 || admit.perDay > 0 ? unusableMemory(memory) : undefined
  if (message === undefined) return []
  const why = `cannot be used, and admit.perHour and admit.perDay are counted there: ${message}`
  return [{ setting: 'memory.path', message: why }]
}

/** What nothing is refused for, but what costs something. */
export const startWarnings = ({ memory }: Config): Problem[] => {
  const message = unusableMemory(memory)
  if (message === undefined) return []
  return [
    { setting: 'memory.path', message: `cannot be used, so what is paid for is forgotten at a restart: ${message}` },
  ]
}

/** Nothing is made: what would be is made in the nearest folder that is there. A process at work in it is no problem of the settings. */
const unusableMemory = ({ path }: Config['memory']): string | undefined => {
  if (path === '' || path === 'none') return undefined
  let nearest = resolve(path)
  while (!existsSync(nearest)) nearest = dirname(nearest)
  if (!statSync(nearest).isDirectory()) return `${nearest} is no folder`
  try {
    accessSync(nearest, constants.W_OK)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

const serveProblems = ({ data, keysFile, tls }: Config['serve']): Problem[] => {
  const problems = tlsProblems(
    'serve.tls',
    { cert: ['certFile', tls.certFile], key: ['keyFile', tls.keyFile] },
    tls.passphrase,
  )
  if ((tls.certFile === '') !== (tls.keyFile === ''))
    problems.push({ setting: 'serve.tls.keyFile', message: 'and serve.tls.certFile go together' })
  if (data !== '' && !existsSync(data)) problems.push({ setting: 'serve.data', message: `names no folder: ${data}` })
  const keys = readNamed('serve.keysFile', keysFile, problems)
  try {
    if (keys !== undefined) readKeys(keysFile, keys)
  } catch (error) {
    for (const line of messageOf(error).split('\n'))
      problems.push({ setting: 'serve.keysFile', message: `is refused: ${line}` })
  }
  return problems
}

/** Settings that `run` cannot do without; that they are empty is no problem where Kafka is not used. */
const needed = new Set(['kafka.brokers', 'kafka.input.topics', 'kafka.output.topic', 'kafka.deadLetterTopic'])

const kafkaIfUsed = (kafka: Config['kafka'], asksBrokers: boolean): Problem[] => {
  const { brokers, input, output, deadLetterTopic, alertsTopic } = kafka
  const named = [...brokers, ...input.topics, input.pattern, output.topic, deadLetterTopic, alertsTopic]
  const isUsed = asksBrokers || named.some((name) => name !== '')
  return kafkaProblems(kafka).filter(({ setting }) => isUsed || !needed.has(setting))
}
