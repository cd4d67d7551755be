// A file stream that retries short writes and counts the complete lines written.
import { close, write } from 'node:fs'
import { Socket } from 'node:net'
import { Writable } from 'node:stream'
import type { Io } from './command.js'

type FileOutput = Writable & {
  readonly fd: number
  readonly completeLines: () => number
}

/** A full disk may accept part of a write without an error, so the rest is retried until it succeeds or fails. */
export const fileOutput = (fd: number): FileOutput => {
  let lines = 0
  const put = (rest: Buffer, done: (error?: Error | null) => void): void =>
    write(fd, rest, (error, taken) => {
      for (let at = rest.indexOf(newline); at !== -1 && at < taken; at = rest.indexOf(newline, at + 1)) lines++
      if (error || taken === rest.length) done(error)
      else if (taken === 0) done(new Error('the file accepts no more data'))
      else put(rest.subarray(taken), done)
    })
  const stream = new Writable({
    write: (chunk: Buffer, _, done) => put(chunk, done),
    final: (done) => close(fd, done),
  })
  return Object.assign(stream, { fd, completeLines: () => lines })
}

const newline = 0x0a

/** Node's own stream for files loses the rest of a short write; pipes and terminals are fine. */
export const standardOutput = (given: NodeJS.WriteStream): Io['stdout'] =>
  given instanceof Socket ? given : fileOutput((given as { readonly fd: number }).fd)

/** Log output that cannot be written is ignored. */
export const standardError = (given: NodeJS.WriteStream): Io['stderr'] => {
  if (given instanceof Socket) return given.on('error', () => undefined)
  const { fd } = given as { readonly fd: number }
  return new Writable({ write: (chunk: Buffer, _, done) => write(fd, chunk, () => done()) })
}
