// Deliberate mistakes in the program, to check that the simulation detects them.
type Edit = {
  /** A part of the source, in any file and with any line breaks: see `make-mistake.ts`. */
  readonly find: string
  readonly replace: string
}

export type Mistake = {
  readonly name: string
  readonly edits: readonly Edit[]
  /** Options that select the seeds. */
  readonly options?: readonly string[]
}

const one = (name: string, find: string, replace: string): Mistake => ({ name, edits: [{ find, replace }] })

const ofReplay = (name: string, find: string, replace: string): Mistake => ({
  ...one(`replay: ${name}`, find, replace),
  options: ['--replays'],
})

const ofGateways = (name: string, find: string, replace: string): Mistake => ({
  ...one(`gateways: ${name}`, find, replace),
  options: ['--gateways'],
})

export const mistakes: readonly Mistake[] = [
  one(
    'the offset moves before the acknowledgement',
    '        await deliver(chunk.items.flat(), sender.send, form, chunk.again)\n',
    '        fetched.resolve(chunk.last, metadata)\n        await fetched.commit()\n        await deliver(chunk.items.flat(), sender.send, form, chunk.again)\n',
  ),
  one(
    'what was suppressed is said only if another alert follows',
    '        return [...some.map(recordOf), ...(kept?.whole(draft) ?? [])]\n',
    '        return kept?.whole(draft) ?? []\n',
  ),
  one(
    'the windows of alerts are not known after a handover',
    '      windows.restore(found)\n',
    '      windows.restore(found.slice(0, 0))\n',
  ),
  {
    name: 'windows are read from the last chunk on after a handover',
    edits: [
      { find: 'const slackMs = 60_000', replace: 'const slackMs = 0' },
      { find: 'const [oldest = now()] = writtenAt.values()', replace: 'const oldest = now()' },
    ],
  },
  one('what a chunk has added counts again after a handover', ' || upTo <= window.upTo) continue', ') continue'),
  one('an alert that was aborted suppresses others', '          if (group && !window.held) drop(group, window)\n', ''),
  one(
    'what chunks have added is deleted before their windows are written whole',
    'some.map(windowRecord), ...deleted',
    'some.slice(1).map(windowRecord), ...deleted',
  ),
  one(
    'what was awaited is told once more by a retro alert',
    "verdict?.level === 'malicious' ? 0 : bit",
    "verdict?.level === 'malicious' ? bit : bit",
  ),
  one(
    'a rule that has fired for one indicator of an event is silent about another one that is answered late',
    "  ownText(`${rule.id} ${candidate.value ?? ''}`)",
    "  ownText(rule.id + (candidate.value ?? '').slice(0, 0))",
  ),
  one(
    'what a late alert has told is not known after a handover',
    '        const accused = events.flatMap(lateAccusedOf)\n',
    '        const accused = events.slice(0, 0).flatMap(lateAccusedOf)\n',
  ),
  one(
    'what a spent budget left is bought after a restart',
    'isFree: isLeftByBudget(event)',
    'isFree: isLeftByBudget(event) && false',
  ),
  one(
    'an entry for one port of an address accuses every port',
    'own === 0 || own === port || port === anyPort',
    'own >= 0 || port === anyPort',
  ),
  one(
    'no ports are counted',
    'if (isNew && port > 0) table.addPort(row, port)',
    'if (isNew && port < 0) table.addPort(row, port)',
  ),
  one('what is paid for after a pause is not shared', '    flushing = undefined\n', ''),
  one('a partition is claimed without a seek to what is committed', '    assigned.seek(offset)\n', ''),
  {
    ...one(
      'a position is read that a transaction in progress is about to change',
      'request((cluster) => settledOffsets(',
      'request((cluster) => committedOffsets(',
    ),
    // A coordinator returns the previous offsets for some milliseconds; few seeds ask in that time.
    options: ['--found'],
  },
  one(
    'a producer does not fence the one before it',
    '  `${prefix}-${groupId}-${topic}-${partition}`',
    '  `${prefix}-${groupId}-${topic}-${partition}-${Math.random()}`',
  ),
  {
    name: 'a transaction that failed is used on',
    edits: [
      {
        find: '    transactions.leave(owned)\n    if (error instanceof FatalKafkaError)',
        replace: '    if (error instanceof FatalKafkaError)',
      },
      { find: '      leave(owned)\n      settled(false)\n', replace: '      settled(false)\n' },
      { find: '    doubt = { commit: next, settled }\n', replace: '' },
      { find: '      leave(owned)\n      throw error', replace: '      throw error' },
    ],
  },
  one(
    'what follows an event is noted before its transaction is committed',
    '      await transaction.commit()\n      doubt = undefined\n      counted(next, topicId, settled)\n',
    '      counted(next, topicId, settled)\n      await transaction.commit()\n      doubt = undefined\n',
  ),
  one(
    'offsets are not part of the transaction',
    '      await transaction.sendOffsets({\n        consumerGroupId: settings.groupId,',
    '      if (Math.random() < 0.9) await transaction.sendOffsets({\n        consumerGroupId: settings.groupId,',
  ),
  one(
    'a commit that was not answered is taken for one that did not count',
    'open && areSameCommit(commit, open.commit)',
    'open && count < 0',
  ),
  one(
    'a commit does not say which write it belongs to',
    'metadataOf(topicId, { owner, n: count + 1 }, beside)',
    'metadataOf(topicId, { owner, n: 1 }, beside)',
  ),
  one(
    'what a broker refused is forgotten at every claim',
    '    open?.settled(false)\n    known = { commit, topicId }',
    '    open?.settled(false)\n    Object.assign(refusals, noRefusals())\n    known = { commit, topicId }',
  ),
  one(
    'a claim is kept through a join',
    'claimed?.generation === assigned.generation ? claimed :',
    'claimed ? claimed :',
  ),
  one(
    "another process's commit is taken for the last one of this task",
    "return !before || areSameCommit(commit, before.commit) ? undefined : 'lost'",
    'return undefined',
  ),
  one('a task is used after it was closed', 'open.delete(name)\n    closing.set(', 'closing.set('),
  {
    ...one(
      'the write of a lost task goes on when the process has ended',
      '[...open.values(), ...closing.keys()].map(',
      '[...open.values()].map(',
    ),
    options: ['--found'],
  },
  one(
    "the topic's id is ignored at the join (item 3)",
    'if (isOfFormerTopic(isCommitted ? metadata : null, topicId, readIn)) {',
    'if (false as boolean) {',
  ),
  one(
    'a partition that was acknowledged is sent again (item 1)',
    'const pending = batches.filter(({ isAcknowledged }) => !isAcknowledged)',
    'const pending = batches\n      for (const batch of batches) batch.firstSequence = eosManager.getSequence(batch.topic, batch.partition)',
  ),
  one(
    'sequence numbers are used again',
    'eosManager.updateSequence(topic, partition, sequenceAfter(firstSequence, messages.length) - firstSequence)',
    'void [topic, partition, firstSequence, messages]',
  ),
  one(
    'chunks are sent in another order',
    'for (const part of split(items, form.max)) await deliverPart(part, send, form, again)',
    'for (const part of [...split(items.toReversed(), form.max)]) await deliverPart(part, send, form, again)',
  ),
  {
    name: 'a refused membership ends no wait (item 2)',
    edits: [
      {
        find: '      for (const reject of waiting) reject(cause)\n      waiting.clear()\n',
        replace: '',
      },
      {
        find: '        if (ended) reject(ended)\n        else waiting',
        replace: '        waiting',
      },
    ],
  },
  one(
    'what fired is noted only for the member that waits (item 5)',
    'if (fired && firings.length > 0)',
    'if (fired && firings.length > 0 && one.judged.some((row) => row.late !== undefined))',
  ),
  one(
    'no mark of counts means that there is nothing to read (item 6)',
    'Math.max(counted ?? began, until - maxAgain)',
    'Math.max(counted ?? until, until - maxAgain)',
  ),
  {
    name: 'late answers wait four times an outage (item 7)',
    edits: [
      { find: 'const began = reachableMs()\n const isFollowed', replace: 'const began = now()\n const isFollowed' },
      {
        find: 'isFollowed ? Math.min(maxPauseMs, Math.max(gatherMs, 4 * (reachableMs() - began))) : againMs',
        replace: 'Math.max(isFollowed ? gatherMs : againMs, 4 * (now() - began))',
      },
    ],
  },
  one(
    'notes of the former owner are not read at the join',
    'const former = blocks\n',
    'const former = blocks\n      .slice(0, 0)\n',
  ),
  one('what was settled stays noted in the topic', 'notes.blocksAfter(settled, open)', 'notes.blocksAfter([], open)'),
  one(
    'tombstones are dropped',
    "if (event === undefined) return step === 'whole' ? write(null, headers) : undefined",
    "if (event === undefined) return step === 'whole' ? write(Buffer.from('{\"n\":-1}'), headers) : undefined",
  ),
  one(
    'records of aborted transactions are read',
    'export const dropAborted',
    'export const dropAborted = ({ messages }: { messages: readonly unknown[] }): readonly unknown[] => messages\nexport const unused',
  ),
  one(
    'a failed lookup counts as an answer',
    'if (later === undefined || reason === undefined || !passes(reason)) return judged',
    'return judged',
  ),
  {
    name: 'an answer that arrives between annotation and commit is forgotten',
    edits: [
      {
        find: '      let unawaited = 0\n',
        replace: '      let unawaited = 0\n      const arrived = new Set<unknown>()\n',
      },
      {
        find: '          if (awaited.length > 0) notes.push(',
        replace:
          '          for (const one of awaited) void one.then(() => arrived.add(one))\n          if (awaited.length > 0) notes.push(',
      },
      {
        find: 'followUp.note(some, id)',
        replace: 'followUp.note(some.filter(({ awaited }) => !awaited.every((one) => arrived.has(one))), id)',
      },
    ],
  },
  one(
    'what was counted before a kill is counted again',
    'if (before > 0 && away <= get(row, lastOffset)) return false',
    'if (before > 0 && away < 0) return false',
  ),
  one(
    'complete mode does not wait for answers',
    'isComplete ? throughOutages(goesOn) : events',
    'isComplete ? live : events',
  ),
  one(
    'a replay does not wait for answers',
    "const wait = mode === 'complete' ? waits.complete : waits.live",
    'const wait = waits.live',
  ),
  one(
    'lookups in flight are not joined',
    'export const coalesce',
    'export const coalesce = (): ((inner: never) => never) => (inner) => inner\nexport const unused',
  ),
  ofReplay(
    'the position is kept before the acknowledgement',
    '      await task.deliver(fetched(records), state)\n',
    '      await reader.commit(groupId, topic, [{ partition, offset: Number(records.at(-1)?.readTo) + 1, metadata: JSON.stringify({ topic_id: plan.topicId }) }])\n      await task.deliver(fetched(records), state)\n',
  ),
  ofReplay(
    'what is continued begins at the start again',
    'String(Math.max(range.start, committed?.offset ?? range.start))',
    'String(range.start)',
  ),
  ofReplay(
    'a second process does not fence the first',
    'claimTransactions(kafka, { prefix, groupId, topic, partition })',
    'claimTransactions(kafka, { prefix: `${prefix}${Math.random()}`, groupId, topic, partition })',
  ),
  ofReplay('the range is resolved at every start', 'if (before.length === 0) {', 'if (before.length >= 0) {'),
  ofReplay(
    'counts begin anew when it is continued',
    "state.restore(decodeTally(committed?.metadata ?? ''))",
    "state.restore(decodeTally(''))",
  ),
  ofGateways(
    'the next one does not wait for calls of the one before',
    'othersEnded = pause(sessionMs + callMs)',
    'othersEnded = pause(0)',
  ),
  ofGateways(
    'the wait is forgotten where the claim is repeated',
    '    await othersEnded\n',
    '    if (former?.caller !== id) await othersEnded\n',
  ),
  ofGateways(
    'it goes on calling after its session',
    'return isProved() ? counted().check(now) :',
    'return now > 0 ? counted().check(now) :',
  ),
  {
    name: 'gateways: it says that it has ended while calls are in flight',
    edits: [
      { find: '    if (inFlight > 0)\n', replace: '    if (inFlight < 0)\n' },
      {
        find: '    if (inFlight > 0 || term?.claim !== claim) return\n',
        replace: '',
      },
    ],
    options: ['--gateways'],
  },
  ofGateways('what the one before has reserved is not counted', 'before: reserved,', 'before: undefined,'),
]
