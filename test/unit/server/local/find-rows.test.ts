// One key may have many searches open: how much of each turn of the event loop they take.
import { expect, it } from 'vitest'
import { createFindRows } from '../../../../src/server/local/find-rows.js'

const rows = Array.from({ length: 20_000 }, (_, nth) => nth)

it('finds every matching row in the order of the index', async () => {
  const findRows = createFindRows()
  const even = { test: (row: number) => row % 2 === 0, terms: 32 }
  expect(await findRows('b', rows, even)).toEqual(rows.filter((row) => row % 2 === 0))
  expect(await findRows('b', [1, 2], even)).toEqual([2])
  expect(await findRows('b', [], even)).toEqual([])
})

it('takes the same of a turn for one search of a key and for fifty, and fewer rows where each needs more tests', async () => {
  const findRows = createFindRows()
  let tested = 0
  let most = 0
  let before = 0
  let isOver = false
  const watch = (): void => {
    most = Math.max(most, tested - before)
    before = tested
    if (!isOver) setImmediate(watch)
  }
  setImmediate(watch)
  const count = (terms: number) => ({ terms, test: () => ((tested += terms), false) })
  const all = Promise.all(Array.from({ length: 50 }, (_, nth) => findRows('b', rows, count(1 + (nth % 32)))))
  const other = findRows('c', rows, count(1)).then(() => tested)
  const testedWhenOtherEnded = await other
  await all
  isOver = true
  expect(most).toBeLessThanOrEqual(3 * 2_000)
  // The other key's search has as many turns as it needs alone.
  expect(testedWhenOtherEnded).toBeLessThan(tested / 10)
})
