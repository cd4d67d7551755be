// A task without a consumer group for tests of per-task state; it writes to a destination of the test.
import type { Task } from '../../src/delivery/task.js'

type TestTask = Task & { readonly close: () => void }

/** A task of partition 0 of `fw` by default. */
export const testTask = (given: Partial<Task> = {}): TestTask => {
  const closed = new AbortController()
  const { topic = 'fw', partition = 0 } = given
  return {
    topic,
    partition,
    name: `${topic}/${partition}`,
    signal: closed.signal,
    write: () => Promise.resolve('written'),
    claim: () => Promise.resolve({ offset: Infinity, topicId: undefined, isFormer: false }),
    readAgain: () => Promise.resolve({ records: [], gone: [], rest: [] }),
    close: () => closed.abort(),
    ...given,
  }
}
