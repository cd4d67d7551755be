// Runs the writes of a partition one after the other.

type Turns = {
  /** The most recently queued task. */
  turn: Promise<unknown>
}

export const inTurn = <Result>(turns: Turns, task: () => Promise<Result>): Promise<Result> => {
  const mine = turns.turn.then(task)
  turns.turn = mine.catch(() => undefined) // the caller handles its failure
  return mine
}
