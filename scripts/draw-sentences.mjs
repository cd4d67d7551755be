// Draws random sentences and names from the sources to judge their English: `node scripts/draw-sentences.mjs [SEED] [FOLDER]`.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const drawn = 40
const seed = Number(process.argv[2] ?? 1)
const root = process.argv[3] ?? '.'

/** mulberry32: the same seed draws the same sentences from the same text. */
const createRandom = (start) => {
  let state = start >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const isProse = (text) => text.split(/\s+/).length >= 5 && /^[A-Z`0-9]/.test(text)

/** Splits at the end of a sentence, but not in abbreviations and numbers. */
const sentencesIn = (text) => text.split(/(?<=[a-z0-9`)]{2}[.!?]) +(?=[A-Z`])/)

const commentsIn = (source) => {
  const blocks = source.match(/\/\*\*?[^]*?\*\/|(?:^[ \t]*\/\/ .*\n?)+/gm) ?? []
  return blocks.map((block) =>
    block
      .replace(/^\s*(?:\/\*\*?|\*\/|\*|\/\/)/gm, ' ')
      .replace(/\*\/$/, '')
      .replace(/\s+/g, ' ')
      .trim(),
  )
}

/** Filters out lists of words. */
const isSentence = (text) =>
  text.split(' ').length > 5 && /\b(?:the|an?|is|are|of|to|in|for|and|not|with|no|by)\b/.test(text)

const messagesIn = (source) =>
  [...source.matchAll(/(['`])((?:(?!\1)[^\\\n]|\\.){30,300})\1/g)]
    .map(([, , text]) => text)
    .filter((text) => /^[A-Za-z$][^{}=<>\\]*(?:\$\{[^}]*\}[^{}=<>\\]*)*$/.test(text) && isSentence(text))

const namesIn = (source) =>
  [...source.matchAll(/\b(?:const|let|function|type|class)\s+([A-Za-z_]\w+)/g)].map(([, name]) => name)

const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n')
const read = (file) => readFileSync(join(root, file), 'utf8')
const sentences = []
const names = []
for (const file of files) {
  if (/^(?:src|scripts|bench)\/.*\.(?:ts|mjs)$/.test(file)) {
    const source = read(file)
    for (const text of commentsIn(source).flatMap(sentencesIn)) if (isProse(text)) sentences.push([file, text])
    for (const text of messagesIn(source)) sentences.push([file, text])
    for (const name of namesIn(source)) names.push([file, name])
  } else if (/^(?:docs\/.*|[A-Z]+)\.md$/.test(file)) {
    const prose = read(file).replace(/^```[^]*?^```/gm, '')
    const paragraphs = prose.split(/\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.) ?)/).filter((text) => !/^\s*[#|]/.test(text))
    for (const paragraph of paragraphs)
      for (const text of sentencesIn(
        paragraph
          .replace(/^[-*\d. ]+/, '')
          .replace(/\s+/g, ' ')
          .trim(),
      ))
        if (isProse(text)) sentences.push([file, text])
  }
}

const random = createRandom(seed)
const draw = (from) => {
  const left = [...from]
  return Array.from(
    { length: Math.min(drawn, left.length) },
    () => left.splice(Math.floor(random() * left.length), 1)[0],
  )
}
const print = (title, rows) => {
  process.stdout.write(`${title}\n`)
  rows.forEach(([file, text], at) => process.stdout.write(`${String(at + 1).padStart(3)}. ${text}    (${file})\n`))
}
print(`Sentences, seed ${seed}`, draw(sentences))
print(`Names, seed ${seed}`, draw(names))
