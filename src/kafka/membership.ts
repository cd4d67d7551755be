// The place of this process in its group from one join to the next: whoever waits on behalf of it is told as soon as it ends.

export type Membership = {
  /** Counts the joins of this process. */
  readonly generation: number
  /** Why it has ended or is about to; undefined while it lasts. */
  readonly lost: () => Error | undefined
  /** The group refuses us; the first cause counts. */
  readonly lose: (cause: Error) => void
  /** As above, but the group still waits for what is in progress: only a later refusal ends waits. */
  readonly yieldSoon: (cause: Error) => void
  /** Settles as the task does, or rejects with the cause as soon as membership is lost; the task itself goes on. */
  readonly orLost: <Result>(task: Promise<Result>) => Promise<Result>
}

export const newMembership = (generation: number): Membership => {
  let cause: Error | undefined
  let ended: Error | undefined
  // Removed when its task has settled: a membership lasts for weeks, and a promise that it ends would keep everyone who ever waited.
  const waiting = new Set<(cause: Error) => void>()
  return {
    generation,
    lost: () => cause,
    lose: (why) => {
      cause ??= why
      ended = cause
      for (const reject of waiting) reject(cause)
      waiting.clear()
    },
    yieldSoon: (why) => {
      cause ??= why
    },
    orLost: (task) =>
      new Promise((resolve, reject) => {
        if (ended) reject(ended)
        else waiting.add(reject)
        task.then(resolve, reject).finally(() => waiting.delete(reject))
      }),
  }
}
