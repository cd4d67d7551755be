// Loads the configured sinks and reads their URLs, secrets and certificates from files, or returns the problems.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../base/message-of.js'
import { readText } from '../../config/load-config.js'
import type { Problem, Refused } from '../../config/problem.js'
import { readSinkFile, urlProblems, type Sink } from './sink-file.js'
import { readKeyFile } from '../../app/read-key-file.js'

type ConfiguredSink = {
  readonly sink: Sink
  readonly url: URL
  /** Empty without a secret. */
  readonly secret: string
  readonly ca?: string
}

export const loadSinks = (paths: readonly string[]): readonly ConfiguredSink[] | Refused => {
  const problems: Problem[] = []
  const ids = new Set<string>()
  const loaded = paths.flatMap((path, at) => {
    const setting = `notify.sinks.${at}`
    return filesOf(path, setting, problems).flatMap((file) => {
      const sink = loadSink(file, setting, problems)
      if (sink && ids.has(sink.sink.id))
        problems.push({ setting, message: `has two sinks with the id ${sink.sink.id}`, where: file })
      if (sink) ids.add(sink.sink.id)
      return sink ?? []
    })
  })
  return problems.length > 0 ? { problems } : loaded
}

export const sinkProblems = (paths: readonly string[]): readonly Problem[] => {
  const sinks = loadSinks(paths)
  return 'problems' in sinks ? sinks.problems : []
}

const filesOf = (path: string, setting: string, problems: Problem[]): readonly string[] => {
  try {
    if (!statSync(path).isDirectory()) return [path]
    const found = readdirSync(path)
      .filter((name) => /\.ya?ml$/i.test(name))
      .toSorted()
    if (found.length === 0) problems.push({ setting, message: `is a folder without a sink (.yaml): ${path}` })
    return found.map((name) => join(path, name))
  } catch (error) {
    problems.push({ setting, message: `cannot be read: ${messageOf(error)}` })
    return []
  }
}

const loadSink = (file: string, setting: string, problems: Problem[]): ConfiguredSink | undefined => {
  const before = problems.length
  const wrong = (message: string): void => void problems.push({ setting, message, where: file })
  try {
    const read = readSinkFile({ name: file, text: readText(file) })
    if ('problems' in read) {
      for (const problem of read.problems)
        problems.push({ setting, message: `${problem.setting} ${problem.message}`, where: problem.where ?? file })
      return undefined
    }
    const { sink, hasUrl } = read
    if (!hasUrl) wrong('has no url or urlFile')
    const url = sink.url ?? oneLine(sink.urlFile, 'urlFile', wrong)
    // The content may be a secret, so messages never show it.
    if (sink.urlFile !== undefined && url !== '')
      for (const message of urlProblems(url, sink.allowHttp)) wrong(`urlFile names a file whose URL ${message}`)
    const secret = oneLine(sink.secretFile, 'secretFile', wrong)
    const ca = sink.caFile === undefined ? undefined : readFileSync(sink.caFile, 'utf8')
    if (ca !== undefined && !ca.includes('-----BEGIN ')) wrong('caFile contains no PEM certificate')
    return problems.length > before ? undefined : { sink, url: new URL(url), secret, ...(ca !== undefined && { ca }) }
  } catch (error) {
    wrong(`cannot be read: ${messageOf(error)}`)
    return undefined
  }
}

const oneLine = (file: string | undefined, name: string, wrong: (message: string) => void): string => {
  const read = file === undefined ? { key: '' } : readKeyFile(file)
  if ('key' in read) return read.key
  wrong(`${name} ${read.problem}`)
  return ''
}
