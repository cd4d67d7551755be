// The search language of banners, exploits and reports: words, "phrases" and field:value filters joined by AND, OR and NOT.

type Term = { readonly field?: string; readonly value: string; readonly isNegated: boolean }
/** A disjunction of groups; all terms of a group must match. */
export type Query = { readonly groups: readonly (readonly Term[])[] }

const maxLength = 1024
const maxTerms = 32

type Token = { readonly text: string; readonly field?: string; readonly isQuoted: boolean }

/** AND is the default and binds tighter than OR; undefined if the text is empty, too long or ends in an operator. */
export const parseQuery = (text: string): Query | undefined => {
  if (text.length > maxLength) return undefined
  const tokens = tokenise(text)
  if (!tokens || tokens.length === 0 || tokens.length > maxTerms) return undefined
  const groups: Term[][] = [[]]
  let isNegated = false
  let awaitsTerm = true
  for (const { text: value, field, isQuoted } of tokens) {
    const operator = isQuoted || field !== undefined ? undefined : value
    if (operator === 'NOT') {
      isNegated = !isNegated
      awaitsTerm = true
    } else if (operator === 'AND' || operator === 'OR') {
      if (awaitsTerm) return undefined
      if (operator === 'OR') groups.push([])
      awaitsTerm = true
    } else {
      groups.at(-1)?.push({ ...(field === undefined ? {} : { field }), value, isNegated })
      isNegated = false
      awaitsTerm = false
    }
  }
  return awaitsTerm ? undefined : { groups }
}

const isSpace = (char: string | undefined): boolean => char === ' ' || char === '\t' || char === '\n' || char === '\r'

/** `after: 2024-01-01` with a space is one filter too. */
const tokenise = (text: string): Token[] | undefined => {
  const tokens: Token[] = []
  let at = 0
  let field: string | undefined
  while (at < text.length) {
    if (isSpace(text[at])) {
      at++
      continue
    }
    if (text[at] === '"') {
      const end = text.indexOf('"', at + 1)
      if (end < 0) return undefined
      tokens.push({ text: text.slice(at + 1, end), isQuoted: true, ...(field === undefined ? {} : { field }) })
      field = undefined
      at = end + 1
      continue
    }
    let end = at
    while (end < text.length && !isSpace(text[end]) && text[end] !== '"') {
      if (field === undefined && text[end] === ':' && isFieldName(text.slice(at, end))) break
      end++
    }
    if (field === undefined && text[end] === ':') {
      field = text.slice(at, end).toLowerCase()
      at = end + 1
      continue
    }
    tokens.push({ text: text.slice(at, end), isQuoted: false, ...(field === undefined ? {} : { field }) })
    field = undefined
    at = end
  }
  return field === undefined ? tokens : undefined
}

/** `http://…` and `2001:db8::1` look like filters but are not. */
const isFieldName = (text: string): boolean =>
  /^[a-z][a-z_]{1,40}$/i.test(text) && !/^(https?|ftp)$/i.test(text) && !/^[0-9a-f]{1,4}$/i.test(text)
