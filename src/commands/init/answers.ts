// The answers that `init` needs: parses each from a flag or from typed text, into a value or a problem.
import { accessSync, constants, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { messageOf } from '../../base/message-of.js'
import { topicsNamedAfter } from '../../config/derive-topics.js'
import { starterLists } from '../../config/starter-file.js'
import { isTopicName } from '../../config/topic-name.js'
import { printable } from '../../domain/control-characters.js'
import { isThisMachine } from '../../domain/this-machine.js'
import { shellWord } from '../../terminal/shell-word.js'

export type StarterList = ReturnType<typeof starterLists>[number]
export const platforms = ['systemd', 'compose', 'kubernetes'] as const
export type Platform = (typeof platforms)[number]

/** The user's own list. */
export type OwnList = { readonly name: string } & ({ readonly path: string } | { readonly url: string })

export type Answers = {
  readonly brokers: readonly string[]
  readonly topic: string
  /** The file with the key of the lookup service, if any. */
  readonly keyFile: string | undefined
  /** The URL of the lookup service; undefined: the default. */
  readonly service: string | undefined
  readonly list: OwnList | undefined
  readonly starter: readonly StarterList[]
  readonly platform: Platform
}

type Read<Value> = { readonly value: Value } | { readonly problem: string }
export type Reader<Value> = (text: string) => Read<Value>

export const readBrokers: Reader<readonly string[]> = (text) => {
  const value = text.split(',').map((part) => part.trim())
  const wrong = value.find((broker) => !/^(?:[^\s:/'"]+|\[[0-9a-fA-F:.]+\]):\d{1,5}$/.test(broker))
  return wrong === undefined ? { value } : { problem: `a broker is host:port, not ${JSON.stringify(wrong)}` }
}

export const outputTopicOf = (topic: string): string => `${topic}-annotated`

/** The derived topic names must be valid for Kafka too. */
export const readTopic: Reader<string> = (text) =>
  isTopicName(text) && topicsNamedAfter(outputTopicOf(text)).every(isTopicName)
    ? { value: text }
    : { problem: `${JSON.stringify(text)} is not a valid topic name` }

export const readKeyFile: Reader<string | undefined> = (text) => {
  if (text === 'none') return { value: undefined }
  const path = readPath(text)
  if ('problem' in path) return path
  const problem = unreadable(path.value)
  if (problem !== undefined)
    return { problem: `${problem}; write the key into a file first: (umask 077; printf %s KEY > ${shellWord(text)})` }
  return statSync(path.value).size === 0 ? { problem: `${path.value} is empty` } : path
}

export const readService: Reader<string> = (text) => {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    return { problem: 'a lookup service has a URL such as https://api.example.com' }
  const problem = secretIn(new URL(text), 'put a key into a file and give --key-file')
  return problem === undefined ? { value: text } : { problem }
}

export const readList: Reader<OwnList | undefined> = (text) => {
  if (text === 'none') return { value: undefined }
  if (/^https?:\/\//i.test(text)) {
    if (!URL.canParse(text)) return { problem: 'that is no address' }
    const problem = secretIn(
      new URL(text),
      'for a login, put its header into a file and set feeds[].headersFile afterwards',
    )
    return problem === undefined ? { value: { name: nameOf(new URL(text).pathname), url: text } } : { problem }
  }
  const path = readPath(text)
  if ('problem' in path) return path
  const problem = unreadable(path.value)
  return problem === undefined ? { value: { name: nameOf(path.value), path: path.value } } : { problem }
}

/** An absolute path. Control characters are refused, because a line feed would break the generated files. */
export const readPath = (text: string): Read<string> => {
  const value = resolve(text)
  return printable(value) === value
    ? { value }
    : { problem: `${JSON.stringify(printable(value))} has control characters: rename it` }
}

/** Refuses secrets in a URL, which would end up in world-readable files; the message does not repeat the URL. */
const secretIn = ({ username, password, search, hash }: URL, instead: string): string | undefined => {
  const what =
    username + password !== '' ? 'a username or password' : search + hash !== '' ? 'a query, where keys are' : undefined
  return what && `the URL has ${what}, and secrets must not be written into the configuration: remove it; ${instead}`
}

export const readStarter: Reader<readonly StarterList[]> = (text) => {
  const all = starterLists()
  if (text === 'all' || text === 'none') return { value: text === 'all' ? all : [] }
  const names = new Set(text.split(',').map((part) => part.trim()))
  const unknown = [...names].find((name) => !all.some(({ feed }) => feed.name === name))
  return unknown === undefined
    ? { value: all.filter(({ feed }) => names.has(feed.name)) }
    : {
        problem: `there is no list ${JSON.stringify(unknown)}; there are ${all.map(({ feed }) => feed.name).join(', ')}, all and none`,
      }
}

export const readPlatform: Reader<Platform> = (text) => {
  const value = platforms.find((name) => name === text)
  return value === undefined
    ? { problem: `it runs with ${platforms.join(', ')}, not ${JSON.stringify(text)}` }
    : { value }
}

/** The answers so far. */
export type Given = { readonly [Part in keyof Answers]?: Answers[Part] }

/** A contradiction between valid answers; changing one of `parts` resolves it. */
export type Conflict = { readonly sentence: string; readonly parts: readonly (keyof Answers)[] }

export const conflictIn = (given: Given): Conflict | undefined => {
  const { brokers = [], keyFile, service, list, starter = [], platform } = given
  const path = list !== undefined && 'path' in list ? list.path : undefined
  const local = brokers.find((broker) => isThisMachine(broker.replace(/:\d+$/, '')))
  if (platform !== undefined && platform !== 'systemd' && local !== undefined)
    return {
      sentence: `${local} means the container itself there: give an address of the broker that containers can reach`,
      parts: ['brokers'],
    }
  const hasNoKey = 'keyFile' in given && keyFile === undefined
  if (hasNoKey && 'list' in given && list === undefined && 'starter' in given && starter.length === 0)
    return {
      sentence: 'without a key, a list or a public list there is no source of verdicts',
      parts: ['list', 'starter'],
    }
  if (hasNoKey && service !== undefined)
    return { sentence: 'a lookup service needs a key: give --key-file', parts: ['keyFile'] }
  if (list !== undefined && starter.some(({ feed }) => feed.name === list.name))
    return { sentence: `the list ${list.name} has the name of a public list: rename the file`, parts: ['list'] }
  if (platform === 'compose' && path !== undefined && dirname(path) === '/')
    return {
      sentence: `${path}: Compose mounts the folder of the list, so put the list into a separate folder`,
      parts: ['list'],
    }
  if (platform === 'kubernetes' && path !== undefined && statSync(path).size > maxConfigMap)
    return {
      sentence: `${path} is larger than a ConfigMap may be (1 MiB): give the list as an https URL`,
      parts: ['list'],
    }
  return undefined
}

const maxConfigMap = 1_048_576

const unreadable = (path: string): string | undefined => {
  try {
    accessSync(path, constants.R_OK)
    return statSync(path).isFile() ? undefined : `${path} is no file`
  } catch (error) {
    return messageOf(error)
  }
}

/** The name of the list in annotations and alerts. */
const nameOf = (path: string): string =>
  basename(path)
    .replace(/\.[a-z0-9]{1,8}(\.gz)?$/i, '')
    .replace(/[^A-Za-z0-9_.-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 64) || 'own'
