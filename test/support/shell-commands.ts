// Splits shell script into commands, for the constructs in our documentation: words, quotes, pipes, substitutions and comments.

const keywords = new Set(['until', 'while', 'if', 'then', 'else', 'fi', 'do', 'done', '{', '}', '!'])

/** Returns the words of each command. A substitution inside a word becomes a separate command and leaves `$` in its place. */
export const commandsIn = (script: string): string[][] => {
  const commands: string[][] = []
  let words: string[] = []
  let word: string | undefined
  const endWord = (): void => {
    if (word !== undefined) words.push(word)
    word = undefined
  }
  const endCommand = (): void => {
    endWord()
    if (words.length > 0) commands.push(words)
    words = []
  }
  const add = (text: string): void => {
    word = (word ?? '') + text
  }
  let at = 0
  const substitution = (): void => {
    const from = at + 2
    let depth = 1
    at = from
    while (at < script.length && depth > 0) {
      if (script[at] === '(') depth++
      if (script[at] === ')') depth--
      at++
    }
    commands.push(...commandsIn(script.slice(from, at - 1)))
    add('$')
  }
  while (at < script.length) {
    const letter = script[at]!
    const next = script[at + 1]
    if (letter === '\\' && next === '\n') at += 2
    else if (letter === '\\') {
      add(next ?? '')
      at += 2
    } else if (letter === "'") {
      const end = script.indexOf("'", at + 1)
      add(script.slice(at + 1, end))
      at = end + 1
    } else if (letter === '"') {
      at++
      add('')
      while (at < script.length && script[at] !== '"') {
        if (script.startsWith('$(', at)) substitution()
        else {
          if (script[at] === '\\') at++
          add(script[at] ?? '')
          at++
        }
      }
      at++
    } else if (script.startsWith('$(', at) || script.startsWith('<(', at)) substitution()
    else if (letter === '#' && word === undefined) {
      const end = script.indexOf('\n', at)
      at = end < 0 ? script.length : end
    } else if (letter === '>' || letter === '<') {
      if (word !== undefined && /^\d$/.test(word)) word = undefined
      endWord()
      const target = /^[<>]+ *&?(?:\d\b)?/.exec(script.slice(at))![0]
      at += target.length
      if (!/\d$/.test(target)) {
        const rest = /^(?:"[^"]*"|'[^']*'|[^\s;|&()])+/.exec(script.slice(at))?.[0] ?? ''
        at += rest.length
      }
    } else if (/[\n;|&()]/.test(letter)) {
      endCommand()
      at++
    } else if (/\s/.test(letter)) {
      endWord()
      at++
    } else {
      add(letter)
      at++
    }
  }
  endCommand()
  return commands.map(withoutPrefix).filter((each) => each.length > 0)
}

/** Removes keywords, and variables set for one command. */
const withoutPrefix = (words: readonly string[]): string[] => {
  const first = words.findIndex((word) => !keywords.has(word) && !/^[A-Za-z_]\w*=/.test(word))
  return first < 0 ? [] : words.slice(first)
}
