// Asks the questions of `init` on a terminal, and repeats each until its answer is valid.
import { createInterface } from 'node:readline'
import { printable } from '../../domain/control-characters.js'
import type { Io } from '../../terminal/command.js'
import type { Reader } from './answers.js'

export type Ask = {
  /** Undefined once the terminal is closed or the program is stopped. */
  readonly ask: <Value>(question: string, read: Reader<Value>, usual?: string) => Promise<Value | undefined>
  readonly close: () => void
}

export const openQuestions = ({ stdin, stdout, signal }: Io): Ask => {
  // Line editing is left to the terminal, so that Ctrl-C is a signal.
  const reader = createInterface({ input: stdin, terminal: false })
  const lines = reader[Symbol.asyncIterator]()
  const close = (): void => reader.close()
  signal.addEventListener('abort', close, { once: true })
  const ask: Ask['ask'] = async (question, read, usual) => {
    for (;;) {
      stdout.write(`${question}${usual === undefined ? '' : ` [${usual}]`}: `)
      const line = await lines.next()
      if (line.done === true || signal.aborted) return undefined
      const found = read(line.value.trim() || (usual ?? ''))
      if ('value' in found) return found.value
      stdout.write(`  ${printable(found.problem)}\n`)
    }
  }
  return { ask, close }
}
