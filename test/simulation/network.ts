// Sockets in memory: ordered bytes with random latency and fragmentation from the seed, and all ways of closing a connection.
//
//   const network = createNetwork(world, { minMs, maxMs, slowOneIn, slowMs, piecesOneIn })
//   new Kafka({ ..., socketFactory: network.socketFactory })   the socket belongs to the process whose event creates it
//   network.connections({ process?, address? })                the open connections
//   connection.cut()                          both sides notice a little later; data in transit is lost
//   network.block(address), .unblock(address) drops nothing but delays everything until unblocked, like TCP retries
//   network.listen(address, owner, accept)    for brokers; returns a function that closes the port
import { EventEmitter } from 'node:events'
import { below, between, type Process, type World } from './world.js'

export type NetworkOptions = {
  readonly minMs?: number
  readonly maxMs?: number
  /** One in so many packets takes up to `slowMs`. */
  readonly slowOneIn?: number
  readonly slowMs?: number
  /** One in so many writes arrives in two pieces. */
  readonly piecesOneIn?: number
}

/** A connection as the broker sees it. */
export type Peer = {
  readonly id: number
  readonly process: Process
  readonly write: (bytes: Buffer) => void
  readonly end: () => void
  readonly cut: () => void
  onData: (bytes: Buffer) => void
  /** The other side closed it, or it was cut. */
  onEnd: () => void
}

export type Connection = {
  readonly id: number
  readonly process: Process
  readonly address: string
  readonly cut: () => void
}

export type SocketOptions = { readonly host: string; readonly port: number; readonly onConnect: () => void }

export type Network = {
  readonly socketFactory: (options: SocketOptions) => SimulatedSocket
  readonly listen: (address: string, owner: Process, accept: (peer: Peer) => void) => () => void
  readonly connections: (which?: { readonly process?: Process; readonly address?: string }) => readonly Connection[]
  readonly block: (address: string) => void
  readonly unblock: (address: string) => void
}

type Listener = { readonly owner: Process; readonly accept: (peer: Peer) => void }

/** The part of the network that sockets use. */
type Inner = {
  readonly world: World
  readonly listeners: ReadonlyMap<string, Listener>
  readonly open: Set<SimulatedSocket>
  readonly nextId: () => number
  readonly latencyUs: () => number
  readonly splitAt: (length: number) => number | undefined
  /** Runs the function now, or once the address is no longer blocked. */
  readonly pass: (address: string, run: () => void) => void
}

export const createNetwork = (world: World, options: NetworkOptions = {}): Network => {
  const { minMs = 0.2, maxMs = 3, slowOneIn = 200, slowMs = 80, piecesOneIn = 20 } = options
  const random = world.random('network')
  const listeners = new Map<string, Listener>()
  const open = new Set<SimulatedSocket>()
  const blocked = new Map<string, (() => void)[]>()
  let connections = 0
  const inner: Inner = {
    world,
    listeners,
    open,
    nextId: () => ++connections,
    latencyUs: () =>
      Math.round(1000 * (below(random, slowOneIn) === 0 ? slowMs * random() : between(random, minMs, maxMs))),
    splitAt: (length) => (length > 1 && below(random, piecesOneIn) === 0 ? 1 + below(random, length - 1) : undefined),
    pass: (address, run) => {
      const waiting = blocked.get(address)
      if (waiting) waiting.push(run)
      else run()
    },
  }
  return {
    socketFactory: (given) => new SimulatedSocket(inner, given),
    listen: (address, owner, accept) => {
      const listener = { owner, accept }
      listeners.set(address, listener)
      return () => {
        if (listeners.get(address) === listener) listeners.delete(address)
      }
    },
    connections: ({ process, address } = {}) =>
      [...open].filter(
        (socket) =>
          socket.isConnected &&
          (process === undefined || socket.process === process) &&
          (address === undefined || socket.address === address),
      ),
    block: (address) => {
      world.log(`${address} cannot be reached`)
      if (!blocked.has(address)) blocked.set(address, [])
    },
    unblock: (address) => {
      const waiting = blocked.get(address)
      if (!waiting) return
      world.log(`${address} can be reached again`)
      blocked.delete(address)
      // In order of arrival; each function has the owner of its event.
      for (const run of waiting) run()
    },
  }
}

type Kind = 'data' | 'end' | 'reset'

/** One direction of a connection: pieces arrive in order, each later than the one before. */
class Direction {
  private lastUs = 0
  private generation = 0

  constructor(
    private readonly inner: Inner,
    private readonly address: string,
    private readonly receiver: Process,
    private readonly deliver: (kind: Kind, bytes: Buffer) => void,
  ) {}

