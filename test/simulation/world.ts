// A world in virtual time: a queue of events, the processes that own them, and the clock, timers and randomness of their code.
//
// How it is used:
//
//   installGlobals()                       once, before kafkajs or any file of src/ is loaded
//   const world = createWorld(seed, { trace, drain, debug })
//   const process = world.start('w1', async (process) => { ... })   runs the function in a new event; its result is the exit value
//   process.kill()                         SIGKILL: its events are dropped and its sockets close
//   process.pause(), process.resume()      SIGSTOP, SIGCONT: its events wait while time goes on
//   process.post(() => stop.abort())       runs a function in its event loop, like a signal handler
//   process.exit                           undefined while it runs; then how it ended (`Exit`)
//   process.onExit((exit) => ...)          for a supervisor: world.after(500, () => world.start('w1', main)) is a restart
//   world.after(ms, fn), world.at(us, fn)  an event of the world itself: faults, checks
//   await world.run(untilMs)               until that virtual time, or until a call of world.stop()
//   world.random('faults')                 a separate stream of random numbers for this seed and name
//   world.log(text), world.note(() => t)   writes to trace and hash; only to the readable timeline
//   world.digest(), world.timeline()       the trace as 16 hex digits; as lines (only with `trace`)
//   world.close()                          restores the real globals; then the next world may be created
//
// One event runs, then all microtasks, then the next event. A timer or socket belongs to the process whose event created it. Restarts of a
// process keep its `name` but get new labels (`w1`, `w1.2`, `w1.3`).
// Simultaneous events of one owner run in the order of scheduling; between owners the seed decides.
import type * as CryptoModule from 'node:crypto'
import { AsyncLocalStorage, createHook } from 'node:async_hooks'
import { createRequire, syncBuiltinESMExports } from 'node:module'

const load = createRequire(import.meta.url)
// Not an import, because the namespace of an import is immutable.
const nodeCrypto = load('node:crypto') as typeof CryptoModule

export type Random = {
  /** Greater than or equal to 0, less than 1. */
  (): number
}

/** An integer from 0 to `limit` - 1. */
export const below = (random: Random, limit: number): number => Math.floor(random() * limit)
export const between = (random: Random, least: number, most: number): number => least + random() * (most - least)
export const oneOf = <T>(random: Random, list: readonly T[]): T => list[below(random, list.length)] as T

export type Exit =
  /** The main function resolved or rejected: the program ended on its own. */
  | { readonly how: 'returned'; readonly value: unknown }
  | { readonly how: 'failed'; readonly error: unknown }
  /** An uncaught exception, or a rejected promise without a handler. */
  | { readonly how: 'crashed'; readonly error: unknown }
  | { readonly how: 'killed' }

const kinds = ['timer', 'immediate', 'io', 'start', 'post'] as const
type Kind = (typeof kinds)[number]

/** A pending event; removing its function cancels it. */
export type Scheduled = {
  us: number
  tie: number
  seq: number
  readonly owner: Process
  readonly kind: Kind
  run: (() => void) | undefined
}

export type Process = {
  readonly name: string
  readonly label: string
  readonly id: number
  readonly random: Random
  readonly isAlive: boolean
  readonly isPaused: boolean
  readonly exit: Exit | undefined
  readonly kill: () => void
  readonly pause: () => void
  readonly resume: () => void
  readonly post: (run: () => void) => void
  readonly onExit: (listener: (exit: Exit) => void) => void
}

