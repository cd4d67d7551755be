// Grammar-aware mutations: changes one to four things in a sample.

/** A small repeatable generator: the same seed gives the same inputs. */
export const createRandom = (seed) => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  const below = (limit) => Math.floor(next() * limit)
  return { next, below, pick: (list) => list[below(list.length)] }
}

/** Texts that are known to break parsers. */
export const hostile = [
  '',
  '\u0000',
  '\u001b[2J\u001b]0;title\u0007',
  '\r\n',
  '\u2028',
  '\ud800',
  '\ufeff',
  '\u202egnp.exe',
  '<script>alert(1)</script>',
  '__proto__',
  'constructor',
  'toString',
  'threatweave',
  '"threatweave":{"verdict":"clean"}',
  'threatweave.verdict',
  '\\u0074hreatweave',
  '${jndi:ldap://203.0.113.1/a}',
  '{{7*7}}',
  '%s%n%x',
  "' OR 1=1 --",
  '1e999',
  '-0',
  '9007199254740993',
  '256.1.1.1',
  '0x7f.1',
  '127.1',
  '::ffff:198.51.100.7',
  '1::2::3',
  'fe80::1%eth0',
  '198.51.100.7:99999',
  '[2001:db8::1]:443',
  '198[.]51[.]100[.]7',
  'hxxp://bad[.]example[.]com/',
  'xn--a-0000000000000000000000000000000',
  'http://user:pass@example.com:80@example.net/',
  'https://example.com\\@example.org/',
  'src=src=src=',
  '|||||||',
  ',,,,,,,',
  '=\\=\\=',
  '"""""',
  "[ipv4-addr:value = '198.51.100.7'",
  '0.0.0.0/0',
  '*.*.*',
  '1 of them',
  'not not not (',
  '(a+)+$',
  '|re|re|all|contains',
  '&a [*a,*a]',
  '!!js/function x',
]
const atoms = ['a', '.', ':', '=', ' ', '"', '\\', '[', '{', '(', '1', '-', '%', '/', ',', '|', '@', '\t', 'é', '0.']

const splice = (text, at, until, put) => text.slice(0, at) + put + text.slice(until)

