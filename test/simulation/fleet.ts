// Numbered processes of one kind: each runs at most once at a time, and is stopped and restarted as by an orchestrator.
import type { Exit, Process, World } from './world.js'

export type Fleet = {
  /** The latest process with this number. */
  readonly processOf: (nth: number) => Process | undefined
  readonly numberOf: (process: Process) => number
  readonly processes: () => readonly Process[]
  readonly alive: () => readonly Process[]
  readonly launch: (nth: number) => void
  /** Sends SIGTERM, and resumes a paused process. */
  readonly halt: (nth: number) => void
  readonly kill: (nth: number, againMs: number) => void
  readonly stop: (nth: number, againMs: number) => void
  /** Starts no further processes. */
  readonly close: () => void
}

export type FleetOptions = {
  readonly size: number
  /** Process names are this and a number from 1. */
  readonly name: string
  readonly main: (self: Process, nth: number, signal: AbortSignal) => Promise<unknown>
  /** `isStopped`: the stop was requested. */
  readonly exited: (process: Process, nth: number, exit: Exit, isStopped: boolean) => void
}

type Member = { process: Process | undefined; stop: AbortController }

export const createFleet = (world: World, { size, name, main, exited }: FleetOptions): Fleet => {
  const members = Array.from({ length: size }, (): Member => ({ process: undefined, stop: new AbortController() }))
  let isClosed = false

  const processes = (): readonly Process[] => members.flatMap(({ process }) => process ?? [])

  const launch = (nth: number): void => {
    const member = members[nth]
    if (!member || isClosed || member.process?.isAlive === true) return
    const stop = new AbortController()
    const process = world.start(`${name}${nth + 1}`, (self) => main(self, nth, stop.signal))
    Object.assign(member, { process, stop })
    process.onExit((exit) => exited(process, nth, exit, stop.signal.aborted))
  }

  const halt = (nth: number): void => {
    const { process, stop } = members[nth] ?? {}
    if (process?.isAlive !== true) return
    process.resume()
    process.post(() => stop?.abort('SIGTERM'))
  }

  return {
    processOf: (nth) => members[nth]?.process,
    numberOf: (process) => members.findIndex((member) => member.process === process),
    processes,
    alive: () => processes().filter(({ isAlive }) => isAlive),
    launch,
    halt,
    kill: (nth, againMs) => {
      members[nth]?.process?.kill()
      world.after(againMs, () => launch(nth))
    },
    stop: (nth, againMs) => {
      const process = members[nth]?.process
      halt(nth)
      process?.onExit(() => world.after(againMs, () => launch(nth)))
    },
    close: () => {
      isClosed = true
    },
  }
}
