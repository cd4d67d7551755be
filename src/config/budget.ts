// The call budget of the key: the settings, or 1,000 calls a day without any.
import type { Config } from './schema.js'

type Budget = {
  /** 0 is no limit. */
  readonly perHour: number
  readonly perDay: number
  readonly perRun: number
  /** No limit was set. */
  readonly isDefault: boolean
}

const defaultPerDay = 1_000

export const budgetOf = ({ perHour, perDay, perRun }: Config['admit']): Budget => {
  const isDefault = perDay === undefined && perHour === 0 && perRun === 0
  if (isDefault) return { perHour, perRun, perDay: defaultPerDay, isDefault }
  return { perHour, perRun, perDay: perDay === undefined || perDay === 'unlimited' ? 0 : perDay, isDefault }
}
