// What `init` needs to know, each read from the text of a flag or of an answer: the value, or a sentence that says what is wrong with it.
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

/** A list of the user's own. */
export type OwnList = { readonly name: string } & ({ readonly path: string } | { readonly url: string })

export type Answers = {
  readonly brokers: readonly string[]
  readonly topic: string
  /** The file with the key of the lookup service; undefined: there is none. */
  readonly keyFile: string | undefined
  /** Of the lookup service; undefined: the usual one. */
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

/** Every topic that is named after it needs a name that Kafka takes. */
export const readTopic: Reader<string> = (text) =>
  isTopicName(text) && topicsNamedAfter(outputTopicOf(text)).every(isTopicName)
    ? { value: text }
    : { problem: `${JSON.stringify(text)} cannot be the name of a topic` }

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
    return { problem: 'a lookup service has an address such as https://api.example.com' }
  const problem = secretIn(new URL(text), 'a key belongs into a file: give --key-file')
  return problem === undefined ? { value: text } : { problem }
}

export const readList: Reader<OwnList | undefined> = (text) => {
  if (text === 'none') return { value: undefined }
  if (/^https?:\/\//i.test(text)) {
    if (!URL.canParse(text)) return { problem: 'that is no address' }
    const problem = secretIn(
      new URL(text),
      'for a login put its header into a file that feeds[].headersFile names afterwards',
    )
    return problem === undefined ? { value: { name: nameOf(new URL(text).pathname), url: text } } : { problem }
  }
  const path = readPath(text)
  if ('problem' in path) return path
  const problem = unreadable(path.value)
  return problem === undefined ? { value: { name: nameOf(path.value), path: path.value } } : { problem }
}

/** As an absolute one. A line feed in it would end the line of the file that it is written into. */
export const readPath = (text: string): Read<string> => {
  const value = resolve(text)
  return printable(value) === value
    ? { value }
    : { problem: `${JSON.stringify(printable(value))} has control characters: rename it` }
}

/** The address is written into files that everybody may read; so it is not shown either. */
const secretIn = ({ username, password, search, hash }: URL, instead: string): string | undefined => {
  const what =
    username + password !== '' ? 'a username or password' : search + hash !== '' ? 'a query, where keys are' : undefined
  return what && `the address has ${what}, and no secret is written: leave it out; ${instead}`
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

/** Answers so far: a part that was not answered is absent. */
export type Given = { readonly [Part in keyof Answers]?: Answers[Part] }

/** What is wrong with answers together, where each alone is right; `parts` are those of which another one helps. */
export type Conflict = { readonly sentence: string; readonly parts: readonly (keyof Answers)[] }

export const conflictIn = (given: Given): Conflict | undefined => {
  const { brokers = [], keyFile, service, list, starter = [], platform } = given
  const path = list !== undefined && 'path' in list ? list.path : undefined
  const local = brokers.find((broker) => isThisMachine(broker.replace(/:\d+$/, '')))
  if (platform !== undefined && platform !== 'systemd' && local !== undefined)
    return {
      sentence: `${local} is the container itself there: name the broker by the address under which containers reach it`,
      parts: ['brokers'],
    }
  const hasNoKey = 'keyFile' in given && keyFile === undefined
  if (hasNoKey && 'list' in given && list === undefined && 'starter' in given && starter.length === 0)
    return {
      sentence: 'without a key, a list or a public list nothing could be known about any event',
      parts: ['list', 'starter'],
    }
  if (hasNoKey && service !== undefined)
    return { sentence: 'a lookup service needs a key: give --key-file', parts: ['keyFile'] }
  if (list !== undefined && starter.some(({ feed }) => feed.name === list.name))
    return { sentence: `the list ${list.name} has the name of a public list: rename the file`, parts: ['list'] }
  if (platform === 'compose' && path !== undefined && dirname(path) === '/')
    return {
      sentence: `${path}: Compose mounts the folder of the list, so put it into one of its own`,
      parts: ['list'],
    }
  if (platform === 'kubernetes' && path !== undefined && statSync(path).size > maxConfigMap)
    return {
      sentence: `${path} is larger than a ConfigMap may be (1 MiB): give the list by an https address`,
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

/** The name that annotations and alerts give the list. */
const nameOf = (path: string): string =>
  basename(path)
    .replace(/\.[a-z0-9]{1,8}(\.gz)?$/i, '')
    .replace(/[^A-Za-z0-9_.-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 64) || 'own'
