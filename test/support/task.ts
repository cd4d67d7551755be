// A task for tests of what is kept for one: it belongs to nobody's group, and writes where it is told to.
import type { Task } from '../../src/delivery/task.js'

type TestTask = Task & { readonly close: () => void }

/** Of partition 0 of `fw`, unless told otherwise. */
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
