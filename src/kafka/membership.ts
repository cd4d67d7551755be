// The membership of this process in its group from one join to the next; pending waits end as soon as it is lost.

export type Membership = {
  /** Number of joins by this process. */
  readonly generation: number
  /** The reason why it has ended or is about to; undefined while it lasts. */
  readonly lost: () => Error | undefined
  /** The group refuses this member. The first cause counts. */
  readonly lose: (cause: Error) => void
  /** Like `lose`, but the group still waits for work in progress: only a later refusal ends waits. */
  readonly yieldSoon: (cause: Error) => void
  /** Settles with the task, or rejects as soon as the membership is lost. The task itself continues. */
  readonly orLost: <Result>(task: Promise<Result>) => Promise<Result>
}

export const newMembership = (generation: number): Membership => {
  let cause: Error | undefined
  let ended: Error | undefined
  // Remove each entry when its task settles: a membership may last for weeks, and one shared promise would keep every waiter in memory.
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
