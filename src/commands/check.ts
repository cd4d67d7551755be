// check: says whether a configuration would run, or whether a rule, a format or a feed can be used, with every problem at once.
import { stringify } from 'yaml'
import { intelligenceProblems } from '../config/intelligence-problems.js'
import { ConfigurationError, describeProblem, type Problem } from '../config/problem.js'
import { redact } from '../config/redact.js'
import type { Config } from '../config/schema.js'
import { checkAccount, describeAccount } from '../provider/check-account.js'
import { checkOnline } from '../kafka/check-online.js'
import { checkFile, kindOfFile } from '../app/check-file.js'
import { exitCodes, UsageError, type Arguments, type Command, type Io } from '../terminal/command.js'
import { configOption, loadConfig, readConfig } from '../config/load-config.js'
import { report } from '../terminal/report-remarks.js'
import { providerClient } from '../app/provider-client.js'
import { startProblems, startWarnings } from '../app/start-problems.js'
import { printable } from '../terminal/table.js'

export const check: Command = {
  summary: 'say what is wrong with a configuration, a rule, a log format or a feed',
  help: `Usage: threatweave check [--config FILE] [--print] [--online [--create-topics]]
       threatweave check [--config FILE] [--json] FILE…

Without a FILE: the configuration.

Reads the configuration as every other command would (defaults, then the file, then the environment) and the files it
names, and lists everything that is wrong, each with its setting's name and where it was given. Asks nobody, unless told to.

With FILEs: each is taken for what its content says it is, and every problem is listed with file, line and reason.
  a configuration   as above; the same as --config FILE
  a Sigma rule      what is wrong with it, and what in it can never fire; or a folder of rules
  a log format      its names, its examples, and that no other format matches the same lines; or a folder of formats
  a feed            whether it would be taken, as \`feeds\` of the configuration describes it where it names this file

  -c, --config FILE   the YAML file; else THREATWEAVE_CONFIG names it; else only defaults and the environment count
      --print         show the settings in force as YAML, secrets hidden
      --online        ask the lookup service about the account (plan, quota, what is wrong) where a key is set, and the brokers,
                      where kafka.brokers names some or there is no key, whether the topics are there and fit for \`run\`
      --create-topics with --online: make the missing output, dead-letter and alerts topics
      --json          print what is wrong with rules, formats and feeds as one JSON object a line

Every setting has an environment variable: intel.service.apiKey is THREATWEAVE_INTEL_SERVICE_API_KEY, and a secret may be
read from a file: THREATWEAVE_INTEL_SERVICE_API_KEY_FILE=/run/secrets/key.

Example:
  THREATWEAVE_INTEL_SERVICE_API_KEY_FILE=key.txt threatweave check --print
  threatweave check my-format.yaml my-rules/ blocklist.txt

Exit codes: 0 fine, 1 a FILE, the account, the brokers or their topics are not, 78 something is wrong with the configuration.
`,
  options: {
    ...configOption,
    print: { type: 'boolean' },
    online: { type: 'boolean' },
    'create-topics': { type: 'boolean' },
    json: { type: 'boolean' },
  },
  takesArguments: true,
  run: async (args, io) => {
    if (args.values['create-topics'] === true && args.values.online !== true)
      throw new UsageError('--create-topics goes with --online')
    const kinds = args.positionals.map((path) => [path, kindOfFile(path)] as const)
    const [named, second] = kinds.filter(([, kind]) => kind === 'configuration').map(([path]) => path)
    if (second !== undefined || (named !== undefined && typeof args.values.config === 'string'))
      throw new UsageError(
        `${named} and ${second ?? String(args.values.config)} are both configurations; check one at a time`,
      )
    const given = named === undefined ? args : { ...args, values: { ...args.values, config: named } }
    const files = await checkFiles(kinds, given, io)
    if (args.positionals.length > 0 && named === undefined) return files
    const configuration = await checkConfiguration(given, io)
    return configuration === exitCodes.ok ? files : configuration
  },
}

const checkFiles = async (
  kinds: readonly (readonly [path: string, kind: ReturnType<typeof kindOfFile>])[],
  args: Arguments,
  io: Io,
): Promise<number> => {
  let code: number = exitCodes.ok
  for (const [path, kind] of kinds) {
    if (kind === 'configuration') continue
    const { what, remarks } =
      typeof kind === 'object'
        ? { what: 'not checked', remarks: [{ kind: 'error' as const, file: path, message: kind.problem }] }
        : await checkFile(kind, path, loadConfig(args, io))
    const reported = await report({ what: `${path}: ${what}`, remarks }, args, io)
    code = reported === exitCodes.ok ? code : reported
  }
  return code
}

const checkConfiguration = async (args: Arguments, io: Io): Promise<number> => {
  const online = args.values.online === true
  const { config, problems: found } = readConfig(args, io)
  if (!config) throw new ConfigurationError(found)
  const hasKey = config.intel.service.apiKey !== ''
  const asksBrokers = online && (!hasKey || config.kafka.brokers.length > 0)
  const settings = new Set(found.map(({ setting }) => setting))
  const more = [...lackOf(config, found), ...(await startProblems(config, io.env, asksBrokers))]
  const problems = [...found, ...more.filter(({ setting }) => !settings.has(setting))]
  if (problems.length > 0) throw new ConfigurationError(problems)
  for (const warning of startWarnings(config))
    io.stderr.write(`threatweave: warning: ${printable(describeProblem(warning))}\n`)
  if (args.values.print === true) io.stdout.write(stringify(redact(config)))
  else io.stdout.write('The configuration is fine.\n')
  const account = online && hasKey ? await askAccount(config, io) : exitCodes.ok
  const brokers = asksBrokers ? await askBrokers(config.kafka, args.values['create-topics'] === true, io) : exitCodes.ok
  return account === exitCodes.ok ? brokers : account
}

/** A `serve` answers from files of its own; and of a key or feed that is wrong it is said already. */
const lackOf = (config: Config, found: readonly Problem[]): readonly Problem[] => {
  const { serve, kafka } = config
  const isForServe =
    kafka.brokers.length === 0 && [serve.data, serve.upstream, serve.keysFile, serve.apiKey].some((text) => text !== '')
  const isSaid = found.some(({ setting }) => /^(feeds|intel|THREATWEAVE_(FEEDS|INTEL))/.test(setting))
  return isForServe || isSaid ? [] : intelligenceProblems(config)
}

const askAccount = async (config: Config, io: Io): Promise<number> => {
  const client = providerClient(config, io)
  const account = await checkAccount(client)
  await client.close()
  ;(account.ok ? io.stdout : io.stderr).write(describeAccount(account))
  return account.ok ? exitCodes.ok : exitCodes.failure
}

const askBrokers = async (settings: Config['kafka'], create: boolean, io: Io): Promise<number> => {
  const found = await checkOnline(settings, create)
  if (!found.reached) {
    io.stderr.write(`threatweave: the brokers cannot be asked: ${found.sentence}\n`)
    return exitCodes.failure
  }
  for (const topic of found.created) io.stdout.write(`Topic ${topic} was made.\n`)
  for (const { topic, level, message } of found.remarks) io.stdout.write(`${level}: topic ${topic} ${message}\n`)
  if (found.remarks.some(({ level }) => level === 'error')) return exitCodes.failure
  io.stdout.write('The topics are there.\n')
  return exitCodes.ok
}
