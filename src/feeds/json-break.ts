// Where text stops being JSON, for the engine does not always say it.

const literal = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)/y

/** What may come next: a value; a value or the end of an empty list; a key; a key or the end; a colon; a comma or the end. */
type Next = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'after'

/** The offset of the character that JSON does not allow there; the length of the text when only the end is missing. */
export const findBreak = (text: string): number => {
  const around: ('{' | '[')[] = []
  let next = 'value' as Next
  let at = 0
  while (at < text.length) {
    const sign = text.charAt(at)
    if (sign === ' ' || sign === '\n' || sign === '\r' || sign === '\t') {
      at++
      continue
    }
    const inside = around.at(-1)
    if (next === 'colon') {
      if (sign !== ':') return at
      next = 'value'
      at++
    } else if (next === 'after') {
      if (sign === ',' && inside) next = inside === '{' ? 'key' : 'value'
      else if (inside && sign === closing[inside]) around.pop()
      else return at
      at++
    } else if ((next === 'first key' || next === 'first value') && inside && sign === closing[inside]) {
      around.pop()
      next = 'after'
      at++
    } else if (sign === '"') {
      const end = endOfString(text, at)
      if (end < 0) return -end - 1
      next = next === 'key' || next === 'first key' ? 'colon' : 'after'
      at = end
    } else if (next === 'key' || next === 'first key') return at
    else if (sign === '{' || sign === '[') {
      around.push(sign)
      next = sign === '{' ? 'first key' : 'first value'
      at++
    } else {
      literal.lastIndex = at
      if (!literal.test(text)) return at
      next = 'after'
      at = literal.lastIndex
    }
  }
  return text.length
}

const closing = { '{': '}', '[': ']' } as const

/** Behind the closing quote; below zero, -offset - 1 of what a string may not hold. */
const endOfString = (text: string, start: number): number => {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 34) return at + 1
    if (code < 32) return -at - 1
    if (code === 92 && !/^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.test(text.slice(++at, at + 5))) return -at - 1
  }
  return -text.length - 1
}
