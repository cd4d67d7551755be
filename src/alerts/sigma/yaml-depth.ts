// Rejects deeply nested YAML before parsing, because the recursive parser could exhaust the stack.

const maxDepth = 100

/** Overestimates: brackets in quotes count too, and so does every indentation character. */
export const nestsTooDeep = (text: string): boolean => {
  let open = 0
  let lead = 0
  let colons = 0
  let isLead = true
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 10 || code === 13) {
      lead = 0
      colons = 0
      isLead = true
      continue
    }
    if (code === 91 || code === 123) {
      if (++open > maxDepth) return true
    } else if ((code === 93 || code === 125) && open > 0) open--
    // `a: a: a: …`: every name on the line begins a level of its own.
    if (code === 58 && text.charCodeAt(i + 1) === 32 && ++colons > 2 * maxDepth) return true
    // Spaces, tabs, and the signs that open a level on the same line: - ? :
    if (!isLead) continue
    if (code === 32 || code === 9 || code === 45 || code === 63 || code === 58) lead++
    else isLead = false
    if (lead > 4 * maxDepth) return true
  }
  return false
}
