// Settings that there were, each with what to do instead: a configuration that still has one is refused, because it expects an effect that it no longer has.
import { isObject } from '../base/json-object.js'
import { environmentName } from './environment-name.js'
import type { Problem } from './problem.js'

const inTheTable = 'put it into the file that intel.table names; examples/judgement.yaml shows the built-in table'
const followsProvider = 'leave it out; pauses and the circuit breaker follow what the provider answers'
const followsFailures = 'leave it out; an indicator cools down from 30 seconds to an hour, and a day after wrong input'
const fixedTimeout =
  'leave it out; a call is given up after 30 seconds, and events wait no longer than enrich.deadlineMs'
const fixedAnswer = 'leave it out; an answer may have 4 MB and 32 levels'
const inKeysFile = 'give the key a plan in serve.keysFile; `threatweave serve --new-key NAME` makes an entry'
const fixedScan = 'leave it out; scans have bounds of their own, and serve.scan.enabled allows them'
const fixedChunk = 'leave it out; chunks and batches have sizes that fit every topic'

/** By name; an entry also stands for everything below it. */
export const removed: Readonly<Record<string, string>> = {
  'admit.maxWaiting': 'leave it out; ten thousand lookups may wait, and intel.service.concurrency makes them fewer',
  'admit.callTimeoutMs': fixedTimeout,
  'admit.pauseMs': followsProvider,
  'admit.maxPauseMs': followsProvider,
  'admit.breakerFailures': followsProvider,
  'admit.breakerMs': followsProvider,
  'admit.maxBreakerMs': followsProvider,
  'admit.stopMs': followsProvider,
  'admit.retry':
    'leave it out; a call is repeated twice at most, and admit.perHour and admit.perDay bound what is sent',
  'alerts.enabled': 'leave kafka.alertsTopic empty, and no rule is evaluated',
  'extract.fields':
    'write a log format that names these fields, and list its file in extract.formats (docs/formats.md)',
  'extract.maxIndicators': 'leave it out; 64 indicators are taken from an event, known fields first',
  'extract.maxEventBytes': 'leave it out; the first megabyte of an event is searched, and all of it comes out',
  'extract.maxDepth': 'leave it out; objects and lists are followed 64 levels deep',
  'feeds[].format': 'leave it out; a feed is known by its content',
  'feeds[].columns': 'leave it out; columns are known by their names and by what is in them (docs/feeds.md)',
  'feeds[].onBadEntry': 'leave it out; entries that would accuse too much are skipped and logged',
  'intel.service.connectTimeoutMs': fixedTimeout,
  'intel.service.headersTimeoutMs': fixedTimeout,
  'intel.service.bodyTimeoutMs': fixedTimeout,
  'intel.service.maxAnswerBytes': fixedAnswer,
  'intel.service.maxAnswerDepth': fixedAnswer,
  'intel.table.rows': inTheTable,
  'intel.table.categories': inTheTable,
  'intel.table.evidenceDays': inTheTable,
  'intel.table.phishingProbability': inTheTable,
  'intel.table.newbornDays': inTheTable,
  'intel.table.dgaScore': inTheTable,
  'intel.table.signs': inTheTable,
  'intel.domain.maxAgeDays': inTheTable,
  'intel.domain.scanPollMs': 'leave it out; a running scan is asked about every 15 seconds',
  'kafka.transactionalIdPrefix': 'set kafka.clientId; transactional ids are <clientId>-<groupId>-<topic>-<partition>',
  'kafka.limits.chunkEvents': fixedChunk,
  'kafka.limits.chunkBytes': fixedChunk,
  'kafka.limits.sendBytes': fixedChunk,
  'kafka.limits.chunkDeadlineMs': 'leave it out; a chunk that is stuck for two minutes ends the process',
  'kafka.limits.behindEvents':
    'leave it out; more than 5,000 unread events are a backlog, and enrich.catchUpShare counts',
  'kafka.limits.concurrentPartitions': 'leave it out; eight partitions are worked on side by side in each process',
  'kafka.limits.refreshMs': 'leave it out; new topics and partitions are found within a minute',
  'memory.maxBytes': 'set memory.maxEntries; the folder may hold 256 MB for every 100,000 findings',
  'memory.freshSeconds.suspicious': 'set memory.freshSeconds.malicious; suspicious findings live half as long',
  'memory.freshSeconds.noVerdict': 'set memory.freshSeconds.clean; findings without a verdict live half as long',
  'memory.staleSeconds': 'set memory.freshSeconds.malicious; bad news is used, marked stale, for seven lives more',
  'memory.jitter': 'leave it out; lives are shortened by up to a tenth',
  'memory.refreshAhead': 'leave it out; what is still asked for is fetched anew in the last tenth of its life',
  'memory.cooldown': followsFailures,
  'serve.plan': inKeysFile,
  'serve.maxAnswers': 'set memory.maxEntries; a gateway keeps one answer for every five of them',
  'serve.maxRows': 'leave it out; each index of serve.data holds half a million rows',
  'serve.scan.atOnce': fixedScan,
  'serve.scan.timeoutMs': fixedScan,
  'serve.scan.totalMs': fixedScan,
  'serve.scan.maxBytes': fixedScan,
  'serve.scan.maxRedirects': fixedScan,
}

const names = Object.keys(removed)
const adviceFor = (name: string): string => `is no longer a setting: ${removed[name] ?? ''}`

/** Problems for each setting at or below `path` that there was; none where there was none. */
export const removedBelow = (path: readonly string[], value: unknown): readonly Problem[] => {
  const former = path.join('.').replace(/^feeds\.\d+/, 'feeds[]')
  const name = names.find((one) => former === one || former.startsWith(`${one}.`))
  const isSection = name !== undefined || names.some((one) => one.startsWith(`${former}.`))
  if (isSection && isObject(value) && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([below, inner]) => removedBelow([...path, below], inner))
  return name === undefined ? [] : [{ setting: path.join('.'), message: adviceFor(name) }]
}

/** What to do instead of a variable that was one of a setting; nothing where it was not. */
export const removedVariable = (variable: string): string | undefined => {
  const name = names.find((one) => {
    const former = environmentName(one.split('.'))
    return variable === former || variable.startsWith(`${former}_`)
  })
  return name === undefined ? undefined : adviceFor(name)
}
