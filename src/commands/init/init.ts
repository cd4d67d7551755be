// The `init` command: asks questions or takes flags, and writes a checked configuration with the files to run it.
import { basename, join } from 'node:path'
import { prefix } from '../../config/environment-name.js'
import { topicsNamedAfter } from '../../config/derive-topics.js'
import { starterLists } from '../../config/starter-file.js'
import { printable } from '../../domain/control-characters.js'
import { UsageError, type Arguments, type Command, type Io } from '../../terminal/command.js'
import { reportStop } from '../../terminal/report-stop.js'
import { shellWord } from '../../terminal/shell-word.js'
import { startedAs } from '../../terminal/started-as.js'
import { check } from '../check.js'
import {
  conflictIn,
  outputTopicOf,
  platforms,
  readBrokers,
  readKeyFile,
  readList,
  readPath,
  readPlatform,
  readService,
  readStarter,
  readTopic,
  type Answers,
  type Conflict,
  type Given,
  type Platform,
  type Reader,
  type StarterList,
} from './answers.js'
import { openQuestions, type Ask } from './ask.js'
import { chartValues } from './chart-values.js'
import { existingOf, writeChecked } from './checked-files.js'
import { composeFile, containerLists } from './compose-file.js'
import { configurationText } from './configuration-text.js'
import { reachProblem } from './service-reach.js'
import { systemdUnit } from './systemd-unit.js'

const configuration = 'threatweave.yaml'

/** `reach` finds obstacles between a systemd unit and the program or a list. */
export const createInit = (reach = reachProblem): Command => ({
  summary: 'write a configuration for your brokers, and a systemd unit, Compose file or chart values',
  help: `Usage: threatweave init [options]

Asks where the brokers are, which topic holds the log events, where the key of the lookup service is, which lists to use, and how the
program shall run; without a key also, for each public list, whether you agree to its terms. Answers that do not go together are asked
again. It writes a commented configuration and one of a systemd unit, a Compose file and values for the Helm chart,
checked as by \`threatweave check\`: if anything is wrong, nothing is written. No secret is written into any file.

Every question has a flag, and is not asked where the flag is given. Without a terminal all must be given.

      --brokers LIST    brokers to start from, such as kafka-1:9092,kafka-2:9092
      --topic TOPIC     the topic with the log events; the annotated ones go to TOPIC-annotated
      --key-file FILE   the file with the key of the lookup service, or none
      --service URL     the lookup service (default: the usual one)
      --list FILE|URL   a list of your own, or none
      --feeds NAMES     public lists that you agree to, with commas, or all, or none; \`threatweave feeds starter\` shows them
      --for PLATFORM    ${platforms.join(', ')}
      --dir DIR         where to write (default: the folder threatweave)
      --force           replace files that are there

Examples:
  threatweave init
  threatweave init --brokers kafka:9092 --topic firewall --key-file none --feeds spamhaus-drop,phishing-database --for systemd

Exit codes: 0 written, 64 wrong usage or no answer, 78 what was answered makes no usable configuration, 130 and 143 interrupted.
`,
  options: {
    brokers: { type: 'string' },
    topic: { type: 'string' },
    'key-file': { type: 'string', takes: 'file' },
    service: { type: 'string' },
    list: { type: 'string', takes: 'file' },
    feeds: { type: 'string', takes: { listOf: ['all', 'none', ...starterLists().map(({ feed }) => feed.name)] } },
    for: { type: 'string', takes: platforms },
    dir: { type: 'string', takes: 'file' },
    force: { type: 'boolean' },
  },
  run: async ({ values }, io) => {
    const given = readFlags(values)
    const place = readPath(typeof values.dir === 'string' ? values.dir : 'threatweave')
    if ('problem' in place) throw new UsageError(`--dir: ${place.problem}`)
    const folder = place.value
    // Checked before the first question, so that no answers are lost.
    const existing = values.force === true ? undefined : existingOf(folder, filesFor(given.platform))
    if (existing !== undefined) throw new UsageError(`${existing} exists; --force replaces it, --dir writes elsewhere`)
    const conflictOf = (answers: Given): Conflict | undefined => conflictIn(answers) ?? unitConflict(answers, reach)
    const isTyped = io.stdin.isTTY === true && io.stdout.isTTY === true
    const conflict = conflictOf(isTyped ? given : complete(given))
    if (conflict !== undefined) throw new UsageError(conflict.sentence)
    const answers = isTyped ? await askRest(given, io, conflictOf) : complete(given)
    if (answers === undefined) {
      io.stdout.write('\nNothing was written.\n')
      if (io.signal.aborted) return reportStop(0, io, 'file')
      throw new UsageError('not every question was answered')
    }
    const content = contentOf(answers, folder)
    const code = await writeChecked(folder, content, (draft) => checkDraft(join(draft, content.checked), answers, io))
    io.stdout.write(nextSteps(answers, folder))
    return code
  },
})

