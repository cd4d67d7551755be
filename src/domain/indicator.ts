// An indicator is what intelligence is about: one address or one name, in its normal form.

export const indicatorTypes = ['ip', 'domain'] as const
export type IndicatorType = (typeof indicatorTypes)[number]

export type Indicator = { readonly type: IndicatorType; readonly value: string }

export const keyOf = (indicator: Indicator): string => `${indicator.type}:${indicator.value}`
