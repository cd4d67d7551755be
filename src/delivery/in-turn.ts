// What is written on behalf of a partition is written one after the other.

type Turns = {
  /** The last one that was begun. */
  turn: Promise<unknown>
}

export const inTurn = <Result>(turns: Turns, task: () => Promise<Result>): Promise<Result> => {
  const mine = turns.turn.then(task)
  turns.turn = mine.catch(() => undefined) // whoever began it handles its failure
  return mine
}