  send(kind: Kind, bytes: Buffer = nothing): void {
    const { world } = this.inner
    // The end of a connection directly follows the data before it.
    const isNext = kind === 'end' && this.lastUs > world.us
    this.lastUs = isNext ? this.lastUs + 1 : Math.max(this.lastUs + 1, world.us + this.inner.latencyUs())
    const { generation } = this
    const arrive = (): void => {
      if (generation !== this.generation) return
      if (bytes.length > 0) world.hash(bytes)
      this.deliver(kind, bytes)
    }
    world.schedule(this.lastUs, this.receiver, 'io', () =>
      this.inner.pass(this.address, () =>
        // After a block, the current event does not belong to the receiver, so schedule a new one.
        world.current === this.receiver ? arrive() : void world.schedule(world.us + 1, this.receiver, 'io', arrive),
      ),
    )
  }
  /** Drops everything in transit. */
  drop(): void {
    this.generation++
  }
}

const nothing = Buffer.alloc(0)

/** The part of net.Socket that kafkajs uses. */
export class SimulatedSocket extends EventEmitter implements Connection {
  readonly id: number
  readonly process: Process
  readonly address: string
  private state: 'connecting' | 'open' | 'ending' | 'closed' = 'connecting'
  private up: Direction | undefined
  private down: Direction | undefined
  private peer: Peer | undefined

  constructor(
    private readonly inner: Inner,
    { host, port, onConnect }: SocketOptions,
  ) {
    super()
    const { world } = inner
    this.id = inner.nextId()
    this.process = world.current
    this.address = `${host}:${port}`
    inner.open.add(this)
    this.process.onExit(() => this.killed())
    const answered = (): void => {
      if (this.state !== 'connecting') return
      const listener = inner.listeners.get(this.address)
      if (!listener) {
        this.fail('ECONNREFUSED', `connect ECONNREFUSED ${this.address}`)
        return
      }
      this.open(listener)
      onConnect()
    }
    world.schedule(world.us + inner.latencyUs(), this.process, 'io', () =>
      inner.pass(this.address, () =>
        world.current === this.process ? answered() : void world.schedule(world.us + 1, this.process, 'io', answered),
      ),
    )
  }

  get isConnected(): boolean {
    return this.peer !== undefined && this.state !== 'closed'
  }

  get connecting(): boolean {
    return this.state === 'connecting'
  }
  get writableEnded(): boolean {
    return this.state === 'ending' || this.state === 'closed'
  }
  get destroyed(): boolean {
    return this.state === 'closed'
  }

  private open(listener: Listener): void {
    const { inner } = this
    const peer: Peer = {
      id: this.id,
      process: this.process,
      write: (bytes) => {
        const at = inner.splitAt(bytes.length)
        if (at !== undefined) this.down?.send('data', bytes.subarray(0, at))
        this.down?.send('data', at === undefined ? bytes : bytes.subarray(at))
      },
      end: () => this.down?.send('end'),
      cut: () => this.cut(),
      onData: () => undefined,
      onEnd: () => undefined,
    }
    this.peer = peer
    this.up = new Direction(inner, this.address, listener.owner, (kind, bytes) =>
      kind === 'data' ? peer.onData(bytes) : peer.onEnd(),
    )
    this.down = new Direction(inner, this.address, this.process, (kind, bytes) => {
      if (this.state === 'closed') return
      if (kind === 'data') return void this.emit('data', bytes)
      if (kind === 'reset') {
        this.fail('ECONNRESET', 'read ECONNRESET')
        return
      }
      this.close()
      this.emit('end')
    })
    this.state = 'open'
    listener.accept(peer)
  }

  write(bytes: Buffer): boolean {
    if (this.state !== 'open') {
      const error = Object.assign(new Error('write after end'), { code: 'ERR_STREAM_WRITE_AFTER_END' })
      this.inner.world.schedule(this.inner.world.us, this.process, 'io', () => {
        if (this.listenerCount('error') > 0) this.emit('error', error)
      })
      return false
    }
    if (!this.process.isAlive) return false
    const at = this.inner.splitAt(bytes.length)
    if (at !== undefined) this.up?.send('data', bytes.subarray(0, at))
    this.up?.send('data', at === undefined ? bytes : bytes.subarray(at))
    return true
  }

  end(): this {
    if (this.state === 'open') {
      this.state = 'ending'
      this.up?.send('end')
    } else if (this.state === 'connecting') this.close()
    return this
  }

  destroy(): this {
    if (this.state === 'open') this.up?.send('end')
    this.close()
    return this
  }

  cut(): void {
    if (!this.isConnected) return
    this.inner.world.log(`connection ${this.id} of ${this.process.label} to ${this.address} is cut`)
    this.up?.drop()
    this.up?.send('reset')
    this.down?.drop()
    this.down?.send('reset')
  }

  /** After a kill, the kernel still sends buffered data and closes the connection. */
  private killed(): void {
    if (this.state === 'open') this.up?.send('end')
    this.close()
  }

  private fail(code: string, message: string): void {
    this.close()
    this.emit('error', Object.assign(new Error(message), { code }))
  }

  private close(): void {
    this.state = 'closed'
    this.inner.open.delete(this)
  }

  setKeepAlive(): this {
    return this
  }
  setNoDelay(): this {
    return this
  }
  setTimeout(): this {
    return this
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
}
