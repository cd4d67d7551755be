// Seeds that failed once, each named after the promise that it broke.
import { expect, it } from 'vitest'
import { simulate } from '../run-simulation.js'

it('what was found once stays mended', async () => {
  const { seeds, failed, told } = await simulate('--found')
  expect(failed, told).toEqual([])
  expect(seeds).toBeGreaterThan(5)
})
