// Draws a small chart of the last hour as two SVG paths: a line and the area below it.

export const chartSize = { width: 240, height: 56, points: 120 } as const

const inset = 3

/** The newest value is at the right edge; missing values are skipped. */
export const drawChart = (
  name: string,
  values: readonly (number | undefined)[],
  top?: number,
): Record<string, string> => {
  const { width, height, points } = chartSize
  const highest = top ?? Math.max(...values.map((value) => value ?? 0), 1e-9)
  const step = width / (points - 1)
  const places: string[] = []
  let first: number | undefined
  let last = 0
  for (const [index, value] of values.entries()) {
    if (value === undefined) continue
    last = width - (values.length - 1 - index) * step
    first ??= last
    const y = height - inset - (height - 2 * inset) * Math.min(1, Math.max(0, value / highest))
    places.push(`${last.toFixed(1)} ${y.toFixed(1)}`)
  }
  if (first === undefined) return { [`line-${name}`]: '', [`area-${name}`]: '' }
  const line = places.length === 1 ? `M${places[0] ?? ''}h-2` : `M${places.join('L')}`
  return {
    [`line-${name}`]: line,
    [`area-${name}`]: places.length === 1 ? '' : `${line}L${last.toFixed(1)} ${height}L${first.toFixed(1)} ${height}Z`,
  }
}
