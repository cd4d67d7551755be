// Answers within transactions: visibility before and after markers, fencing, and valid orders of requests.
import { batchHead, latest, readCommitted, readRecords, splitBatches } from '../wire.js'
import { longMs, only, type Client, type Committed, type Fetched, type Producer } from './client.js'
import type { Scenario } from './scenario.js'

export const transactionScenarios: readonly Scenario[] = [
  {
    title: 'what readers see before and after each marker',
    run: async (client, step) => {
      const topic = await client.topic('markers')
      const a = await open(client, 'a')
      const b = await open(client, 'b')
      const see = async (offset: number, isolation?: number): Promise<Seen> =>
        seen(await client.fetch(topic, offset, isolation === undefined ? {} : { isolation }))
      const committed = (offset: number): Promise<Seen> => see(offset, readCommitted)

      await step('a partition joins the transaction', ['NONE'], client.addToTransaction(a.id, a, topic))
      await step('alone it holds nobody back', { high: 0, stable: 0, aborted: [], batches: [] }, committed(0))
      await step('records of a', 0, a.write(topic, 0, 2))
      await step('hold back the stable offset', { high: 2, stable: 0, aborted: [], batches: [] }, committed(0))
      await step('and are there', { high: 2, stable: 0, aborted: null, batches: ['0-1'] }, see(0))
      await step(
        'records of nobody',
        2,
        client.produce(topic, { count: 2 }).then(({ offset }) => offset),
      )
      await step('are held back too', { high: 4, stable: 0, aborted: [], batches: [] }, committed(0))
      await client.addToTransaction(b.id, b, topic)
      await step('records of b', 4, b.write(topic, 0, 1))
      await step('records of a', 5, a.write(topic, 2, 1))
      await step('in the middle, committed', { high: 6, stable: 0, aborted: [], batches: [] }, committed(3))
      await step(
        'latest, committed',
        0,
        client.offsetAt(topic, 0, latest, readCommitted).then(({ offset }) => offset),
      )
      await step(
        'latest',
        6,
        client.offsetAt(topic, 0, latest).then(({ offset }) => offset),
      )

      await step('a aborts', 'NONE', client.end(a.id, a, 'abort'))
      await step(
        'the stable offset is where b began, and the abort is listed',
        { high: 7, stable: 4, aborted: [[a.producerId, 0]], batches: ['0-1', '2-3'] },
        () => committed(0),
      )
      await step(
        'from behind its records, too',
        { high: 7, stable: 4, aborted: [[a.producerId, 0]], batches: ['2-3'] },
        committed(2),
      )
      await step('at the stable offset', { high: 7, stable: 4, aborted: [], batches: [] }, committed(4))
      await step('behind it', { high: 7, stable: 4, aborted: [], batches: [] }, committed(6))
      await step(
        'uncommitted readers get no list',
        { high: 7, stable: 4, aborted: null, batches: ['0-1', '2-3', '4-4', '5-5', '6 abort'] },
        see(0),
      )
      await step(
        'latest, committed',
        4,
        client.offsetAt(topic, 0, latest, readCommitted).then(({ offset }) => offset),
      )

      await a.begin(topic)
      await step('the sequence goes on behind the abort', 7, a.write(topic, 3, 1))
      await step('b commits', 'NONE', client.end(b.id, b, 'commit'))
      await step(
        'the stable offset is where a began again',
        { high: 9, stable: 7, aborted: [[a.producerId, 0]], batches: ['0-1', '2-3', '4-4', '5-5', '6 abort'] },
        () => committed(0),
      )
      await step('a commits', 'NONE', client.end(a.id, a, 'commit'))
      await step(
        'all is stable',
        {
          high: 10,
          stable: 10,
          aborted: [[a.producerId, 0]],
          batches: ['0-1', '2-3', '4-4', '5-5', '6 abort', '7-7', '8 commit', '9 commit'],
        },
        () => committed(0),
      )
      await step(
        'behind the abort no list',
        { high: 10, stable: 10, aborted: [], batches: ['7-7', '8 commit', '9 commit'] },
        committed(7),
      )
      await step(
        'at the marker of the abort',
        { high: 10, stable: 10, aborted: [[a.producerId, 0]], batches: ['6 abort', '7-7', '8 commit', '9 commit'] },
        committed(6),
      )

      const markers = splitBatches(
        only(only((await client.fetchRaw(topic, [{ partition: 0, offset: 6 }])).topics).partitions).records!,
      ).filter((batch) => batchHead(batch).control)
      await step(
        'a marker has the epoch of its producer, no sequence, and is transactional',
        [
          [a.producerId, 0, -1, true, 1],
          [b.producerId, 0, -1, true, 1],
          [a.producerId, 0, -1, true, 1],
        ],
        markers.map((marker) => {
          const { producerId, producerEpoch, baseSequence, transactional, count } = batchHead(marker)
          return [producerId, producerEpoch, baseSequence, transactional, count]
        }),
      )
      await step(
        'and a key of four bytes and a value of six',
        ['00000000 000000000000', '00000001 000000000000', '00000001 000000000000'],
        markers.map((marker) => {
          const { key, value } = only(readRecords(marker))
          return `${key?.toString('hex')} ${value?.toString('hex')}`
        }),
      )
    },
  },
  {
    title: 'several aborted transactions in one partition',
    run: async (client, step) => {
      const topic = await client.topic('aborted')
      const a = await open(client, 'aborted-a')
      const b = await open(client, 'aborted-b')
      for (const producer of [a, b]) await client.addToTransaction(producer.id, producer, topic)
      await a.write(topic, 0, 1) // 0
      await b.write(topic, 0, 1) // 1
      await b.abort() // 2
      await step('the second aborts first', { high: 3, stable: 0, aborted: [], batches: [] }, () =>
        committed(client, topic, 0),
      )
      await a.write(topic, 1, 1) // 3
      await a.abort() // 4
      await step(
        'the list is in the order of the markers',
        {
          high: 5,
          stable: 5,
          aborted: [
            [b.producerId, 1],
            [a.producerId, 0],
          ],
          batches: ['0-0', '1-1', '2 abort', '3-3', '4 abort'],
        },
        () => committed(client, topic, 0),
      )
      await step(
        'from the last record',
        { high: 5, stable: 5, aborted: [[a.producerId, 0]], batches: ['3-3', '4 abort'] },
        committed(client, topic, 3),
      )
      await a.begin(topic)
      await a.write(topic, 2, 1) // 5
      await a.abort() // 6
      await step(
        'one producer twice',
        [
          [b.producerId, 1],
          [a.producerId, 0],
          [a.producerId, 5],
        ],
        () => committed(client, topic, 0).then(({ aborted }) => aborted),
      )
      await step(
        'none that ended before the fetched part',
        [[a.producerId, 5]],
        committed(client, topic, 5).then(({ aborted }) => aborted),
      )
      const { length } = client.batch({ ...a, transactional: true, baseSequence: 0 })
      const first = await client.fetchRaw(topic, [{ partition: 0, offset: 0, maxBytes: length }], {
        isolation: readCommitted,
      })
      await step(
        'those behind the fetched part are listed, too',
        [
          [b.producerId, 1],
          [a.producerId, 0],
          [a.producerId, 5],
        ],
        only(only(first.topics).partitions).abortedTransactions?.map(({ producerId, firstOffset }) => [
          producerId,
          firstOffset,
        ]),
      )
      await a.begin(topic)
      await a.write(topic, 3, 1) // 7
      await b.begin(topic)
      await b.write(topic, 1, 1) // 8
      await b.abort() // 9
      await step(
        'one that ends behind the stable offset',
        {
          high: 10,
          stable: 7,
          aborted: [
            [a.producerId, 5],
            [b.producerId, 8],
          ],
          batches: ['5-5', '6 abort'],
        },
        () => committed(client, topic, 5),
      )
    },
  },
  {
    title: 'a transaction over two partitions, one of them without records',
    run: async (client, step) => {
      const topic = await client.topic('two', { partitions: 2 })
      const a = await open(client, 'two')
      await step('both join', ['NONE', 'NONE'], client.addToTransaction(a.id, a, topic, [0, 1]))
      await step('joining twice changes nothing', ['NONE'], client.addToTransaction(a.id, a, topic, [1]))
      await a.write(topic, 0, 1)
      await step('it commits', 'NONE', client.end(a.id, a, 'commit'))
      await step('a marker where there are records', ['0-0', '1 commit'], () => batchesOf(client, topic, 0))
      await step('and where there are none', ['0 commit'], () => batchesOf(client, topic, 1))
      await step(
        'an unknown partition lets no other join',
        ['OPERATION_NOT_ATTEMPTED', 'UNKNOWN_TOPIC_OR_PARTITION'],
        () => client.addToTransaction(a.id, a, topic, [0, 9]).then((errors) => [...errors].sort()),
      )
      await step('and begins no transaction', 'NONE', () => client.end(a.id, a, 'commit'))
      await step('so no marker follows', ['0-0', '1 commit'], batchesOf(client, topic, 0))
    },
  },
  {
    title: 'ending a transaction twice, or none',
    run: async (client, step) => {
      const topic = await client.topic('end')
      const a = await open(client, 'end')
      await step('commit before any transaction', 'INVALID_TXN_STATE', client.end(a.id, a, 'commit'))
      await step('abort before any transaction', 'INVALID_TXN_STATE', client.end(a.id, a, 'abort'))
      await a.begin(topic)
      await a.write(topic, 0, 1)
      await step('commit', 'NONE', client.end(a.id, a, 'commit'))
      await step('commit again', 'NONE', () => client.end(a.id, a, 'commit'))
      await step('abort after the commit', 'INVALID_TXN_STATE', client.end(a.id, a, 'abort'))
      await a.begin(topic)
      await a.write(topic, 1, 1)
      await step('abort', 'NONE', client.end(a.id, a, 'abort'))
      await step('abort again', 'NONE', () => client.end(a.id, a, 'abort'))
      await step('commit after the abort', 'INVALID_TXN_STATE', client.end(a.id, a, 'commit'))
      await step('one marker for each', ['0-0', '1 commit', '2-2', '3 abort'], batchesOf(client, topic, 0))
      await a.begin(topic)
      await step('commit without records', 'NONE', client.end(a.id, a, 'commit'))
      await step('leaves a marker', ['0-0', '1 commit', '2-2', '3 abort', '4 commit'], () =>
        batchesOf(client, topic, 0),
      )
      await step(
        'another producer id',
        'INVALID_PRODUCER_ID_MAPPING',
        client.end(a.id, { ...a, producerId: a.producerId + 1_000_000 }, 'commit'),
      )
      await step(
        'an epoch that is not there yet',
        'INVALID_PRODUCER_EPOCH',
        client.end(a.id, { ...a, producerEpoch: 9 }, 'commit'),
      )
      await step(
        'an unknown transactional id',
        'INVALID_PRODUCER_ID_MAPPING',
        client.end(client.unique('nobody'), a, 'commit'),
      )
    },
  },
  {
    title: 'a transaction is open when its producer is initialised again',
    run: async (client, step) => {
      const topic = await client.topic('fenced')
      const groupId = await client.group('fenced')
      const a = await open(client, 'fenced')
      await a.begin(topic)
      await step('epoch of the first', 0, a.producerEpoch)
      await step('a record', 0, a.write(topic, 0, 1))
      await step(
        'the coordinator aborts first',
        'CONCURRENT_TRANSACTIONS',
        client.init(a.id).then(({ error }) => error),
      )
      const next = await client.initialised(a.id)
      await step('the same id', a.producerId, next.producerId)
      await step('with an epoch for the abort and one for the producer', 2, next.producerEpoch)
      await step('what was open is aborted', ['0-0', '1 abort'], () => batchesOf(client, topic, 0))
      const marker = splitBatches(
        only(only((await client.fetchRaw(topic, [{ partition: 0, offset: 1 }])).topics).partitions).records!,
      )
      await step(
        'with the epoch in between',
        [1],
        marker.map((batch) => batchHead(batch).producerEpoch),
      )
      await step(
        'the former cannot write',
        { error: 'INVALID_PRODUCER_EPOCH', offset: -1 },
        produceIn(client, a, topic, 1),
      )
      await step('nor let a partition join', ['INVALID_PRODUCER_EPOCH'], client.addToTransaction(a.id, a, topic))
      await step('nor offsets', 'INVALID_PRODUCER_EPOCH', client.addOffsets(a.id, a, groupId))
      await step('nor commit offsets', 'INVALID_PRODUCER_EPOCH', client.commitInTransaction(a.id, a, groupId, topic, 1))
      await step('nor commit', 'INVALID_PRODUCER_EPOCH', client.end(a.id, a, 'commit'))
      await step('nor abort', 'INVALID_PRODUCER_EPOCH', client.end(a.id, a, 'abort'))
      const b = { ...next, id: a.id }
      await step('the new one lets the partition join', ['NONE'], client.addToTransaction(b.id, b, topic))
      await step(
        'the former cannot write now either',
        { error: 'INVALID_PRODUCER_EPOCH', offset: -1 },
        produceIn(client, a, topic, 1),
      )
      await step(
        'the new one begins at sequence 0',
        { error: 'OUT_OF_ORDER_SEQUENCE_NUMBER', offset: -1 },
        produceIn(client, b, topic, 1),
      )
      await step('and writes', { error: 'NONE', offset: 2 }, produceIn(client, b, topic, 0))
      await step('and commits', 'NONE', client.end(b.id, b, 'commit'))
      await step(
        'committed readers can tell them apart',
        { high: 4, stable: 4, aborted: [[a.producerId, 0]], batches: ['0-0', '1 abort', '2-2', '3 commit'] },
        () => committed(client, topic, 0),
      )
    },
  },
  {
    title: 'a producer is initialised again with no transaction open',
    run: async (client, step) => {
      const topic = await client.topic('again')
      const a = await open(client, 'again')
      const b = await client.initialised(a.id)
      await step('the same id, the next epoch', [a.producerId, 1], [b.producerId, b.producerEpoch])
      await client.addToTransaction(a.id, b, topic)
      await client.produce(topic, { ...b, baseSequence: 0, transactionalId: a.id })
      await step('its transaction ends', 'NONE', client.end(a.id, b, 'commit'))
      const c = await client.initialised(a.id)
      await step('while or after it ends one epoch more', 2, c.producerEpoch)
      await step('and nothing is lost', ['0-0', '1 commit'], () => batchesOf(client, topic, 0))
      await step('the former cannot begin', ['INVALID_PRODUCER_EPOCH'], client.addToTransaction(a.id, b, topic))
      await step('nor end what is over', 'INVALID_PRODUCER_EPOCH', client.end(a.id, b, 'commit'))
      await step(
        'nor write',
        'INVALID_PRODUCER_EPOCH',
        produceIn(client, { ...b, id: a.id }, topic, 1).then(({ error }) => error),
      )
      await step(
        'no time at all for a transaction',
        'INVALID_TRANSACTION_TIMEOUT',
        client.init(a.id, 0).then(({ error }) => error),
      )
      await step(
        'more than the broker allows',
        'INVALID_TRANSACTION_TIMEOUT',
        client.init(a.id, 900_001).then(({ error }) => error),
      )
      await step(
        'no transactional id',
        'INVALID_REQUEST',
        client.init('').then(({ error }) => error),
      )
      await step('an unused id begins at epoch 0', 0, (await client.initialised(client.unique('fresh'))).producerEpoch)
    },
  },
  {
    title: 'records that belong to no transaction',
    run: async (client, step) => {
      const topic = await client.topic('outside', { partitions: 2 })
      const a = await open(client, 'outside')
      await step(
        'before the partition joined',
        { error: 'INVALID_TXN_STATE', offset: -1 },
        produceIn(client, a, topic, 0),
      )
      await a.begin(topic)
      await step(
        'in a partition that did not join',
        { error: 'INVALID_TXN_STATE', offset: -1 },
        produceIn(client, a, topic, 0, 1),
      )
      await step('in the one that did', { error: 'NONE', offset: 0 }, produceIn(client, a, topic, 0))
      await step('its repetition', { error: 'NONE', offset: 0 }, produceIn(client, a, topic, 0))
      await step('a gap', { error: 'OUT_OF_ORDER_SEQUENCE_NUMBER', offset: -1 }, produceIn(client, a, topic, 5))
      await step(
        'not transactional in a transaction',
        { error: 'INVALID_TXN_STATE', offset: -1 },
        client.produce(topic, { ...a, baseSequence: 1 }),
      )
      await a.commit()
      await step('the marker is written', ['0-0', '1 commit'], () => batchesOf(client, topic, 0))
      await step('after the end', { error: 'INVALID_TXN_STATE', offset: -1 }, () => produceIn(client, a, topic, 1))
      await step(
        'a repetition after the end',
        { error: 'INVALID_TXN_STATE', offset: -1 },
        produceIn(client, a, topic, 0),
      )
    },
  },
  {
    title: 'a transaction that lasts too long',
    run: async (client, step) => {
      const topic = await client.topic('late')
      const a = await open(client, 'late', 1_000)
      await a.begin(topic)
      await a.write(topic, 0, 1)
      await step('is aborted', ['0-0', '1 abort'], () => batchesOf(client, topic, 0))
      await step('and its producer fenced: it cannot commit', 'INVALID_PRODUCER_EPOCH', client.end(a.id, a, 'commit'))
      await step('nor let a partition join', ['INVALID_PRODUCER_EPOCH'], client.addToTransaction(a.id, a, topic))
      await step('nor write', { error: 'INVALID_PRODUCER_EPOCH', offset: -1 }, produceIn(client, a, topic, 1))
      const next = await client.initialised(a.id)
      await step('the next epoch but one', [a.producerId, 2], [next.producerId, next.producerEpoch])
    },
  },
  {
    title: 'offsets in a transaction',
    run: async (client, step) => {
      const topic = await client.topic('offsets')
      const groupId = await client.group('offsets')
      const a = await open(client, 'offsets')
      const offset = (): Promise<number> => client.committed(groupId, topic).then(({ offset }) => offset)
      const alone = { memberId: '', generationId: -1 }
      await step(
        'offsets before the group joined',
        'INVALID_TXN_STATE',
        client.commitInTransaction(a.id, a, groupId, topic, 1),
      )
      await step('the group joins', 'NONE', client.addOffsets(a.id, a, groupId))
      await step('offsets in the transaction', 'NONE', client.commitInTransaction(a.id, a, groupId, topic, 5, 'five'))
      await step(
        'are not seen while it is open',
        { error: 'NONE', offset: -1, metadata: '' },
        client.committed(groupId, topic),
      )
      await step('it aborts', 'NONE', client.end(a.id, a, 'abort'))
      await step('the next begins', 'NONE', () => client.addOffsets(a.id, a, groupId))
      await step('they are not there', -1, offset())
      await step('offsets again', 'NONE', client.commitInTransaction(a.id, a, groupId, topic, 7, 'seven'))
      await step('and again: the last counts', 'NONE', client.commitInTransaction(a.id, a, groupId, topic, 8, 'eight'))
      await step('it commits', 'NONE', client.end(a.id, a, 'commit'))
      await step('they are there, with their metadata', { error: 'NONE', offset: 8, metadata: 'eight' }, () =>
        client.committed(groupId, topic),
      )

      await step('the group joins', 'NONE', () => client.addOffsets(a.id, a, groupId))
      await step('an older offset', 'NONE', client.commitInTransaction(a.id, a, groupId, topic, 3))
      await step('meanwhile the former is read', 8, offset())
      await step('a commit outside, meanwhile', 'NONE', client.commit(groupId, alone, topic, 20))
      await step('is read', 20, offset())
      await step('the transaction commits', 'NONE', client.end(a.id, a, 'commit'))
      await step('and the next begins', 'NONE', () => client.addOffsets(a.id, a, groupId))
      await step('what was written last stays', 20, offset())
      await step('offset 30', 'NONE', client.commitInTransaction(a.id, a, groupId, topic, 30))
      await step(
        'initialised again while it is open',
        2,
        client.initialised(a.id).then(({ producerEpoch }) => producerEpoch),
      )
      await step('the offset is gone', 20, offset())
      await step('an unknown topic', 'UNKNOWN_TOPIC_OR_PARTITION', async () => {
        const b = await client.initialised(a.id)
        await client.addOffsets(a.id, b, groupId)
        return client.commitInTransaction(a.id, b, groupId, client.unique('missing'), 1)
      })
    },
  },
  {
    title: 'offsets that an open transaction is about to change',
    run: async (client, step) => {
      const topic = await client.topic('settled')
      const groupId = await client.group('settled')
      const a = await open(client, 'settled')
      const settled = (): Promise<Committed> => client.settled(groupId, topic)
      const unstable: Committed = { error: 'UNSTABLE_OFFSET_COMMIT', offset: -1, metadata: '' }
      await step('nothing is committed', { error: 'NONE', offset: -1, metadata: '' }, settled())
      await step('offset 4', 'NONE', client.commit(groupId, { memberId: '', generationId: -1 }, topic, 4))
      await step('is read', { error: 'NONE', offset: 4, metadata: '' }, settled())
      await step('the group joins a transaction', 'NONE', client.addOffsets(a.id, a, groupId))
      await step('which changes nothing yet', { error: 'NONE', offset: 4, metadata: '' }, settled())
      await step('offset 9 in it', 'NONE', client.commitInTransaction(a.id, a, groupId, topic, 9, 'nine'))
      await step('is not settled', unstable, settled())
      await step(
        'unless one asks for the former',
        { error: 'NONE', offset: 4, metadata: '' },
        client.settled(groupId, topic, false),
      )
      await step(
        'as the version before does',
        { error: 'NONE', offset: 4, metadata: '' },
        client.committed(groupId, topic),
      )
      await step('it commits', 'NONE', client.end(a.id, a, 'commit'))
      await step('and is settled', { error: 'NONE', offset: 9, metadata: 'nine' }, settled)
      await step('the next begins', 'NONE', () => client.addOffsets(a.id, a, groupId))
      await step('offset 12', 'NONE', client.commitInTransaction(a.id, a, groupId, topic, 12))
      await step('is not settled', unstable, settled())
      await step('it aborts', 'NONE', client.end(a.id, a, 'abort'))
      await step('the former stays', { error: 'NONE', offset: 9, metadata: 'nine' }, settled)
      await step('a transaction of another group', 'NONE', async () => {
        const other = await client.group('settled-elsewhere')
        await client.addOffsets(a.id, a, other)
        return client.commitInTransaction(a.id, a, other, topic, 1)
      })
      await step('holds nobody back', { error: 'NONE', offset: 9, metadata: 'nine' }, settled())
    },
  },
  {
    title: 'a topic is deleted while a transaction is open in it',
    run: async (client, step) => {
      const topic = await client.topic('deleted-in-transaction')
      const other = await client.topic('kept-in-transaction')
      const a = await open(client, 'deleted-in-transaction')
      await a.begin(topic)
      await a.begin(other)
      await a.write(topic, 0, 1)
      await a.write(other, 0, 1)
      await step('it is deleted', 'NONE', client.deleteTopic(topic))
      await step('and gone', 'UNKNOWN_TOPIC_OR_PARTITION', () =>
        client.offsetAt(topic, 0, latest).then(({ error }) => error),
      )
      await step(
        'records for it are refused',
        'UNKNOWN_TOPIC_OR_PARTITION',
        produceIn(client, a, topic, 1).then(({ error }) => error),
      )
      await step('the transaction can commit', 'NONE', client.end(a.id, a, 'commit'))
      await step('in the topic that is left', ['0-0', '1 commit'], () => batchesOf(client, other, 0))
      await step('and the next can begin', ['NONE'], () => client.addToTransaction(a.id, a, other))
    },
  },
]

