// Finds the user of a login in the text of a line: `Accepted password for root from …`, `[alice] OK LOGIN`, `user=<alice>`.

const patterns = [
  /\b(?:for|of)(?: invalid| illegal)? user "?([^\s"'<>()[\],;]{1,256})"? /i,
  /\bfor ["']?([^\s"'<>()[\],;]{1,256})["']? from /i,
  /\b(?:user(?:name)?|sasl_username|account name) ?[=:] ?["'<]?([^\s"'<>()[\],;]{1,256})/i,
  /\buser ["'<]([^"'<>]{1,256})["'>]/i,
  /\[([^\s[\]]{1,256})\] (?:OK|FAIL) LOGIN\b/,
]

/** Logins are at the beginning of a line, and longer text is not worth searching. */
const longest = 4096

export const userInText = (text: unknown): string | undefined => {
  if (typeof text !== 'string') return undefined
  const head = text.slice(0, longest)
  for (const pattern of patterns) {
    const user = pattern.exec(head)?.[1]
    if (user !== undefined) return user
  }
  return undefined
}