const unitConflict = ({ platform, list }: Given, reach: typeof reachProblem): Conflict | undefined => {
  if (platform !== 'systemd') return undefined
  const program = reach(undefined)
  if (program !== undefined) return { sentence: program, parts: ['platform'] }
  const sentence = list !== undefined && 'path' in list ? reach(list.path) : undefined
  return sentence === undefined ? undefined : { sentence, parts: ['list'] }
}

/** Reads the answers given as flags. */
const readFlags = (values: Arguments['values']): Given => {
  const given: Record<string, unknown> = {}
  const flag = <Value>(name: string, part: keyof Answers, read: Reader<Value>): void => {
    const text = values[name]
    if (typeof text !== 'string') return
    const found = read(text)
    if ('problem' in found) throw new UsageError(`--${name}: ${found.problem}`)
    given[part] = found.value
  }
  flag('brokers', 'brokers', readBrokers)
  flag('topic', 'topic', readTopic)
  flag('key-file', 'keyFile', readKeyFile)
  flag('service', 'service', readService)
  flag('list', 'list', readList)
  flag('feeds', 'starter', readStarter)
  flag('for', 'platform', readPlatform)
  return given
}

/** Without a terminal every question needs its flag. */
const complete = (given: Given): Answers => {
  const { brokers, topic, keyFile, service, list, starter = [], platform } = given
  const hasLists = 'list' in given || 'starter' in given
  const missing = [
    ...(brokers ? [] : ['--brokers']),
    ...(topic === undefined ? ['--topic'] : []),
    ...('keyFile' in given ? [] : ['--key-file (or --key-file none)']),
    ...(keyFile === undefined && !hasLists ? ['--list or --feeds'] : []),
    ...(platform ? [] : ['--for']),
  ]
  if (!brokers || topic === undefined || !platform || missing.length > 0)
    throw new UsageError(`init needs ${missing.join(', ')}, or a terminal to ask on`)
  return { brokers, topic, keyFile, service, list, starter, platform }
}

/**
 * Undefined if the terminal was closed or the program stopped. Contradicting answers are asked again; if all came from flags, the last
 * of them is.
 */
const askRest = async (
  given: Given,
  io: Io,
  conflictOf: (answers: Given) => Conflict | undefined,
): Promise<Answers | undefined> => {
  const questions = openQuestions(io)
  let answers = given
  try {
    for (;;) {
      const part = order.find((name) => !(name in answers))
      if (part === undefined) return complete(answers)
      const answer = await askPart(part, answers, questions, io)
      if (!answer) return undefined
      answers = { ...answers, ...answer }
      const conflict = conflictOf(answers)
      if (!conflict) continue
      io.stdout.write(`  ${printable(conflict.sentence)}\n`)
      const asked = conflict.parts.filter((name) => !(name in given))
      const again = new Set<string>(asked.length > 0 ? asked : Object.keys(answer))
      answers = { ...Object.fromEntries(Object.entries(answers).filter(([name]) => !again.has(name))), ...given }
    }
  } finally {
    questions.close()
  }
}

const order = ['brokers', 'topic', 'keyFile', 'list', 'starter', 'platform'] as const

const askPart = async (
  part: (typeof order)[number],
  answers: Given,
  { ask }: Ask,
  io: Io,
): Promise<Given | undefined> => {
  if (part === 'keyFile') return askKey(answers, ask)
  // Public lists are for users without a key; the lookup service covers more.
  if (part === 'starter') return answers.keyFile === undefined ? askStarter(ask, io) : { starter: [] }
  const { question, read, usual } = single[part]
  const found = await ask<{ readonly answer: unknown }>(question, wrapped(read), usual)
  return found && { [part]: found.answer }
}

type Single = { readonly question: string; readonly read: Reader<unknown>; readonly usual?: string }

const single: Readonly<Record<'brokers' | 'topic' | 'list' | 'platform', Single>> = {
  brokers: { question: '1. Kafka brokers, as host:port with commas', read: readBrokers },
  topic: { question: '2. Topic with the log events', read: readTopic },
  list: { question: '4. A list of your own: a file or an https URL', read: readList, usual: 'none' },
  platform: { question: `5. How it runs: ${platforms.join(', ')}`, read: readPlatform, usual: 'systemd' },
}

const wrapped =
  <Value>(read: Reader<Value>): Reader<{ readonly answer: Value }> =>
  (text) => {
    const found = read(text)
    return 'problem' in found ? found : { value: { answer: found.value } }
  }

type Key = Pick<Answers, 'keyFile' | 'service'>

const askKey = async (given: Given, ask: Ask['ask']): Promise<Key | undefined> => {
  const key = await ask('3. File with the key of the lookup service', wrapped(readKeyFile), 'none')
  if (!key) return undefined
  if (key.answer === undefined || given.service !== undefined) return { keyFile: key.answer, service: given.service }
  const service = await ask(
    '   Its address, or usual',
    (text) => (text === 'usual' ? { value: '' } : readService(text)),
    'usual',
  )
  return service === undefined ? undefined : { keyFile: key.answer, service: service === '' ? undefined : service }
}

