// The `check` command: lists every problem in a configuration, rule, log format, source, sink, silences, profile or feed.
import { stringify } from 'yaml'
import { printable } from '../domain/control-characters.js'
import { intelligenceProblems } from '../config/intelligence-problems.js'
import { ConfigurationError, describeProblem, distinctProblems, type Problem } from '../config/problem.js'
import { redact } from '../config/redact.js'
import type { Config } from '../config/schema.js'
import { parseAddress } from '../domain/address.js'
import { parseHostname } from '../domain/hostname.js'
import { noOwnRanges } from '../domain/own-addresses.js'
import type { Indicator } from '../domain/indicator.js'
import type { ServiceProfile } from '../domain/service-profile.js'
import { describeCost } from './describe-cost.js'
import { checkAccount, describeAccount } from '../provider/check-account.js'
import type { Client } from '../provider/client.js'
import { coverageOf, describeCoverage } from '../provider/coverage.js'
import { openProfile } from '../app/open-profile.js'
import { connectedSettingsOf } from '../app/connected-settings.js'
import { checkOnline } from '../kafka/check-online.js'
import { checkFile, kindOfFile } from '../app/check-file.js'
import { exitCodes, UsageError, type Arguments, type Command, type Io } from '../terminal/command.js'
import { allSettings, loadConfig, readAnyConfig } from '../app/load-config.js'
import { accepted, configOption } from '../config/load-config.js'
import { report } from '../terminal/report-remarks.js'
import { providerClient } from '../app/provider-client.js'
import { checkValues } from '../app/check-values.js'
import { startProblems, startWarnings } from '../app/start-problems.js'

export const check: Command = {
  summary: 'report problems in a configuration, rule, log format, source, sink, profile or feed',
  help: `Usage: threatweave check [--config FILE] [--print] [--online [--ask VALUE] [--create-topics]]
       threatweave check [--config FILE] [--json] FILE…

Without FILE it checks the configuration, read as by every other command (defaults, then the file, then the environment),
and the files it names. Every problem is listed with the setting and where it was set. Sends nothing unless --online is given.

With FILEs it detects what each one is and lists every problem with file, line and reason:
  a configuration   the same as --config FILE
  a Sigma rule      errors, and parts that can never match; also a folder of rules
  a log format      names and examples, and that no other format matches the same lines; also a folder of formats
  a source          (intel.sources) names and examples; prints the terms of use
  a sink            (notify.sinks) names, templates and matchers
  silences          (notify.silences) names and matchers, that each ends and none holds back everything
  a profile         (intel.service.profile) names and examples, laid over the bundled one
  a judgement table (intel.table) names and levels
  a feed            whether it can be loaded, with the settings of \`feeds\` if the configuration names this file

  -c, --config FILE   the YAML file (default: THREATWEAVE_CONFIG; without it, defaults and the environment)
      --print         print the effective settings as YAML, without secrets
      --online        with a key, check the account at the lookup service (plan, quota, problems); with kafka.brokers, or
                      without a key, check that the topics exist and are suitable for \`run\`, and by a few
                      records of each whether kafka.input.format fits
      --ask VALUE     with --online: ask the lookup service about this address or name, for one paid call, and say what
                      of the answer is recognised, what is missing, and which members nobody reads
      --create-topics with --online: create the missing topics that \`run\` writes to
      --json          print problems of rules, formats, sources, tables and feeds as JSON, one object per line

Every setting has an environment variable: intel.service.apiKey is THREATWEAVE_INTEL_SERVICE_API_KEY. Secrets can be
read from a file: THREATWEAVE_INTEL_SERVICE_API_KEY_FILE=/run/secrets/key.

Example:
  THREATWEAVE_INTEL_SERVICE_API_KEY_FILE=key.txt threatweave check --print
  threatweave check my-format.yaml my-rules/ blocklist.txt

Exit codes: 0 no problem, 1 a problem in a FILE, the account, the brokers or topics, 78 a problem in the configuration.
`,
  options: {
    ...configOption,
    print: { type: 'boolean' },
    online: { type: 'boolean' },
    ask: { type: 'string' },
    'create-topics': { type: 'boolean' },
    json: { type: 'boolean' },
  },
  takesArguments: ['file'],
  run: async (args, io) => {
    if (args.values['create-topics'] === true && args.values.online !== true)
      throw new UsageError('--create-topics needs --online')
    if (args.values.ask !== undefined && args.values.online !== true) throw new UsageError('--ask needs --online')
    askedAbout(args)
    const kinds = await Promise.all(args.positionals.map(async (path) => [path, await kindOfFile(path)] as const))
    const [named, second] = kinds.filter(([, kind]) => kind === 'configuration').map(([path]) => path)
    if (second !== undefined || (named !== undefined && typeof args.values.config === 'string'))
      throw new UsageError(
        `${named} and ${second ?? String(args.values.config)} are both configurations; check one at a time`,
      )
    const isForConfiguration = args.positionals.length === 0 || named !== undefined
    for (const option of isForConfiguration ? [] : ['print', 'online'])
      if (args.values[option] === true)
        throw new UsageError(`--${option} applies only to a configuration, not to a rule, a format or a feed`)
    const given = named === undefined ? args : { ...args, values: { ...args.values, config: named } }
    const files = await checkFiles(kinds, given, io)
    if (!isForConfiguration) return files
    const configuration = await checkConfiguration(given, io)
    return configuration === exitCodes.ok ? files : configuration
  },
}

