// Collects all problems that prevent a start or deserve a warning: rules, feeds, lists, keys, certificates, Kafka settings.
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Problem } from '../config/problem.js'
import { messageOf } from '../base/message-of.js'
import { budgetOf } from '../config/budget.js'
import { exposedFiles } from '../config/exposed-files.js'
import { readText } from '../config/load-config.js'
import type { Config } from '../config/schema.js'
import { feedFaults, feedProblems } from '../feeds/status.js'
import { openFeeds } from '../feeds/open-feeds.js'
import { loadSafeguard } from '../feeds/load-lists.js'
import { bundledFolder } from '../alerts/load-rules.js'
import { describeRuleProblem } from '../alerts/sigma/rule.js'
import { settingsProblems } from '../kafka/settings.js'
import { loginProblems } from '../login/login-problems.js'
import { readKeys } from '../server/keys.js'
import type { Io } from '../terminal/command.js'
import { openReader } from './open-app.js'
import { openClient } from './provider-client.js'
import { checkRules } from './check-file.js'
import { kafkaSettingsOf } from './limits.js'
import { allSettings } from './load-config.js'
import { loadSources } from './load-sources.js'
import { openAlerting } from './open-alerting.js'
import { openUpstream } from './open-server.js'
import { parts } from './parts.js'
import { readNamed, tlsProblems } from './tls-problems.js'

/** `asksBrokers`: check Kafka even if none of its settings is given. */
export const startProblems = async (config: Config, env: Io['env'], asksBrokers: boolean): Promise<Problem[]> => {
  const reading = openReader(config)
  const safeguard = loadSafeguard(config.intel.safeguard, readText)
  return [
    ...('problems' in reading ? reading.problems : []),
    ...('problems' in safeguard ? safeguard.problems : []),
    ...(await wrongFeeds(config)),
    ...wrongSources(config),
    ...(await problemsOfParts(config)),
    ...(await ruleProblems(config)),
    ...(await clientProblems(config, env)),
    ...memoryProblems(config),
    ...serveProblems(config.serve),
    ...kafkaIfUsed(config, asksBrokers),
  ]
}

const wrongFeeds = async ({ feeds }: Config): Promise<readonly Problem[]> => {
  const local = await openFeeds(feeds, { pollMs: 0 })
  await local.close()
  return [...feedProblems(local.status()), ...feedFaults(local.status())]
}

const wrongSources = (config: Config): readonly Problem[] => {
  const sources = loadSources(config)
  return 'problems' in sources ? sources.problems : []
}

const problemsOfParts = async (config: Config): Promise<readonly Problem[]> =>
  (await Promise.all(parts.map(async ({ problems }) => (await problems?.(config)) ?? []))).flat()

const ruleProblems = async (config: Config): Promise<readonly Problem[]> => {
  const alerts = await openAlerting(config, {})
  if ('problems' in alerts) return alerts.problems
  await alerts.close()
  return []
}

/** Checks the gateway's client too; it uses the same key with another address. */
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

/** An unusable folder only makes a restart expensive, unless it holds the count of a budget. */
const memoryProblems = ({ memory, admit }: Config): Problem[] => {
  const { perHour, perDay, isDefault } = budgetOf(admit)
  const message = !isDefault && (perHour > 0 || perDay > 0) ? unusableMemory(memory) : undefined
  if (message === undefined) return []
  const why = `cannot be used, and admit.perHour and admit.perDay are counted there: ${message}`
  return [{ setting: 'memory.path', message: why }]
}

/** Problems that cost something but do not prevent a start. */
export const startWarnings = async (config: Config, env: Io['env']): Promise<Problem[]> => {
  const message = unusableMemory(config.memory)
  const { remarks } = await checkRules([], config)
  return [
    ...(message === undefined
      ? []
      : [{ setting: 'memory.path', message: `cannot be used, so findings are lost at a restart: ${message}` }]),
    ...exposedFiles(config, env, allSettings.schema),
    // Users cannot fix bundled rules.
    ...remarks
      .filter(({ file }) => !file.startsWith(bundledFolder))
      .map((remark) => ({ setting: 'alerts.rules', message: describeRuleProblem(remark) })),
  ]
}

/** Creates nothing: checks the nearest existing parent folder. */
const unusableMemory = ({ path }: Config['memory']): string | undefined => {
  if (path === '' || path === 'none') return undefined
  let nearest = resolve(path)
  while (!existsSync(nearest)) nearest = dirname(nearest)
  if (!statSync(nearest).isDirectory()) return `${nearest} is not a folder`
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
    problems.push({ setting: 'serve.tls.keyFile', message: 'and serve.tls.certFile must be set together' })
  if (data !== '' && !existsSync(data)) problems.push({ setting: 'serve.data', message: `is not a folder: ${data}` })
  const keys = readNamed('serve.keysFile', keysFile, problems)
  try {
    if (keys !== undefined) readKeys(keysFile, keys)
  } catch (error) {
    for (const line of messageOf(error).split('\n'))
      problems.push({ setting: 'serve.keysFile', message: `is refused: ${line}` })
  }
  return problems
}

/** Settings that are required only if Kafka is used. */
const requiredByKafka = new Set(['kafka.brokers', 'kafka.input.topics', 'kafka.output.topic'])

const kafkaIfUsed = (config: Config, asksBrokers: boolean): Problem[] => {
  const { brokers, input, output, deadLetterTopic, alertsTopic, sightingsTopic, correctionsTopic } = config.kafka
  const written = [output.topic, deadLetterTopic, alertsTopic, sightingsTopic, correctionsTopic]
  const named = [...brokers, ...input.topics, input.pattern, ...written]
  const isUsed = asksBrokers || named.some((name) => name !== '')
  return kafkaProblems(config).filter(({ setting }) => isUsed || !requiredByKafka.has(setting))
}

/** For commands that get their topics on the command line: problems of the connection only. */
export const connectionProblems = (config: Config): Problem[] =>
  kafkaProblems(config).filter(({ setting }) => setting !== 'kafka.input.topics' && setting !== 'kafka.output.topic')

/** Problems in the Kafka settings and the files that they name. */
export const kafkaProblems = (config: Config): Problem[] => {
  const { tls, sasl } = config.kafka
  const problems: Problem[] = [...settingsProblems(kafkaSettingsOf(config)), ...loginProblems(config.kafka)]
  if (sasl.mechanism === 'oauthbearer')
    for (const name of ['tokenFile', 'tokenCaFile'] as const) readNamed(`kafka.sasl.${name}`, sasl[name], problems)
  const files = {
    ca: ['caFile', tls.caFile],
    cert: ['certificateFile', tls.certificateFile],
    key: ['keyFile', tls.keyFile],
  } as const
  return [
    ...problems,
    ...tlsProblems('kafka.tls', files, tls.keyPassphrase),
    ...parts.flatMap(({ kafkaProblems: ofPart }) => ofPart?.(config) ?? []),
  ]
}