type Seen = Omit<Fetched, 'error' | 'start'>
const seen = ({ high, stable, aborted, batches }: Fetched): Seen => ({ high, stable, aborted, batches })

const committed = async (client: Client, topic: string, offset: number): Promise<Seen> =>
  seen(await client.fetch(topic, offset, { isolation: readCommitted }))

const batchesOf = async (client: Client, topic: string, partition: number): Promise<readonly string[]> =>
  (await client.fetch(topic, 0, { partition })).batches

type Transactional = Producer & { readonly id: string }

const produceIn = (client: Client, producer: Transactional, topic: string, baseSequence: number, partition = 0) => {
  const { id, producerId, producerEpoch } = producer
  return client.produce(topic, { producerId, producerEpoch, baseSequence, partition, transactionalId: id })
}

/** A transactional producer with the steps that scenarios share. */
const open = async (client: Client, name: string, timeoutMs: number = longMs) => {
  const id = await client.transactionalId(name)
  const producer = await client.initialised(id, timeoutMs)
  const told = (expected: string, got: string): void => {
    if (got !== expected) throw new Error(`${got} where ${expected} is needed to go on`)
  }
  return {
    ...producer,
    id,
    /** Also works right after the previous transaction, whose end may still be in progress. */
    begin: async (topic: string): Promise<void> => {
      const [error = ''] = await client.until(
        () => client.addToTransaction(id, producer, topic),
        ([first]) => first !== 'CONCURRENT_TRANSACTIONS',
      )
      told('NONE', error)
    },
    write: async (topic: string, baseSequence: number, count: number): Promise<number> => {
      const { error, offset } = await client.produce(topic, { ...producer, baseSequence, count, transactionalId: id })
      told('NONE', error)
      return offset
    },
    commit: async (): Promise<void> => told('NONE', await client.end(id, producer, 'commit')),
    abort: async (): Promise<void> => told('NONE', await client.end(id, producer, 'abort')),
  }
}
