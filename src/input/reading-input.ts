// Runs what reads the user's files; a file that cannot be read is the user's to mend, not a bug of ours.
import { UsageError } from '../terminal/command.js'
import { InputError } from './read-lines.js'

export const readingInput = async (work: () => Promise<void>): Promise<void> => {
  try {
    await work()
  } catch (error) {
    if (error instanceof InputError) throw new UsageError(`cannot read the input ${error.message}`)
    throw error
  }
}
