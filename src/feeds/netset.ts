// Netsets: addresses and ranges alone, as netset files list them and as `ipset save` and `ipset restore` write them.
import { parseRange } from '../domain/address.js'
import type { Parser } from './feed.js'
import { forEachLine } from './lines.js'
import { withoutComment } from './plain.js'
import { parseSpan } from './span.js'

export const parseNetset: Parser = (bytes, sink) => {
  forEachLine(bytes, (line, number) => {
    const text = withoutComment(line)
    if (text === '') return true
    const words = text.slice(0, 1024).split(/\s+/)
    if (words[0] === 'create' || words[0] === '-N' || text === 'COMMIT') return true
    const value = words[0] === 'add' || words[0] === '-A' ? words[2] : words.length === 1 ? words[0] : undefined
    // A set of networks holds no names: one that does is another file than the one meant.
    return value !== undefined && (parseRange(value) || parseSpan(value)) ? sink.add(value, number) : sink.junk(number)
  })
  return undefined
}
