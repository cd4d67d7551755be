// Splits a line of values that commas, or another sign, separate.

/** At most `max` fields; `""` inside quotes is a quote. */
export const csv = (text: string, max: number, separator = ','): string[] => {
  const fields: string[] = []
  let at = 0
  while (at <= text.length && fields.length < max) {
    // A blank may stand between the comma and the quote.
    if (text.charCodeAt(at) === 0x20 && text.charCodeAt(at + 1) === 0x22) at++
    if (text.charCodeAt(at) === 0x22) {
      let end = text.indexOf('"', at + 1)
      while (end > 0 && text.charCodeAt(end + 1) === 0x22) end = text.indexOf('"', end + 2)
      if (end < 0) end = text.length
      fields.push(text.slice(at + 1, end).replaceAll('""', '"'))
      const comma = text.indexOf(separator, end)
      at = comma < 0 ? text.length + 1 : comma + 1
    } else {
      const comma = text.indexOf(separator, at)
      fields.push(text.slice(at, comma < 0 ? text.length : comma))
      at = comma < 0 ? text.length + 1 : comma + 1
    }
  }
  return fields
}