export type World = {
  readonly seed: number
  /** Microseconds since the start of the world, an integer. */
  readonly us: number
  readonly ms: number
  readonly now: () => number
  /** The process whose event is running. */
  readonly current: Process
  readonly outside: Process
  readonly processes: readonly Process[]
  /** Number of events so far. */
  readonly events: number
  readonly isTraced: boolean
  readonly start: (name: string, main: (process: Process) => Promise<unknown>) => Process
  /** A part of the simulation such as a broker; an exception in it is an error of the simulation. */
  readonly addInfrastructure: (name: string) => Process
  readonly schedule: (us: number, owner: Process, kind: Kind, run: () => void) => Scheduled
  /** Schedules the running event again: most events are intervals, and reusing them avoids allocations. */
  readonly repeat: (event: Scheduled, us: number, run: () => void) => void
  readonly after: (ms: number, run: () => void, owner?: Process) => Scheduled
  readonly at: (us: number, run: () => void, owner?: Process) => Scheduled
  readonly random: (name: string) => Random
  readonly log: (text: string) => void
  readonly note: (text: () => string) => void
  readonly hash: (bytes: Uint8Array) => void
  readonly run: (untilMs: number) => Promise<void>
  readonly stop: () => void
  readonly digest: () => string
  readonly timeline: () => readonly string[]
  readonly close: () => void
}

export type WorldOptions = {
  /** Records the readable timeline. */
  readonly trace?: boolean
  /** How microtasks run: a real setImmediate per event is the reference; a tick of Node's own loop is faster. */
  readonly drain?: 'immediate' | 'tick'
  /** Fails if a process continues in another one's event, or if anything waits for real work. */
  readonly debug?: boolean
}

/** 2023-11-14T22:13:20Z, the start of every world. */
const beginningMs = 1_700_000_000_000

const real = {
  Date,
  setTimeout,
  setInterval,
  setImmediate,
  clearTimeout,
  clearInterval,
  clearImmediate,
  random: Math.random,
  hrtime: process.hrtime,
  performanceNow: performance.now.bind(performance),
  abortTimeout: AbortSignal.timeout.bind(AbortSignal),
  utilization: performance.eventLoopUtilization,
  randomBytes: nodeCrypto.randomBytes,
  randomUUID: nodeCrypto.randomUUID,
  randomInt: nodeCrypto.randomInt,
  randomFillSync: nodeCrypto.randomFillSync,
  getRandomValues: globalThis.crypto.getRandomValues.bind(globalThis.crypto),
}

/** Real milliseconds, to measure the simulation itself. */
export const wallMs = (): number => real.performanceNow()

/** sfc32. Separate streams per purpose, so that an additional draw in one does not change the others. */
export const createRandom = (seed: number, name: string): Random => {
  let h = 1779033703 ^ seed
  for (let i = 0; i < name.length; i++) {
    h = Math.imul(h ^ name.charCodeAt(i), 3432918353)
    h = (h << 13) | (h >>> 19)
  }
  let [a, b, c, d] = [h, h ^ 0x9e3779b9, seed | 0, 1]
  const next = (): number => {
    const t = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + t) | 0
    return (t >>> 0) / 4294967296
  }
  for (let i = 0; i < 12; i++) next()
  return next
}