/** Throws for anything else. */
const askedAbout = ({ values }: Arguments): Indicator | undefined => {
  if (typeof values.ask !== 'string') return undefined
  const address = parseAddress(values.ask)
  const name = address === undefined ? parseHostname(values.ask) : undefined
  if (address !== undefined) return { type: 'ip', value: address }
  if (name !== undefined) return { type: 'domain', value: name }
  throw new UsageError(`--ask needs an address or a name, not ${JSON.stringify(values.ask)}`)
}

const checkFiles = async (
  kinds: readonly (readonly [path: string, kind: Awaited<ReturnType<typeof kindOfFile>>])[],
  args: Arguments,
  io: Io,
): Promise<number> => {
  let code: number = exitCodes.ok
  for (const [path, kind] of kinds) {
    if (kind === 'configuration') continue
    const { what, remarks } =
      typeof kind === 'object' && 'problem' in kind
        ? { what: 'not checked', remarks: [{ kind: 'error' as const, file: path, message: kind.problem }] }
        : await checkFile(kind, path, loadConfig(args, io))
    const reported = await report({ what: `${path}: ${what}`, remarks }, args, io)
    code = reported === exitCodes.ok ? code : reported
  }
  return code
}

const checkConfiguration = async (args: Arguments, io: Io): Promise<number> => {
  const online = args.values.online === true
  const { config, problems: found } = readAnyConfig(args, io)
  if (!config) throw new ConfigurationError(found)
  const hasKey = config.intel.service.apiKey !== ''
  const asksBrokers = online && (!hasKey || config.kafka.brokers.length > 0)
  const settings = new Set(found.map(({ setting }) => setting))
  const more = [...missingIntelligence(config, found), ...(await startProblems(config, io.env, asksBrokers))]
  const problems = distinctProblems([...found, ...more.filter(({ setting }) => !settings.has(setting))])
  if (problems.length > 0) throw new ConfigurationError(problems)
  for (const warning of await startWarnings(config, io.env))
    io.stderr.write(`threatweave: warning: ${printable(describeProblem(warning))}\n`)
  if (isForRun(config) && config.gate.ownRanges.length === 0)
    io.stderr.write(`threatweave: note: gate.ownRanges ${noOwnRanges}; estimate suggests ranges from a log\n`)
  if (args.values.print === true) io.stdout.write(stringify(redact(config, allSettings.schema)))
  else io.stdout.write(`The configuration is fine.\n${hasKey ? describeCost(config) : ''}`)
  const account = online && hasKey ? await askAccount(config, askedAbout(args), io) : exitCodes.ok
  const brokers = asksBrokers ? await askBrokers(config, args.values['create-topics'] === true, io) : exitCodes.ok
  return account === exitCodes.ok ? brokers : account
}

const isForRun = ({ kafka: { input } }: Config): boolean => input.topics.length > 0 || input.pattern !== ''

/** Skipped for `serve`, which needs neither key nor feed, and if an invalid key or feed is reported already. */
const missingIntelligence = (config: Config, found: readonly Problem[]): readonly Problem[] => {
  const { serve, kafka } = config
  const isForServe =
    kafka.brokers.length === 0 && [serve.data, serve.upstream, serve.keysFile, serve.apiKey].some((text) => text !== '')
  const isReported = found.some(({ setting }) => /^(feeds|intel|THREATWEAVE_(FEEDS|INTEL))/.test(setting))
  return isForServe || isReported ? [] : intelligenceProblems(config)
}

const askAccount = async (config: Config, about: Indicator | undefined, io: Io): Promise<number> => {
  const client = providerClient(config, io)
  try {
    const { account, reply } = await checkAccount(client)
    ;(account.ok ? io.stdout : io.stderr).write(describeAccount(account))
    const { profile } = accepted(openProfile(config.intel.service))
    if (reply.status === 'answer')
      io.stdout.write(describeCoverage('user/me', coverageOf('user/me', reply.body, profile)))
    const asked = about === undefined || (await askAbout(about, client, profile, io))
    return account.ok && asked ? exitCodes.ok : exitCodes.failure
  } finally {
    await client.close()
  }
}

/** Makes one paid call and compares the answer with the profile. */
const askAbout = async (about: Indicator, client: Client, profile: ServiceProfile, io: Io): Promise<boolean> => {
  const operation = about.type === 'ip' ? 'ip/malicious-info' : 'domain/reports'
  const reply = await client.callNamed(operation, about.type === 'ip' ? { ip: about.value } : { query: about.value })
  if (reply.status === 'answer') {
    io.stdout.write(describeCoverage(operation, coverageOf(operation, reply.body, profile)))
    return true
  }
  const { reason, detail } = reply.failure
  io.stderr.write(`threatweave: ${operation} failed: ${reason}, ${printable(detail)}\n`)
  return false
}

const askBrokers = async (config: Config, create: boolean, io: Io): Promise<number> => {
  const found = await checkOnline(connectedSettingsOf(config, { env: io.env }), create)
  if (!found.reached) {
    io.stderr.write(`threatweave: the brokers cannot be checked: ${printable(found.sentence)}\n`)
    return exitCodes.failure
  }
  for (const topic of found.created) io.stdout.write(`Topic ${topic} was created.\n`)
  for (const { topic, level, message } of found.remarks)
    io.stdout.write(`${printable(`${level}: topic ${topic} ${message}`)}\n`)
  if (found.remarks.some(({ level }) => level === 'error')) return exitCodes.failure
  const values = await checkValues(config, found.input, io.env)
  if ('refused' in values) io.stderr.write(`threatweave: no records can be inspected: ${printable(values.refused)}\n`)
  else
    for (const { topic, level, message } of values)
      io.stdout.write(`${printable(`${level}: topic ${topic} ${message}`)}\n`)
  io.stdout.write('The topics exist.\n')
  return exitCodes.ok
}