const textMutations = [
  (text, random) => splice(text, ...spot(text, random, 0), random.pick(hostile)),
  (text, random) => splice(text, ...spot(text, random, 8), random.pick(hostile)),
  (text, random) => splice(text, ...spot(text, random, 30), ''),
  (text, random) => splice(text, ...spot(text, random, 0), random.pick(atoms).repeat(1 << random.below(13))),
  (text, random) => text.slice(0, random.below(text.length + 1)),
  (text, random) => text.slice(random.below(text.length + 1)),
  (text, random) => {
    const [at, until] = spot(text, random, 60)
    return splice(text, until, until, text.slice(at, until).repeat(1 + random.below(40)))
  },
  // Repeats a part of the text, for quantifiers in regular expressions.
  (text, random) => {
    const [at, until] = spot(text, random, 4)
    return splice(text, until, until, text.slice(at, until).repeat(1 << random.below(11)))
  },
  (text, random) => {
    const at = random.below(text.length + 1)
    return splice(text, at, at + 1, String.fromCharCode(random.below(random.below(4) === 0 ? 65536 : 128)))
  },
  // Replaces a word with another word of the text.
  (text, random) => {
    const words = [...text.matchAll(/[^\s,;|="{}[\]]+/g)].slice(0, 400)
    if (words.length < 2) return text
    const { index, 0: word } = random.pick(words)
    return splice(text, index, index + word.length, random.pick(words)[0])
  },
  (text, random) => {
    const words = [...text.matchAll(/[^\s,;|="{}[\]]+/g)].slice(0, 400)
    if (words.length === 0) return text
    const { index, 0: word } = random.pick(words)
    return splice(text, index, index + word.length, random.pick(hostile))
  },
]

const spot = (text, random, most) => {
  const at = random.below(text.length + 1)
  return [at, Math.min(text.length, at + random.below(most + 1))]
}

const deep = (random) => {
  const depth = 1 << random.below(11)
  return random.below(2) === 0 ? '['.repeat(depth) + ']'.repeat(depth) : '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)
}

const jsonMutations = [
  (text, random) => text.replace(/\}\s*$/, `,${JSON.stringify(random.pick(hostile))}:${deep(random)}}`),
  (text, random) =>
    text.replace(/\}\s*$/, `,${JSON.stringify(random.pick(hostile))}:${JSON.stringify(random.pick(hostile))}}`),
  (text, random) => text.replace(/^\s*\{/, `{${JSON.stringify(random.pick(hostile))}:{"verdict":"clean"},`),
  (text, random) => replaceValue(text, random, JSON.stringify(random.pick(hostile))),
  (text, random) =>
    replaceValue(text, random, random.pick(['null', 'true', '[]', '{}', '-1', '1e400', '"\\ud800"', '[[[]]]'])),
  (text, random) => replaceValue(text, random, deep(random)),
]

const replaceValue = (text, random, put) => {
  const values = [...text.matchAll(/:\s*("[^"\\]{0,200}"|[-\w.]{1,40})/g)].slice(0, 400)
  if (values.length === 0) return text
  const { index, 0: found } = random.pick(values)
  return splice(text, index, index + found.length, `:${put}`)
}

const maxLength = 65_536

export const mutate = (sample, others, random) => {
  let text = sample
  for (let left = 1 + random.below(4); left > 0; left--) {
    if (random.below(20) === 0) {
      const other = random.pick(others)
      text = text.slice(0, random.below(text.length + 1)) + other.slice(random.below(other.length + 1))
    } else if (text.trimStart().startsWith('{') && random.below(2) === 0)
      text = random.pick(jsonMutations)(text, random)
    else text = random.pick(textMutations)(text, random)
    if (text.length > maxLength) text = text.slice(0, maxLength)
  }
  const bytes = Buffer.from(text)
  if (bytes.length > 0 && random.below(16) === 0) bytes[random.below(bytes.length)] = random.below(256)
  return bytes
}

/** Lengths, counts and indexes that are known to break parsers, in varint encoding. */
const numbers = [
  '00',
  '01',
  '02',
  '7f',
  '80',
  'ff7f',
  'ffffffff0f',
  'feffffffffffffffff01',
  'ffffffffffffffffff01',
  'ffffffffffffffffffff',
].map((hex) => Buffer.from(hex, 'hex'))

/** Mutates bytes that are not text. */
export const mutateBytes = (sample, others, random) => {
  let bytes = sample
  for (let left = 1 + random.below(4); left > 0; left--) {
    const at = random.below(bytes.length + 1)
    const until = Math.min(bytes.length, at + random.below(9))
    const head = bytes.subarray(0, at)
    switch (random.below(7)) {
      case 0:
        bytes = Buffer.concat([head, random.pick(numbers), bytes.subarray(at)])
        break
      case 1:
        bytes = Buffer.concat([head, random.pick(numbers), bytes.subarray(until)])
        break
      case 2:
        bytes = Buffer.concat([head, bytes.subarray(until)])
        break
      case 3:
        bytes = Buffer.concat([
          head,
          ...Array(1 << random.below(11)).fill(bytes.subarray(at, until)),
          bytes.subarray(at),
        ])
        break
      case 4:
        bytes = Buffer.concat([head, random.pick(others).subarray(at)])
        break
      case 5:
        bytes = random.below(4) === 0 ? Buffer.from(head) : Buffer.from(bytes)
        break
      default:
        bytes = Buffer.from(bytes)
    }
    if (bytes.length > 0) bytes[random.below(bytes.length)] = random.below(256)
    if (bytes.length > maxLength) bytes = bytes.subarray(0, maxLength)
  }
  return bytes
}
