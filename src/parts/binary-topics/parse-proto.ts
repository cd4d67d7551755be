// Parses messages, enums and fields from the text of a .proto file; skips options, services and extensions.
import { UnusableSchema } from './avro-schema.js'
import { scalars, type ProtoEnum, type ProtoField, type ProtoFile, type ProtoMessage } from './proto-file.js'

const maxNesting = 32
const maxTokens = 500_000

/** Throws UnusableSchema. */
export const parseProto = (text: string): ProtoFile => {
  const tokens = tokensIn(text)
  let at = 0
  const peek = (): string => tokens[at] ?? ''
  const next = (): string => {
    if (at >= tokens.length) throw new UnusableSchema('ends in the middle of a declaration')
    return tokens[at++] as string
  }
  const expect = (token: string): void => {
    const found = next()
    if (found !== token) throw new UnusableSchema(`has ${JSON.stringify(found.slice(0, 40))} where ${token} belongs`)
  }
  /** Skips a declaration up to its semicolon or closing brace. */
  const skip = (): void => {
    for (let depth = 0; ;) {
      const token = next()
      if (token === '{' || token === '[') depth++
      else if (token === '}' || token === ']') {
        depth--
        if (depth === 0 && token === '}') return
      } else if (token === ';' && depth === 0) return
    }
  }
  /** Skips the options in brackets and the semicolon after a field. */
  const endOfField = (): void => {
    if (peek() === '[') {
      let depth = 0
      do {
        const token = next()
        if (token === '[' || token === '{') depth++
        if (token === ']' || token === '}') depth--
      } while (depth > 0)
    }
    expect(';')
  }
  const number = (): number => {
    const token = next()
    const value = token === '-' ? -Number(next()) : Number(token)
    if (!Number.isInteger(value))
      throw new UnusableSchema(`has ${JSON.stringify(token.slice(0, 40))} where a number belongs`)
    return value
  }
  const typed = (type: string): Pick<ProtoField, 'scalar' | 'typeName'> =>
    scalars.has(type) ? { scalar: type, typeName: '' } : { scalar: '', typeName: type }

  const parseEnum = (): ProtoEnum => {
    const name = next()
    const values = new Map<number, string>()
    expect('{')
    while (peek() !== '}') {
      if (peek() === 'option' || peek() === 'reserved' || peek() === ';') {
        skip()
        continue
      }
      const label = next()
      expect('=')
      const value = number()
      if (!values.has(value)) values.set(value, label)
      endOfField()
    }
    next()
    return { name, values }
  }

  const parseField = (into: ProtoMessage, depth: number): void => {
    let isRepeated = false
    if (['optional', 'required', 'repeated'].includes(peek()) && tokens[at + 1] !== '=')
      isRepeated = next() === 'repeated'
    if (peek() === 'map' && tokens[at + 1] === '<') {
      at += 2
      const key = next()
      expect(',')
      const value = typed(next())
      expect('>')
      const name = next()
      expect('=')
      into.fields.push({ name, number: number(), isRepeated: true, scalar: '', typeName: '', map: { key, ...value } })
      endOfField()
      return
    }
    const type = next()
    const name = next()
    expect('=')
    const field = { number: number(), isRepeated }
    if (type !== 'group') {
      into.fields.push({ name, ...field, ...typed(type) })
      endOfField()
      return
    }
    into.messages.push(parseBody(name, depth + 1))
    into.fields.push({ name: name.toLowerCase(), ...field, scalar: 'group', typeName: name })
  }

  const parseBody = (name: string, depth: number): ProtoMessage => {
    if (depth > maxNesting) throw new UnusableSchema(`is nested deeper than ${maxNesting}`)
    const message: ProtoMessage = { name, fields: [], messages: [], enums: [] }
    if (peek() === '[') {
      // Options of a group.
      while (next() !== ']');
    }
    expect('{')
    while (peek() !== '}') {
      const token = peek()
      const isDeclaration = tokens[at + 2] === '{'
      if (token === ';') next()
      else if (token === 'message' && isDeclaration) {
        next()
        message.messages.push(parseBody(next(), depth + 1))
      } else if (token === 'enum' && isDeclaration) {
        next()
        message.enums.push(parseEnum())
      } else if (token === 'oneof' && isDeclaration) {
        at += 3
        while (peek() !== '}') {
          if (peek() === 'option' || peek() === ';') skip()
          else parseField(message, depth)
        }
        next()
      } else if (['option', 'extensions', 'reserved', 'extend'].includes(token)) skip()
      else parseField(message, depth)
    }
    next()
    return message
  }

  const messages: ProtoMessage[] = []
  const enums: ProtoEnum[] = []
  let name = ''
  while (at < tokens.length) {
    const token = next()
    if (token === 'package') {
      name = next()
      expect(';')
    } else if (token === 'message') messages.push(parseBody(next(), 0))
    else if (token === 'enum') enums.push(parseEnum())
    else if (token !== ';') {
      at--
      skip()
    }
  }
  return { package: name, messages, enums }
}

/** Drops comments; strings keep their quotation marks. */
const tokensIn = (text: string): readonly string[] => {
  const pattern =
    /\s+|\/\/[^\n]*|\/\*[^]*?\*\/|("(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'|\.?[A-Za-z_][\w.]*|\d[\w.+]*|[{}[\]()<>=;,:\-+./])/y
  const tokens: string[] = []
  while (pattern.lastIndex < text.length) {
    const { lastIndex } = pattern
    const found = pattern.exec(text)
    if (!found)
      throw new UnusableSchema(
        `has ${JSON.stringify(text.slice(lastIndex, lastIndex + 1))}, which is not valid in a .proto file`,
      )
    if (found[1] !== undefined && tokens.push(found[1]) > maxTokens) throw new UnusableSchema('is too long')
  }
  return tokens
}
