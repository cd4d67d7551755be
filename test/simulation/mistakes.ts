// Deliberate mistakes in the program, to see that the simulation can fail: `npm run simulate:mistakes` puts in one after the other, in memory only, and
// shows the first seed that breaks a promise with it.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

type Edit = { readonly file: string; readonly find: string; readonly replace: string }
type Mistake = {
  readonly name: string
  readonly edits: readonly Edit[]
  /** Which of the seeds. */
  readonly options?: readonly string[]
}

const one = (name: string, file: string, find: string, replace: string): Mistake => ({
  name,
  edits: [{ file: `src/${file}`, find, replace }],
})

const ofReplay = (name: string, file: string, find: string, replace: string): Mistake => ({
  ...one(`replay: ${name}`, `replay/${file}`, find, replace),
  options: ['--replays'],
})

const ofGateways = (name: string, file: string, find: string, replace: string): Mistake => ({
  ...one(`gateways: ${name}`, `election/${file}`, find, replace),
  options: ['--gateways'],
})

const mistakes: readonly Mistake[] = [
  one(
    'the offset moves before the acknowledgement',
    'delivery/acknowledged.ts',
    '        await deliver(chunk.items.flat(), sender.send, form, chunk.again)\n',
    '        fetched.resolve(chunk.last, metadata)\n        await fetched.commit()\n        await deliver(chunk.items.flat(), sender.send, form, chunk.again)\n',
  ),
  one(
    'what was suppressed is said only if another alert follows',
    'follow-up/alert-updates.ts',
    '    waiting.push(...suppressed.takeDue(all))\n',
    '    suppressed.takeDue(all)\n',
  ),
  one(
    'what was awaited is told once more by a retro alert',
    'follow-up/sighting-counts.ts',
    "verdict?.level === 'malicious' ? 0 : bit",
    "verdict?.level === 'malicious' ? bit : bit",
  ),
  one(
    'a rule that has fired for one indicator of an event is silent about another one that is answered late',
    'alerts/choose-matches.ts',
    "  ownText(`${rule.id} ${candidate.value ?? ''}`)",
    "  ownText(rule.id + (candidate.value ?? '').slice(0, 0))",
  ),
  one('what is paid for after a pause is not shared', 'verdicts/append-verdicts.ts', '    flushing = undefined\n', ''),
  one(
    'a partition is claimed without a seek to what is committed',
    'delivery/claimed-partition.ts',
    '    assigned.seek(offset)\n',
    '',
  ),
  one(
    'a producer does not fence the one before it',
    'kafka/producers.ts',
    '  `${prefix}-${groupId}-${topic}-${partition}`',
    '  `${prefix}-${groupId}-${topic}-${partition}-${Math.random()}`',
  ),
  {
    name: 'a transaction that failed is used on',
    edits: [
      {
        file: 'src/delivery/transactional.ts',
        find: '        if (partition.claim === owned) retire(partition)\n        if (error instanceof FatalKafkaError)',
        replace: '        if (error instanceof FatalKafkaError)',
      },
      {
        file: 'src/delivery/claimed-partition.ts',
        find: '      if (partition.claim === owned) retire(partition)\n      throw error',
        replace: '      throw error',
      },
    ],
  },
  one(
    'what follows an event is noted before its transaction is committed',
    'delivery/transactional.ts',
    '  await owned.transaction.commit()\n  partition.unsure = undefined\n  for (const { listener } of sent) listener?.committed()\n',
    '  for (const { listener } of sent) listener?.committed()\n  await owned.transaction.commit()\n  partition.unsure = undefined\n',
  ),
  one(
    'offsets are not part of the transaction',
    'delivery/transactional.ts',
    '  await owned.transaction.sendOffsets({',
    '  if (Math.random() < 0.9) await owned.transaction.sendOffsets({',
  ),
  one(
    "the topic's id is ignored at the join (item 3)",
    'kafka/starting-offsets.ts',
    'if (isOfFormerTopic(isCommitted ? metadata : null, topicId, readIn.get(name))) {',
    'if (false as boolean) {',
  ),
  one(
    'a partition that was acknowledged is sent again (item 1)',
    'kafka/patched-kafkajs/send-messages.ts',
    'const pending = batches.filter(({ isAcknowledged }) => !isAcknowledged)',
    'const pending = batches\n      for (const batch of batches) batch.firstSequence = eosManager.getSequence(batch.topic, batch.partition)',
  ),
  one(
    'sequence numbers are used again',
    'kafka/patched-kafkajs/send-messages.ts',
    'eosManager.updateSequence(topic, partition, sequenceAfter(firstSequence, messages.length) - firstSequence)',
    'void [topic, partition, firstSequence, messages]',
  ),
  one(
    'chunks are sent in another order',
    'delivery/deliver.ts',
    'for (const part of split(items, form.max)) await deliverPart(part, send, form, again)',
    'for (const part of [...split(items.toReversed(), form.max)]) await deliverPart(part, send, form, again)',
  ),
  {
    name: 'a refused membership ends no wait (item 2)',
    edits: [
      {
        file: 'src/kafka/membership.ts',
        find: '      for (const reject of waiting) reject(cause)\n      waiting.clear()\n',
        replace: '',
      },
      {
        file: 'src/kafka/membership.ts',
        find: '        if (ended) reject(ended)\n        else waiting',
        replace: '        waiting',
      },
    ],
  },
  one(
    'what fired is noted only for the member that waits (item 5)',
    'alerts/open-alerts.ts',
    'if (fired && firings.length > 0)',
    'if (fired && firings.length > 0 && one.judged.some((row) => row.late !== undefined))',
  ),
  one(
    'no mark of counts means that there is nothing to read (item 6)',
    'follow-up/restore-counts.ts',
    'Math.max(counted ?? began, until - maxAgain)',
    'Math.max(counted ?? until, until - maxAgain)',
  ),
  {
    name: 'late answers wait four times an outage (item 7)',
    edits: [
      { file: 'src/follow-up/follow-late.ts', find: 'const began = reachableMs()', replace: 'const began = now()' },
      {
        file: 'src/follow-up/follow-late.ts',
        find: 'isFollowed ? Math.min(maxPauseMs, Math.max(gatherMs, 4 * (reachableMs() - began))) : againMs',
        replace: 'Math.max(isFollowed ? gatherMs : againMs, 4 * (now() - began))',
      },
    ],
  },
  one(
    'notes of the former owner are not read at the join',
    'follow-up/late-answers.ts',
    'const former = blocks\n',
    'const former = blocks\n      .slice(0, 0)\n',
  ),
  one(
    'what was settled stays noted in the topic',
    'follow-up/follow-late.ts',
    'for (const block of pending.blocksAfter(name, settled, open))',
    'for (const block of pending.blocksAfter(name, [], open))',
  ),
  one(
    'tombstones are dropped',
    'delivery/compose.ts',
    "if (event === undefined) return step === 'whole' ? write(null, headers) : undefined",
    "if (event === undefined) return step === 'whole' ? write(Buffer.from('{\"n\":-1}'), headers) : undefined",
  ),
  one(
    'records of aborted transactions are read',
    'kafka/patched-kafkajs/drop-aborted.ts',
    'export const dropAborted',
    'export const dropAborted = ({ messages }: { messages: readonly unknown[] }): readonly unknown[] => messages\nexport const unused',
  ),
  one(
    'a failed lookup counts as an answer',
    'pipeline/enrich/enrich.ts',
    'if (later === undefined || reason === undefined || !passes(reason)) return judged',
    'return judged',
  ),
  {
    name: 'an answer that arrives between annotation and commit is forgotten',
    edits: [
      {
        file: 'src/follow-up/late-answers.ts',
        find: '      let unawaited = 0\n',
        replace: '      let unawaited = 0\n      const arrived = new Set<unknown>()\n',
      },
      {
        file: 'src/follow-up/late-answers.ts',
        find: '          if (awaited.length > 0) notes.push(',
        replace:
          '          for (const one of awaited) void one.then(() => arrived.add(one))\n          if (awaited.length > 0) notes.push(',
      },
      {
        file: 'src/follow-up/late-answers.ts',
        find: 'followUp.note({ topic, partition }, topicId, some, id)',
        replace:
          'followUp.note({ topic, partition }, topicId, some.filter(({ awaited }) => !awaited.every((one) => arrived.has(one))), id)',
      },
    ],
  },
  one(
    'what was counted before a kill is counted again',
    'follow-up/day-table.ts',
    'if (before > 0 && away <= get(row, lastOffset)) return false',
    'if (before > 0 && away < 0) return false',
  ),
  one(
    'complete mode does not wait for answers',
    'app/run-alone.ts',
    'isComplete ? throughOutages(goesOn) : events',
    'isComplete ? live : events',
  ),
  one(
    'a replay does not wait for answers',
    'app/open-app.ts',
    "const wait = mode === 'complete' ? waits.complete : waits.live",
    'const wait = waits.live',
  ),
  one(
    'lookups in flight are not joined',
    'lookup/coalesce.ts',
    'export const coalesce',
    'export const coalesce = (): ((inner: never) => never) => (inner) => inner\nexport const unused',
  ),
  ofReplay(
    'the position is kept before the acknowledgement',
    'partition-output.ts',
    '      await deliver(items, sender.send, form, again)\n',
    '      await reader.commit(groupId, topic, [position])\n      await deliver(items, sender.send, form, again)\n',
  ),
  ofReplay(
    'what is continued begins at the start again',
    'replay.ts',
    'position = Math.max(range.start, committed?.offset ?? range.start)',
    'position = range.start',
  ),
  ofReplay(
    'a second process does not fence the first',
    'partition-output.ts',
    'claimTransactions(kafka, { prefix, groupId, topic, partition }))',
    'claimTransactions(kafka, { prefix: `${prefix}${Math.random()}`, groupId, topic, partition }))',
  ),
  ofReplay(
    'the position is not part of the transaction',
    'partition-output.ts',
    'await current.sendOffsets({',
    'if (Math.random() < 0.7) await current.sendOffsets({',
  ),
  ofReplay(
    'the range is resolved at every start',
    'plan.ts',
    'if (before.length === 0) {',
    'if (before.length >= 0) {',
  ),
  ofReplay(
    'counts begin anew when it is continued',
    'replay.ts',
    "tally = decodeTally(committed?.metadata ?? '')",
    'tally = emptyTally',
  ),
  ofGateways(
    'the next one does not wait for calls of the one before',
    'election.ts',
    'othersEnded = pause(sessionMs + callMs)',
    'othersEnded = pause(0)',
  ),
  ofGateways(
    'the wait is forgotten where the claim is repeated',
    'election.ts',
    '    await othersEnded\n',
    '    if (former?.caller !== id) await othersEnded\n',
  ),
  ofGateways(
    'it goes on calling after its session',
    'election.ts',
    'return isProved() ? counted().check(now) :',
    'return now > 0 ? counted().check(now) :',
  ),
  {
    name: 'gateways: it says that it has ended while calls are in flight',
    edits: [
      { file: 'src/election/election.ts', find: '    if (inFlight > 0)\n', replace: '    if (inFlight < 0)\n' },
      {
        file: 'src/election/election.ts',
        find: '    if (inFlight > 0 || term?.claim !== claim) return\n',
        replace: '',
      },
    ],
    options: ['--gateways'],
  },
  ofGateways(
    'what the one before has reserved is not counted',
    'election.ts',
    'before: reserved,',
    'before: undefined,',
  ),
]

