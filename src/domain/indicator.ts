// An indicator: one address or one name, in its normal form.
import { ownText } from '../base/bounded-cache.js'

export const indicatorTypes = ['ip', 'domain'] as const
export type IndicatorType = (typeof indicatorTypes)[number]

export type Indicator = { readonly type: IndicatorType; readonly value: string }

/** An address is its own key, so the most common lookup allocates nothing. */
export const keyOf = (indicator: Indicator): string =>
  indicator.type === 'ip' ? indicator.value : `domain:${indicator.value}`

/** A copy for long-term storage. */
export const ownIndicator = ({ type, value }: Indicator): Indicator => ({ type, value: ownText(value) })
