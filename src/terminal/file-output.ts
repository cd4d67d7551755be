// A stream into a file that has written every byte it was given, or says how far it came.
import { close, write } from 'node:fs'
import { Socket } from 'node:net'
import { Writable } from 'node:stream'
import type { Io } from './command.js'

export type FileOutput = Writable & {
  readonly fd: number
  /** Lines that are in the file from end to end. */
  readonly wholeLines: () => number
}

/** A disk that fills up takes a part of a write without an error: the rest is written again until it is there or refused. */
export const fileOutput = (fd: number): FileOutput => {
  let lines = 0
  const put = (rest: Buffer, done: (error?: Error | null) => void): void =>
    write(fd, rest, (error, taken) => {
      for (let at = rest.indexOf(newline); at !== -1 && at < taken; at = rest.indexOf(newline, at + 1)) lines++
      if (error || taken === rest.length) done(error)
      else if (taken === 0) done(new Error('nothing more is taken'))
      else put(rest.subarray(taken), done)
    })
  const stream = new Writable({
    write: (chunk: Buffer, _, done) => put(chunk, done),
    final: (done) => close(fd, done),
  })
  return Object.assign(stream, { fd, wholeLines: () => lines })
}

const newline = 0x0a

/** What Node gives for a file forgets what a short write left over; pipes and terminals are as they should be. */
export const standardOutput = (given: NodeJS.WriteStream): Io['stdout'] =>
  given instanceof Socket ? given : fileOutput((given as { readonly fd: number }).fd)

/** What cannot be logged stops nothing: there is nobody left to be told. */
export const standardError = (given: NodeJS.WriteStream): Io['stderr'] => {
  if (given instanceof Socket) return given.on('error', () => undefined)
  const { fd } = given as { readonly fd: number }
  return new Writable({ write: (chunk: Buffer, _, done) => write(fd, chunk, () => done()) })
}