const say = (line: string): void => void process.stdout.write(`${line}\n`)

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '2000' },
    only: { type: 'string' },
    step: { type: 'string', default: '25' },
    names: { type: 'boolean', default: false },
  },
})
for (const { name, edits } of mistakes)
  for (const { file, find } of edits)
    if (readFileSync(resolve(import.meta.dirname, '../..', file), 'utf8').split(find).length !== 2)
      throw new Error(`${name}: ${file} does not have exactly one ${find}`)
if (values.names) {
  for (const { name } of mistakes) say(name)
  process.exit(0)
}
const simulate = resolve(import.meta.dirname, 'simulate.ts')
const typescript = resolve(import.meta.dirname, 'typescript.mjs')
let [tried, uncaught] = [0, 0]
for (const { name, edits, options = [] } of mistakes) {
  if (values.only !== undefined && !name.includes(values.only)) continue
  tried++
  let caught: string | undefined
  const step = Number(values.step)
  for (let from = 1; caught === undefined && from <= Number(values.seeds); from += step) {
    const run = spawnSync(
      process.execPath,
      ['--import', typescript, simulate, '--from', String(from), '--seeds', String(step), '--first', ...options],
      {
        env: { ...process.env, SIMULATION_MISTAKE: JSON.stringify(edits) },
        encoding: 'utf8',
        timeout: step * 20_000,
        killSignal: 'SIGKILL',
      },
    )
    if (run.signal !== null) caught = `seeds from ${from}: does not come to an end`
    else if (run.status !== 0) {
      caught = /^seed .*\n.*/m.exec(run.stdout)?.[0].replace('\n', '')
      if (caught === undefined) throw new Error(`${name} could not be tried: ${run.stderr.slice(-1_000)}`)
    }
  }
  if (caught === undefined) uncaught++
  say(`${caught === undefined ? 'NOT CAUGHT' : 'caught'}: ${name}: ${caught ?? ''}`)
}
say(`${tried - uncaught} passed, ${uncaught} failed`)
process.exitCode = uncaught === 0 ? 0 : 1
