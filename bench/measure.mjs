// Measures the CPU time of functions in alternating rounds and takes the median.

const median = (numbers) => {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]
}

/** Keeps results alive, so that the work is not optimised away. */
let sink = 0

// CPU time instead of wall time, so that other work on the machine does not count.
const time = (work, inputs, repeat, count) => {
  const start = process.cpuUsage()
  for (let i = 0; i < repeat; i++) for (const input of inputs) sink += work(input).length
  const { user, system } = process.cpuUsage(start)
  return (user + system) / (repeat * count)
}

/**
 * `works`: name → function of one input that returns something with a length. `sizeOf`: how many inputs an input counts as.
 * Returns name → { us, rounds }: the median CPU time per input in microseconds, and all values.
 */
export const measure = (works, inputs, { rounds = 31, perRound = 2000, warmUp = 30, sizeOf = () => 1 } = {}) => {
  const repeat = Math.max(1, Math.round(perRound / inputs.length))
  const count = inputs.reduce((sum, input) => sum + sizeOf(input), 0)
  const names = Object.keys(works)
  const taken = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = -warmUp; round < rounds; round++) {
    const order = round % 2 === 0 ? names : names.toReversed()
    for (const name of order) {
      const us = time(works[name], inputs, repeat, count)
      if (round >= 0) taken[name].push(us)
    }
  }
  if (sink < 0) throw new Error('unreachable')
  return Object.fromEntries(names.map((name) => [name, { us: median(taken[name]), rounds: taken[name] }]))
}

/** The median of the ratios per round: how many times as long `slow` takes. */
export const ratio = (measured, slow, fast) =>
  median(measured[slow].rounds.map((us, round) => us / measured[fast].rounds[round]))