const mix = (a: number, b: number): number => {
  let h = Math.imul(a ^ b ^ 0x9e3779b9, 0x85ebca6b)
  h ^= h >>> 13
  h = Math.imul(h, 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

type InnerProcess = {
  -readonly [Key in keyof Process]: Process[Key]
} & { held: Scheduled[]; readonly listeners: Set<(exit: Exit) => void>; readonly isInfrastructure: boolean }

/** The part of the world that the virtual globals use. */
type Active = World & { current: InnerProcess }

let active: Active | undefined

export const createWorld = (seed: number, options: WorldOptions = {}): World => {
  if (active) throw new Error('a world exists: close it first, its clock and timers are those of this Node')
  const { trace = false, drain = 'tick', debug = false } = options
  const queue: Scheduled[] = []
  const processes: InnerProcess[] = []
  const started = new Map<string, number>()
  const hash = nodeCrypto.createHash('sha256')
  /** Events have a separate hash: four numbers each are much cheaper than a line of text. */
  const eventHash = nodeCrypto.createHash('sha256')
  const eventNumbers = new Uint32Array(4 * 512)
  let eventCount = 0
  const lines: string[] = []
  const tieSeed = mix(seed, 7)
  const context = debug ? new AsyncLocalStorage<Process>() : undefined
  /** Buffered, because a call of the hash function costs more than copying a typical input. */
  const unhashed = Buffer.allocUnsafe(65_536)
  let unhashedBytes = 0
  let seq = 0
  let isStopped = false
  /** An error found in debug mode, which ends the run. */
  let mistake: Error | undefined
  let atThisMoment = 0

  const say = (text: string): void => {
    if (unhashedBytes + 3 * text.length > unhashed.length) flush()
    if (3 * text.length > unhashed.length) hash.update(text)
    else unhashedBytes += unhashed.write(text, unhashedBytes)
  }
  const flush = (): void => {
    hash.update(unhashed.subarray(0, unhashedBytes))
    unhashedBytes = 0
  }
  const hashEvent = (owner: number, kind: Kind): void => {
    if (eventCount === eventNumbers.length) flushEvents()
    eventNumbers[eventCount++] = world.us >>> 0
    eventNumbers[eventCount++] = world.us / 2 ** 32
    eventNumbers[eventCount++] = owner
    eventNumbers[eventCount++] = kinds.indexOf(kind)
  }
  const flushEvents = (): void => {
    eventHash.update(eventNumbers.subarray(0, eventCount))
    eventCount = 0
  }
  const line = (text: string): void => {
    lines.push(`${(world.us / 1e6).toFixed(6).padStart(13)} ${world.current.label.padEnd(9)} ${text}`)
  }

  const tieOf = (owner: Process, us: number): number => mix(mix(tieSeed, owner.id), us | 0)
  /** A continuation in another process's event would get that process's timers and sockets. */
  const checkOwner = (kind: Kind): void => {
    if (context && kind !== 'io' && world.current !== world.outside && context.getStore() !== world.current)
      mistake ??= new Error(`${context.getStore()?.label ?? 'nothing'} continues in an event of ${world.current.label}`)
  }
  const schedule = (us: number, owner: Process, kind: Kind, run: () => void): Scheduled => {
    checkOwner(kind)
    const event: Scheduled = { us, tie: tieOf(owner, us), seq: seq++, owner, kind, run }
    push(queue, event)
    return event
  }
  const repeat = (event: Scheduled, us: number, run: () => void): void => {
    checkOwner(event.kind)
    event.us = us
    event.tie = tieOf(event.owner, us)
    event.seq = seq++
    event.run = run
    push(queue, event)
  }

  const end = (process: InnerProcess, exit: Exit): void => {
    if (!process.isAlive) return
    process.isAlive = false
    process.isPaused = false
    process.exit = exit
    process.held = []
    world.log(`${process.label} ${describeExit(exit)}`)
    for (const listener of [...process.listeners]) listener(exit)
    process.listeners.clear()
  }

  const add = (name: string, isInfrastructure: boolean): InnerProcess => {
    const nth = (started.get(name) ?? 0) + 1
    started.set(name, nth)
    const label = nth === 1 ? name : `${name}.${nth}`
    const process: InnerProcess = {
      name,
      label,
      id: processes.length,
      random: createRandom(seed, `process ${label}`),
      isAlive: true,
      isPaused: false,
      isInfrastructure,
      exit: undefined,
      held: [],
      listeners: new Set(),
      kill: () => end(process, { how: 'killed' }),
      pause: () => {
        if (!process.isAlive || process.isPaused) return
        world.log(`${label} paused`)
        process.isPaused = true
      },
      resume: () => {
        if (!process.isPaused) return
        world.log(`${label} resumed`)
        process.isPaused = false
        // Like libuv after a sleep: first due timers by their due times, then everything that arrived meanwhile.
        const { held } = process
        process.held = []
        const timers = held.filter(({ kind }) => kind === 'timer')
        for (const event of [...timers, ...held.filter(({ kind }) => kind !== 'timer')]) {
          event.us = world.us
          event.seq = seq++
          push(queue, { ...event, tie: tieOf(process, world.us), run: () => event.run?.() })
        }
      },
      post: (run) => void schedule(world.us, process, 'post', run),
      onExit: (listener) => void process.listeners.add(listener),
    }
    processes.push(process)
    return process
  }

  const crash = (error: unknown): void => {
    const process = world.current
    if (process.isInfrastructure) throw error
    end(process, { how: 'crashed', error })
  }

  /** Runs one event; returns false if there is none before that time. */
  const step = (untilUs: number): boolean => {
    const event = queue[0]
    if (mistake) throw mistake
    if (isStopped || !event || event.us > untilUs) return false
    pop(queue)
    const owner = event.owner as InnerProcess
    if (!event.run || !owner.isAlive) return true
    if (event.us > world.us) {
      world.us = event.us
      atThisMoment = 0
    } else if (++atThisMoment > 100_000) throw new Error(`time stands still at ${world.us} in ${owner.label}`)
    if (owner.isPaused) {
      owner.held.push(event)
      return true
    }
    world.events++
    world.current = owner
    hashEvent(owner.id, event.kind)
    const { run } = event
    event.run = undefined
    try {
      if (context) context.run(owner, run)
      else run()
    } catch (error) {
      crash(error)
    }
    return true
  }

  const run = (untilMs: number): Promise<void> => {
    const untilUs = Math.round(untilMs * 1000)
    const tick = (process as unknown as { readonly _tickCallback?: () => void })._tickCallback
    isStopped = false
    return new Promise((resolve, reject) => {
      // Unhandled rejections are reported while an event's microtasks run, so they belong to the current process.
      const onError = (error: unknown): void => {
        try {
          crash(error)
        } catch (mistake) {
          failed(mistake)
        }
      }
      const watch = debug
        ? watchRealWork((what) => failed(new Error(`${world.current.label} waits for ${what}`)))
        : undefined
      const leave = (): void => {
        isStopped = true
        watch?.disable()
        process.off('uncaughtException', onError)
        process.off('unhandledRejection', onError)
      }
      const failed = (error: unknown): void => {
        leave()
        reject(error instanceof Error ? error : new Error(String(error)))
      }
      const finish = (): void => {
        leave()
        if (queue[0] === undefined || queue[0].us > untilUs) world.us = Math.max(world.us, untilUs)
        world.current = outside
        resolve()
      }
      process.on('uncaughtException', onError)
      process.on('unhandledRejection', onError)
      watch?.enable()
      const turn = (): void => {
        try {
          if (tick === undefined || drain === 'immediate') {
            if (!step(untilUs)) {
              finish()
              return
            }
          } else {
            for (let left = 2000; left > 0; left--) {
              if (!step(untilUs)) {
                finish()
                return
              }
              try {
                tick.call(process)
              } catch (error) {
                crash(error)
              }
            }
          }
        } catch (error) {
          failed(error)
          return
        }
        real.setImmediate(turn)
      }
      real.setImmediate(turn)
    })
  }

  const outside = add('world', true)
  const world: { -readonly [Key in keyof World]: World[Key] } & { current: InnerProcess } = {
    seed,
    us: 0,
    get ms() {
      return world.us / 1000
    },
    now: () => beginningMs + Math.floor(world.us / 1000),
    current: outside,
    outside,
    processes,
    events: 0,
    isTraced: trace,
    start: (name, main) => {
      const process = add(name, false)
      world.log(`${process.label} starts`)
      schedule(world.us, process, 'start', () => {
        main(process).then(
          (value) => end(process, { how: 'returned', value }),
          (error: unknown) => end(process, { how: 'failed', error }),
        )
      })
      return process
    },
    addInfrastructure: (name) => add(name, true),
    schedule,
    repeat,
    after: (ms, run, owner = outside) => schedule(world.us + Math.max(0, Math.round(ms * 1000)), owner, 'timer', run),
    at: (us, run, owner = outside) => schedule(Math.max(us, world.us), owner, 'timer', run),
    random: (name) => createRandom(seed, name),
    log: (text) => {
      say(`${world.us} ${world.current.label} ${text}\n`)
      if (trace) line(text)
    },
    note: (text) => {
      if (trace) line(text())
    },
    hash: (bytes) => {
      if (unhashedBytes + bytes.length > unhashed.length) flush()
      if (bytes.length > unhashed.length) hash.update(bytes)
      else {
        unhashed.set(bytes, unhashedBytes)
        unhashedBytes += bytes.length
      }
    },
    run,
    stop: () => {
      isStopped = true
    },
    digest: () => {
      flush()
      flushEvents()
      return hash.copy().update(eventHash.copy().digest()).digest('hex').slice(0, 16)
    },
    timeline: () => lines,
    close: () => {
      if (active === world) active = undefined
    },
  }
  active = world
  return world
}

const describeExit = (exit: Exit): string => {
  switch (exit.how) {
    case 'killed':
      return 'was killed'
    case 'returned':
      return `ended with ${JSON.stringify(exit.value)}`
    case 'failed':
      return `failed: ${exit.error instanceof Error ? exit.error.message : String(exit.error)}`
    case 'crashed':
      return `crashed: ${exit.error instanceof Error ? (exit.error.stack?.split('\n').slice(0, 3).join(' ') ?? '') : String(exit.error)}`
  }
}

/**
 * Async resources that work in real time, outside the queue. Compression is excluded, because its synchronous form looks the same here.
 * Message ports are excluded too: a feed uses one to free its memory, and real waits for a thread show up as WORKER.
 */
const realWork = /^(FS|FILE|TCP|UDP|PIPE|GETADDRINFO|GETNAMEINFO|QUERYWRAP|Timeout|WORKER|PROCESS|RANDOMBYTES|PBKDF2|SCRYPT|HTTP|TLS)/ // prettier-ignore

const watchRealWork = (found: (what: string) => void): ReturnType<typeof createHook> =>
  createHook({
    init: (_id, type) => {
      if (realWork.test(type)) found(type)
    },
  })

// ---- timers like Node's ----

/** Like Node, turns delays that are below 1, not a number, or above 2^31-1 into 1. */
const timerMs = (ms: unknown): number => {
  const given = Number(ms)
  return given >= 1 && given <= 2_147_483_647 ? Math.trunc(given) : 1
}

type Callback = (...given: unknown[]) => void

class VirtualTimer {
  private event: Scheduled
  private isDone = false

  constructor(
    private readonly world: Active,
    private readonly callback: Callback,
    private readonly ms: number,
    private readonly given: readonly unknown[],
    private readonly repeats: boolean,
    private readonly owner: Process = world.current,
  ) {
    this.event = this.arm()
  }
  private arm(): Scheduled {
    return this.world.schedule(this.world.us + this.ms * 1000, this.owner, 'timer', this.fire)
  }
  private readonly fire = (): void => {
    if (this.repeats) this.world.repeat(this.event, this.world.us + this.ms * 1000, this.fire)
    else this.isDone = true
    this.callback(...this.given)
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
  hasRef(): boolean {
    return !this.isDone
  }
  refresh(): this {
    this.event.run = undefined
    this.isDone = false
    this.event = this.arm()
    return this
  }
  close(): this {
    this.event.run = undefined
    this.isDone = true
    return this
  }
  [Symbol.toPrimitive](): number {
    return this.event.seq
  }
  [Symbol.for('nodejs.dispose')](): void {
    this.close()
  }
}

class VirtualImmediate {
  private readonly event: Scheduled

  constructor(world: Active, callback: Callback, given: readonly unknown[]) {
    // One microsecond later, otherwise a loop of immediates would stop the clock.
    this.event = world.schedule(world.us + 1, world.current, 'immediate', () => callback(...given))
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
  hasRef(): boolean {
    return true
  }
  close(): void {
    this.event.run = undefined
  }
}

let isInstalled = false

/** Replaces the clock, timers and randomness of this Node process. Without an active world they behave as usual. */
export const installGlobals = (): void => {
  if (isInstalled) return
  isInstalled = true
  installClock()
  const timers = installTimers()
  installTimerPromises(timers)
  installRandomness()
  syncBuiltinESMExports() // `import { setTimeout } from 'node:timers/promises'` gets the replacement too
}

const installClock = (): void => {
  const now = (): number => (active ? active.now() : real.Date.now())
  const virtualDate = function (this: unknown, ...given: unknown[]): unknown {
    const isCalled = (new.target as unknown) === undefined
    if (isCalled) return new real.Date(now()).toString()
    return given.length === 0 ? new real.Date(now()) : Reflect.construct(real.Date, given)
  }
  Object.assign(virtualDate, { now, parse: real.Date.parse.bind(real.Date), UTC: real.Date.UTC.bind(real.Date) })
  virtualDate.prototype = real.Date.prototype // an instance of one is an instance of the other
  globalThis.Date = virtualDate as unknown as DateConstructor

  performance.now = () => (active ? active.us / 1000 : real.performanceNow())
  performance.eventLoopUtilization = (...given) =>
    active ? { idle: active.us / 1000, active: 0, utilization: 0 } : real.utilization(...given)

  const hrtime = (since?: [number, number]): [number, number] => {
    if (!active) return real.hrtime(since)
    const [seconds, nanos] = [Math.floor(active.us / 1e6), (active.us % 1e6) * 1000]
    if (!since) return [seconds, nanos]
    const past = (seconds - since[0]) * 1e9 + nanos - since[1]
    return [Math.floor(past / 1e9), past % 1e9]
  }
  hrtime.bigint = (): bigint => (active ? BigInt(active.us) * 1000n : real.hrtime.bigint())
  process.hrtime = hrtime
}

type Timers = {
  readonly setTimeout: (callback: Callback, ms?: number, ...given: unknown[]) => unknown
  readonly setInterval: (callback: Callback, ms?: number, ...given: unknown[]) => unknown
  readonly setImmediate: (callback: Callback, ...given: unknown[]) => unknown
  readonly clear: (timer: unknown) => void
}

const installTimers = (): Timers => {
  const clear = (realClear: (timer: never) => void) => (timer: unknown) => {
    if (timer instanceof VirtualTimer || timer instanceof VirtualImmediate) timer.close()
    else realClear(timer as never)
  }
  const timers = {
    setTimeout: (callback: Callback, ms?: number, ...given: unknown[]) =>
      active ? new VirtualTimer(active, callback, timerMs(ms), given, false) : real.setTimeout(callback, ms, ...given),
    setInterval: (callback: Callback, ms?: number, ...given: unknown[]) =>
      active ? new VirtualTimer(active, callback, timerMs(ms), given, true) : real.setInterval(callback, ms, ...given),
    setImmediate: (callback: Callback, ...given: unknown[]) =>
      active ? new VirtualImmediate(active, callback, given) : real.setImmediate(callback, ...given),
    clearTimeout: clear(real.clearTimeout),
    clearInterval: clear(real.clearInterval),
    clearImmediate: clear(real.clearImmediate),
  }
  Object.assign(globalThis, timers)
  Object.assign(load('node:timers') as object, timers)
  AbortSignal.timeout = (ms) => {
    if (!active) return real.abortTimeout(ms)
    const controller = new AbortController()
    timers.setTimeout(
      () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
      ms,
    )
    return controller.signal
  }
  return { ...timers, clear: timers.clearTimeout }
}

type WaitOptions = { readonly signal?: AbortSignal }

const installTimerPromises = (timers: Timers): void => {
  const promises = load('node:timers/promises') as Record<string, unknown> & {
    readonly setTimeout: (ms?: number, value?: unknown, options?: WaitOptions) => Promise<unknown>
    readonly setImmediate: (value?: unknown, options?: WaitOptions) => Promise<unknown>
  }
  const realPromises = { setTimeout: promises.setTimeout, setImmediate: promises.setImmediate }
  const wait = (begin: (done: () => void) => unknown, value: unknown, signal?: AbortSignal): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const aborted = (): Error =>
        Object.assign(new Error('The operation was aborted', { cause: signal?.reason }), {
          name: 'AbortError',
          code: 'ABORT_ERR',
        })
      if (signal?.aborted === true) {
        reject(aborted())
        return
      }
      const onAbort = (): void => {
        timers.clear(timer)
        reject(aborted())
      }
      const timer = begin(() => {
        signal?.removeEventListener('abort', onAbort)
        resolve(value)
      })
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  const virtual = {
    setTimeout: (ms?: number, value?: unknown, options: WaitOptions = {}): Promise<unknown> =>
      active
        ? wait((done) => timers.setTimeout(done, ms), value, options.signal)
        : realPromises.setTimeout(ms, value, options),
    setImmediate: (value?: unknown, options: WaitOptions = {}): Promise<unknown> =>
      active
        ? wait((done) => timers.setImmediate(done), value, options.signal)
        : realPromises.setImmediate(value, options),
  }
  Object.assign(promises, virtual)
  const custom = Symbol.for('nodejs.util.promisify.custom')
  Object.assign(timers.setTimeout, { [custom]: virtual.setTimeout })
  Object.assign(timers.setImmediate, { [custom]: virtual.setImmediate })
}

const installRandomness = (): void => {
  const random = (): number => (active ? active.current.random() : real.random())
  const fill = <T extends NodeJS.ArrayBufferView>(array: T): T => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
    for (let i = 0; i < bytes.length; i++) bytes[i] = below(random, 256)
    return array
  }
  Math.random = random
  Object.assign(nodeCrypto, {
    randomBytes: (size: number, given?: (error: Error | null, bytes: Buffer) => void): unknown => {
      if (!active) return (real.randomBytes as (size: number, done: typeof given) => unknown)(size, given)
      const bytes = fill(Buffer.alloc(size))
      if (!given) return bytes
      setImmediate(() => given(null, bytes))
      return undefined
    },
    randomUUID: (): string => {
      if (!active) return real.randomUUID()
      const hex = fill(Buffer.alloc(16)).toString('hex')
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
    },
    randomInt: (...given: number[]): number => {
      const [least, most] = given.length > 1 ? [given[0] ?? 0, given[1] ?? 0] : [0, given[0] ?? 0]
      return active ? least + below(random, most - least) : real.randomInt(least, most)
    },
    randomFillSync: (array: NodeJS.ArrayBufferView): unknown => (active ? fill(array) : real.randomFillSync(array)),
  })
  Object.defineProperty(globalThis.crypto, 'getRandomValues', {
    configurable: true,
    value: <T extends NodeJS.ArrayBufferView>(array: T): T =>
      active ? fill(array) : (real.getRandomValues(array as never) as T),
  })
}

// ---- a binary heap, the earliest event first ----

const isBefore = (a: Scheduled, b: Scheduled): boolean =>
  a.us !== b.us ? a.us < b.us : a.tie !== b.tie ? a.tie < b.tie : a.seq < b.seq

const push = (heap: Scheduled[], event: Scheduled): void => {
  let at = heap.push(event) - 1
  while (at > 0) {
    const up = (at - 1) >> 1
    const parent = heap[up] as Scheduled
    if (!isBefore(event, parent)) break
    heap[at] = parent
    at = up
  }
  heap[at] = event
}

const pop = (heap: Scheduled[]): void => {
  const last = heap.pop()
  const size = heap.length
  if (size === 0 || last === undefined) return
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= size) break
    if (child + 1 < size && isBefore(heap[child + 1] as Scheduled, heap[child] as Scheduled)) child++
    if (!isBefore(heap[child] as Scheduled, last)) break
    heap[at] = heap[child] as Scheduled
    at = child
  }
  heap[at] = last
}