const askStarter = async (ask: Ask['ask'], io: Io): Promise<Pick<Answers, 'starter'> | undefined> => {
  io.stdout.write('   Public lists that need no account. Agree to each of them separately:\n')
  const starter: StarterList[] = []
  for (const list of starterLists()) {
    const { about, licence, terms, feed } = list
    io.stdout.write(`\n   ${feed.name}: ${about}\n     Licence: ${licence}\n     ${terms}\n`)
    const agreed = await ask('     Use it, y or n', readConsent, 'n')
    if (agreed === undefined) return undefined
    if (agreed) starter.push(list)
  }
  return { starter }
}

const readConsent: Reader<boolean> = (text) =>
  /^(?:y|yes|n|no)$/i.test(text) ? { value: /^y/i.test(text) } : { problem: 'y or n' }

const filesOf: Readonly<Record<Platform, readonly string[]>> = {
  systemd: [configuration, 'threatweave.service'],
  compose: [configuration, 'compose.yaml'],
  kubernetes: ['values.yaml'],
}

/** The files of all platforms if none is chosen yet. */
const filesFor = (platform: Platform | undefined): readonly string[] =>
  platform === undefined ? [...new Set(Object.values(filesOf).flat())] : filesOf[platform]

type Content = Parameters<typeof writeChecked>[1] & {
  /** The file to check. */
  readonly checked: string
}

const contentOf = (answers: Answers, folder: string): Content => {
  const { list, platform } = answers
  const here = configurationText(answers)
  if (platform === 'systemd') {
    const unit = systemdUnit(answers, join(folder, configuration))
    return { files: { [configuration]: here, 'threatweave.service': unit }, forCheck: {}, checked: configuration }
  }
  // In a container the list has another path, so the check uses the current one.
  const nameThere = list && (platform === 'compose' && 'path' in list ? basename(list.path) : list.name)
  const text = configurationText(answers, nameThere && `${containerLists}/${nameThere}`)
  const files =
    platform === 'compose'
      ? { [configuration]: text, 'compose.yaml': composeFile(answers) }
      : { 'values.yaml': chartValues(answers, text) }
  return { files, forCheck: { configuration: here }, checked: 'configuration' }
}

/** Checks the draft with the key and without other environment variables of this shell. */
const checkDraft = (config: string, { keyFile }: Answers, io: Io): Promise<number> => {
  const own = Object.entries(io.env).filter(([name]) => !name.startsWith(prefix))
  const key = keyFile === undefined ? {} : { [`${prefix}INTEL_SERVICE_API_KEY_FILE`]: keyFile }
  return check.run({ positionals: [], values: { config } }, { ...io, env: { ...Object.fromEntries(own), ...key } })
}

const nextSteps = (answers: Answers, folder: string): string => {
  const { topic, keyFile, list, platform } = answers
  const output = outputTopicOf(topic)
  const config = join(folder, configuration)
  const key = keyFile === undefined ? '' : `THREATWEAVE_INTEL_SERVICE_API_KEY_FILE=${shellWord(keyFile)} `
  const prepare = `${key}${startedAs()} check --config ${shellWord(config)} --online --create-topics`
  const steps: Readonly<Record<Platform, readonly string[]>> = {
    systemd: [
      prepare,
      `sudo cp ${shellWord(join(folder, 'threatweave.service'))} /etc/systemd/system/ && sudo systemctl daemon-reload`,
      'sudo systemctl enable --now threatweave',
    ],
    compose: [
      `cd ${shellWord(folder)} && docker compose run --rm threatweave check --online --create-topics`,
      'docker compose up -d',
    ],
    kubernetes: [
      ...(keyFile === undefined
        ? []
        : [`kubectl create secret generic threatweave-key --from-file=intel.service.apiKey=${shellWord(keyFile)}`]),
      ...(list !== undefined && 'path' in list
        ? [`kubectl create configmap threatweave-lists --from-file=${list.name}=${shellWord(list.path)}`]
        : []),
      `helm install threatweave CHART -f ${shellWord(join(folder, 'values.yaml'))}   # the released chart, or helm/threatweave in the sources`,
      'kubectl exec deploy/threatweave -- node dist/cli.js check --online --create-topics && kubectl rollout restart deploy/threatweave',
    ],
  }
  return `Written: ${filesOf[platform].map((name) => join(folder, name)).join(', ')}

Next:
${steps[platform].map((step) => `  ${step}\n`).join('')}
${platform === 'kubernetes' ? `The topics ${topic} and ${output} must exist before helm install; the step after it creates ${topicsNamedAfter(output).join(', ')}.\n` : ''}Annotated events go to ${output}, alerts to ${output}-alerts.
`
}
