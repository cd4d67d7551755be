// Everything that some command would refuse to start with, told beforehand: rules, feeds, lists, keys, certificates, services.
import { existsSync, readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { openClient, openReading } from '../app.js'
import type { Problem } from '../config/problem.js'
import type { Config } from '../config/schema.js'
import { messageOf } from '../domain/message-of.js'
import { feedProblems } from '../intel/feeds/feed-problems.js'
import { openFeeds } from '../intel/feeds/open-feeds.js'
import { settingsProblems } from '../kafka/settings-problems.js'
import { openAlerting } from '../open-alerting.js'
import { openUpstream } from '../open-service.js'
import { readKeys } from '../service/keys.js'
import type { Io } from './command.js'

/** `asksBrokers`: Kafka is wanted, also where no setting of it is given. */
export const startProblems = async (config: Config, env: Io['env'], asksBrokers: boolean): Promise<Problem[]> => {
  const reading = openReading(config)
  return [
    ...('problems' in reading ? reading.problems : []),
    ...(await refusedFeeds(config)),
    ...(await ruleProblems(config)),
    ...(await clientProblems(config, env)),
    ...serveProblems(config.serve),
    ...kafkaProblems(config.kafka, asksBrokers),
  ]
}

const refusedFeeds = async ({ feeds, gate }: Config): Promise<readonly Problem[]> => {
  const local = await openFeeds(feeds, { pollMs: 0, documentation: gate.documentation })
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

const kafkaProblems = (kafka: Config['kafka'], asksBrokers: boolean): Problem[] => {
  const { brokers, input, output, deadLetterTopic, alertsTopic, tls, sasl } = kafka
  const named = [...brokers, ...input.topics, input.pattern, output.topic, deadLetterTopic, alertsTopic]
  const isUsed = asksBrokers || named.some((name) => name !== '')
  const problems = settingsProblems(kafka).filter(({ setting }) => isUsed || !needed.has(setting))
  if (sasl.mechanism === 'oauthbearer') readNamed('kafka.sasl.tokenFile', sasl.tokenFile, problems)
  const files = {
    ca: ['caFile', tls.caFile],
    cert: ['certificateFile', tls.certificateFile],
    key: ['keyFile', tls.keyFile],
  } as const
  return [...problems, ...tlsProblems('kafka.tls', files, tls.keyPassphrase)]
}

type TlsFile = readonly [setting: string, path: string]

/** What TLS would refuse: a file that is not there, one that is no PEM, a key that does not fit its certificate. */
const tlsProblems = (
  section: string,
  files: Readonly<Partial<Record<'ca' | 'cert' | 'key', TlsFile>>>,
  passphrase: string,
): Problem[] => {
  const problems: Problem[] = []
  const texts = Object.entries(files).flatMap(([kind, [setting, path]]) => {
    const text = readNamed(`${section}.${setting}`, path, problems)
    return text === undefined ? [] : [[kind, text] as const]
  })
  try {
    createSecureContext({ ...Object.fromEntries(texts), passphrase })
  } catch (error) {
    problems.push({ setting: section, message: `names files that cannot be used: ${messageOf(error)}` })
  }
  return problems
}

/** The text of a file that a setting names; nothing where it names none or it cannot be read, which is then a problem. */
const readNamed = (setting: string, path: string, problems: Problem[]): string | undefined => {
  if (path === '') return undefined
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    problems.push({ setting, message: `cannot be read: ${messageOf(error)}` })
    return undefined
  }
}
