// Reads a rule's condition (`selection and not 1 of filter_*`) over its named selections.
import { both, type Expression } from './expression.js'

type Condition = { readonly expression: Expression; readonly used: ReadonlySet<string> } | { readonly wrong: string }

const tokenPattern = /\s*(?:([()])|([^\s()|]+)|(\|))/y
const maxTokens = 1000

/** Thrown and caught in this file only. */
class Wrong extends Error {}

export const parseCondition = (text: string, selections: ReadonlyMap<string, Expression>): Condition => {
  const used = new Set<string>()
  try {
    const tokens = tokensOf(text)
    let at = 0
    const word = (): string | undefined => tokens[at]?.toLowerCase()

    const namesLike = (pattern: string): string[] => {
      const names = [...selections.keys()]
      if (pattern.toLowerCase() === 'them') return names.filter((name) => !name.startsWith('_'))
      const parts = pattern.split('*')
      return names.filter((name) => isLike(name, parts))
    }

    const quantified = (quantifier: string): Expression => {
      at += 2
      const pattern = tokens[at++]
      if (pattern === undefined) throw new Wrong('ends after "of"')
      const names = namesLike(pattern)
      if (names.length === 0) throw new Wrong(`${JSON.stringify(pattern)} matches no selection`)
      for (const name of names) used.add(name)
      const parts = names.flatMap((name) => selections.get(name) ?? [])
      return both(quantifier === 'all' ? 'and' : 'or', parts)
    }

    const operand = (): Expression => {
      const token = tokens[at]
      if (token === undefined) throw new Wrong('ends where a selection is expected')
      if (word() === 'not') {
        at++
        return { kind: 'not', part: operand() }
      }
      if (token === '(') {
        at++
        const inner = either()
        if (tokens[at++] !== ')') throw new Wrong('has a bracket that is not closed')
        return inner
      }
      if (tokens[at + 1]?.toLowerCase() === 'of') {
        const quantifier = token.toLowerCase()
        if (!['1', 'any', 'all'].includes(quantifier))
          throw new Wrong(`${JSON.stringify(`${token} of`)} is not supported; 1 of, any of and all of are`)
        return quantified(quantifier)
      }
      const selection = selections.get(token)
      if (!selection) throw new Wrong(`there is no selection ${JSON.stringify(token)}`)
      used.add(token)
      at++
      return selection
    }

    const chain = (name: 'and' | 'or', next: () => Expression): Expression => {
      const parts = [next()]
      while (word() === name) {
        at++
        parts.push(next())
      }
      return both(name, parts)
    }
    const every = (): Expression => chain('and', operand)
    const either = (): Expression => chain('or', every)

    const expression = either()
    if (at < tokens.length) throw new Wrong(`${JSON.stringify(tokens[at])} is not expected there`)
    return { expression, used }
  } catch (error) {
    if (error instanceof Wrong)
      return { wrong: `the condition ${JSON.stringify(text.slice(0, 120))}: ${error.message}` }
    throw error
  }
}

const tokensOf = (text: string): string[] => {
  const tokens: string[] = []
  const end = text.trimEnd().length
  tokenPattern.lastIndex = 0
  while (tokenPattern.lastIndex < end) {
    const [, bracket, word, pipe] = tokenPattern.exec(text) ?? []
    if (pipe !== undefined)
      throw new Wrong('aggregations behind "|" (count, near, …) are not supported; each event is tested on its own')
    tokens.push(bracket ?? word ?? '')
    if (tokens.length > maxTokens) throw new Wrong('is too long')
  }
  if (tokens.length === 0) throw new Wrong('is empty')
  return tokens
}

const isLike = (name: string, parts: readonly string[]): boolean => {
  const [first = '', ...rest] = parts
  const last = rest.pop()
  if (last === undefined) return name === first
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false
  let at = first.length
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found < 0 || found + part.length > name.length - last.length) return false
    at = found + part.length
  }
  return true
}
