// Draws rows as bars of events per second and CPU time per event, with a caption about the machine.
const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const left = 300
const wide = 300
const gap = 90
const high = 34
const top = 56

const median = (numbers) => numbers.toSorted((one, other) => one - other)[numbers.length >> 1]

/** `rows`: name, whether it is our program, and the measurements of each round. */
export const plot = (rows, caption) => {
  const columns = [
    { title: 'events per second', of: ({ rates }) => rates, text: (value) => Math.round(value).toLocaleString('en') },
    { title: 'CPU per event, µs', of: ({ cpus }) => cpus, text: (value) => value.toFixed(1) },
  ]
  const height = top + rows.length * high + 30 + caption.length * 18
  const width = left + columns.length * (wide + gap)
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="14">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
  ]
  for (const [nth, { title, of, text }] of columns.entries()) {
    const x = left + nth * (wide + gap)
    const most = Math.max(...rows.flatMap(of))
    parts.push(`<text x="${x}" y="${top - 20}" font-weight="600">${title}</text>`)
    for (const [at, row] of rows.entries()) {
      const y = top + at * high
      const values = of(row)
      const [low, middle, best] = [Math.min(...values), median(values), Math.max(...values)].map(
        (value) => (value / most) * wide,
      )
      parts.push(
        `<rect x="${x}" y="${y}" width="${middle.toFixed(1)}" height="${high - 12}" fill="${row.isOurs ? '#2563eb' : '#94a3b8'}"/>`,
        `<line x1="${(x + low).toFixed(1)}" x2="${(x + best).toFixed(1)}" y1="${y + 11}" y2="${y + 11}" stroke="#111"/>`,
        `<text x="${(x + best + 8).toFixed(1)}" y="${y + 16}">${text(median(values))}</text>`,
      )
      if (nth === 0) parts.push(`<text x="${left - 12}" y="${y + 16}" text-anchor="end">${escape(row.name)}</text>`)
    }
  }
  for (const [at, line] of caption.entries())
    parts.push(
      `<text x="12" y="${top + rows.length * high + 24 + at * 18}" font-size="12" fill="#444">${escape(line)}</text>`,
    )
  return `${parts.join('\n')}\n</svg>\n`
}
