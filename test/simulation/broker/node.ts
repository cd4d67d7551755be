// One broker: its view of the cluster, its connections, and their requests, processed one at a time and in order.
import type { Peer } from '../network.js'
import type { Process } from '../world.js'
import {
  decodeRequest,
  encodeResponse,
  errors,
  frames,
  type ApiName,
  type Request,
  type RequestBody,
  type ResponseBody,
} from '../wire.js'
import { describeMessage } from './describe.js'
import { offsetsTopic, transactionsTopic, type Image, type TopicImage } from './image.js'
import {
  drawMs,
  electGroups,
  electTransactions,
  groupPartition,
  resign,
  sendAway,
  takeOver,
  transactionPartition,
  type Partition,
  type Shared,
} from './state.js'
import type { GroupCoordinator } from './group-coordinator.js'
import type { TransactionCoordinator } from './transaction-coordinator.js'

export type Moment = 'before' | 'after'

/** A request before it is applied, or after it and before its answer. */
export type RequestPoint = {
  readonly moment: Moment
  readonly api: ApiName
  /** The sender. */
  readonly process: Process
  readonly broker: number
  /** Its number among requests of this API from processes with this name. */
  readonly nth: number
  readonly body: Request['body']
  /** Only after it was applied; undefined without an answer. */
  readonly response: unknown
}

/** `lose` cuts the connection at this point. `hang` stops all further progress on it. A delay postpones this step. */
export type Interference = 'lose' | 'hang' | { readonly delayMs: number } | undefined

export type Call<N extends ApiName> = {
  readonly node: BrokerNode
  readonly body: RequestBody<N>
  readonly clientId: string
  readonly process: Process
  /** Undefined if the request has no response. */
  readonly respond: (body: ResponseBody<N> | undefined) => void
  readonly isClosed: () => boolean
}

export type Handlers = { readonly [N in ApiName]: (call: Call<N>) => void }

type Connection = { readonly peer: Peer; readonly queue: Buffer[]; isBusy: boolean; isClosed: boolean }

export type BrokerNode = {
  readonly id: number
  readonly process: Process
  readonly shared: Shared
  readonly isUp: boolean
  readonly view: Image
  readonly learn: (image: Image) => void
  readonly start: (image: Image) => void
  /** Loses all memory. Connections are cut, or closed properly if it stops in good order. */
  readonly stop: (inGoodOrder: boolean) => void
  /** The partition if this broker believes that it leads it, otherwise the error. */
  readonly leading: (topic: string, number: number) => Partition | number
  /** Another broker has taken over, and this one does not know it yet. */
  readonly isFormer: (partition: Partition) => boolean
  readonly groupsOf: (groupId: string) => GroupCoordinator | number
  readonly transactionsOf: (transactionalId: string) => TransactionCoordinator | number
  readonly after: (ms: number, run: () => void) => void
  /** Calls `run` when the broker goes down, so that waiting clients learn of it; returns a function that cancels this. */
  readonly whenDown: (run: () => void) => () => void
}

export type NodeOptions = {
  readonly id: number
  readonly process: Process
  readonly shared: Shared
  readonly handlers: Handlers
  readonly interfere: (point: Omit<RequestPoint, 'nth'>) => Interference
}

export const createNode = ({ id, process, shared, handlers, interfere }: NodeOptions): BrokerNode => {
  const { world, network, random, took, times } = shared
  const connections = new Set<Connection>()
  const downListeners = new Set<() => void>()
  let view: Image = { topics: new Map(), brokers: new Set() }
  let isUp = false
  let close = (): void => undefined
  let life = 0

  /** Skipped if the broker stopped meanwhile. */
  const after = (ms: number, run: () => void): void => {
    const mine = life
    world.after(
      ms,
      () => {
        if (isUp && life === mine) run()
      },
      process,
    )
  }

  // ---- connections ----

  const accept = (peer: Peer): void => {
    took('connection accepted')
    const connection: Connection = { peer, queue: [], isBusy: false, isClosed: false }
    connections.add(connection)
    const complete = frames()
    peer.onData = (bytes) => {
      if (connection.isClosed) return
      connection.queue.push(...complete(bytes))
      next(connection)
    }
    peer.onEnd = () => {
      if (connection.isClosed) return
      connection.isClosed = true
      connections.delete(connection)
      peer.end()
    }
  }

  const next = (connection: Connection): void => {
    const message = connection.queue.shift()
    if (connection.isBusy || message === undefined) {
      if (message) connection.queue.unshift(message)
      return
    }
    connection.isBusy = true
    // Even if the connection has closed: a broker processes requests it has read, and the answer is lost.
    after(drawMs(random, times.workMs), () => handle(connection, decodeRequest(message)))
  }

  const cut = (connection: Connection): void => {
    connection.isClosed = true
    connections.delete(connection)
    connection.peer.cut()
  }

  const meddle = (connection: Connection, interference: Interference, go: () => void): void => {
    if (interference === undefined) go()
    else if (interference === 'lose') cut(connection)
    else if (interference !== 'hang') after(interference.delayMs, go)
  }

  const handle = (connection: Connection, request: Request): void => {
    const { api, body, correlationId, clientId } = request
    const { peer } = connection
    if (connection.isClosed) took('request after its connection closed')
    world.note(() => `${peer.process.label} -> ${describeMessage(api, body)}`)
    let isAnswered = false
    const respond = (response: ResponseBody<ApiName> | undefined): void => {
      if (isAnswered) throw new Error(`${api} is answered twice`)
      isAnswered = true
      world.note(() => `${peer.process.label} <- ${describeMessage(api, response)}`)
      meddle(connection, interfere({ moment: 'after', api, process: peer.process, broker: id, body, response }), () => {
        if (connection.isClosed) {
          took('answer to a closed connection')
          return
        }
        if (response !== undefined) peer.write(encodeResponse(api, response, correlationId))
        connection.isBusy = false
        next(connection)
      })
    }
    const point = { moment: 'before' as const, api, process: peer.process, broker: id, body, response: undefined }
    meddle(connection, interfere(point), () => {
      const handler: (call: Call<never>) => void = handlers[api]
      handler({
        node,
        body: body as never,
        clientId: clientId ?? '',
        process: peer.process,
        respond,
        isClosed: () => connection.isClosed,
      })
    })
  }

  // ---- led partitions and coordinators ----

  const eachPartition = (
    { topics }: Image,
    visit: (topic: TopicImage, number: number, leader: number, epoch: number) => void,
  ): void => {
    for (const topic of topics.values())
      for (const [number, { leader, epoch }] of topic.partitions.entries()) visit(topic, number, leader, epoch)
  }

  const learn = (image: Image): void => {
    const before = view
    view = image
    // Lost leaderships come first, so that no partition has two leaders.
    eachPartition(before, ({ name, id: topicId, isInternal }, number, leader, epoch) => {
      if (leader !== id) return
      const topic = image.topics.get(name)
      const now = topic?.id === topicId ? topic.partitions[number] : undefined
      if (now?.leader === id && now.epoch === epoch) return
      if (isInternal) {
        const state = name === offsetsTopic ? shared.groups[number] : shared.transactions[number]
        if (state?.broker === id && now?.leader !== id) resign(state)
        return
      }
      const partition = shared.partitions.get(topicId)?.[number]
      if (!partition) return
      sendAway(
        partition,
        took,
        now ? errors.NOT_LEADER_OR_FOLLOWER : errors.UNKNOWN_TOPIC_OR_PARTITION,
        now ? epoch + 1 : Infinity,
      )
      partition.log.wake()
    })
    eachPartition(image, ({ name, id: topicId, isInternal }, number, leader, epoch) => {
      if (leader !== id) return
      if (name === offsetsTopic) {
        const groups = shared.groups[number]
        if (groups && groups.epoch < epoch) electGroups(shared, groups, id, epoch)
      } else if (name === transactionsTopic) {
        const transactions = shared.transactions[number]
        if (transactions && transactions.epoch < epoch) electTransactions(shared, transactions, id, epoch)
      } else if (!isInternal) {
        const partition = shared.partitions.get(topicId)?.[number]
        if (partition && partition.epoch < epoch) takeOver(shared, partition, id, epoch)
      }
    })
    for (const [name, topic] of before.topics)
      if (image.topics.get(name)?.id !== topic.id && !topic.isInternal) removeOffsets(name)
  }

  /** Removes the offsets of a deleted topic in the groups that this broker coordinates. */
  const removeOffsets = (topic: string): void => {
    const isLate = Math.floor(random() * times.lateOneIn) === 0
    const ms = isLate ? random() * times.lateRemovalMs : 1 + random() * 20
    after(ms, () => {
      for (const { broker, coordinator } of shared.groups) if (broker === id) coordinator?.topicDeleted(topic)
    })
  }

  const leading = (topic: string, number: number): Partition | number => {
    const known = view.topics.get(topic)
    const image = known?.partitions[number]
    if (!known || !image) return errors.UNKNOWN_TOPIC_OR_PARTITION
    if (image.leader !== id) return errors.NOT_LEADER_OR_FOLLOWER
    return shared.partitions.get(known.id)?.[number] ?? errors.UNKNOWN_TOPIC_OR_PARTITION
  }

  const coordinating = <C>(
    topic: string,
    {
      number,
      broker,
      coordinator,
    }: { readonly number: number; readonly broker: number; readonly coordinator: C | undefined },
  ): C | number => {
    if (view.topics.get(topic)?.partitions[number]?.leader !== id || broker !== id) {
      took('not the coordinator')
      return errors.NOT_COORDINATOR
    }
    if (!coordinator) took('coordinator is loading')
    return coordinator ?? errors.COORDINATOR_LOAD_IN_PROGRESS
  }

  const node: BrokerNode = {
    id,
    process,
    shared,
    get isUp() {
      return isUp
    },
    get view() {
      return view
    },
    learn: (image) => {
      if (isUp) learn(image)
    },
    start: (image) => {
      took('broker started')
      world.log(`broker ${id} starts`)
      life++
      isUp = true
      const { host, port } = shared.addressOf(id)
      close = network.listen(`${host}:${port}`, process, accept)
      view = { topics: new Map(), brokers: new Set() }
      for (const list of shared.partitions.values()) for (const { log, startedAt } of list) startedAt.set(id, log.end)
      learn(image)
    },
    stop: (inGoodOrder) => {
      took(inGoodOrder ? 'broker stopped' : 'broker crashed')
      world.log(`broker ${id} ${inGoodOrder ? 'stops' : 'crashes'}`)
      isUp = false
      close()
      for (const connection of [...connections]) {
        connection.isClosed = true
        if (inGoodOrder) connection.peer.end()
        else connection.peer.cut()
      }
      connections.clear()
      for (const state of [...shared.groups, ...shared.transactions]) if (state.broker === id) resign(state)
      const waiting = [...downListeners]
      downListeners.clear()
      for (const run of waiting) run()
    },
    leading,
    isFormer: ({ leader }) => leader !== id,
    groupsOf: (groupId) => coordinating(offsetsTopic, groupPartition(shared, groupId)),
    transactionsOf: (transactionalId) => coordinating(transactionsTopic, transactionPartition(shared, transactionalId)),
    after,
    whenDown: (run) => {
      downListeners.add(run)
      return () => downListeners.delete(run)
    },
  }
  return node
}
