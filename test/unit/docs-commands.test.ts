// Checks the commands of every page: the program's own parse, scripts and files exist, and other programs are named as needed.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commands } from '../../src/commands/commands.js'
import { parseCommand } from '../../src/commands/parse-command.js'
import { commandsIn } from '../support/shell-commands.js'

const root = resolve(import.meta.dirname, '../..')
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...['docs', 'examples', 'helm'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  ),
].toSorted()
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
}

/** In every shell, or on every machine where the program is installed from source. */
const everywhere = new Set(
  '[ alias cat cd chmod cp cut date echo exec exit export grep jobs kill ls mkdir mktemp mv printf rm seq set sh sleep source tail test true umask until wait git tar'.split(' '), // prettier-ignore
)

/** What is wrong with a command, as far as it can be known without running it; undefined if nothing is. */
const wrongWith = async (
  [program = '', ...all]: readonly string[],
  needs: ReadonlySet<string>,
  page: string,
): Promise<string | undefined> => {
  const rest = program === 'node' ? all.slice(all.findIndex((word) => !word.startsWith('-'))) : all
  const [first = '', second = ''] = rest
  const own =
    program === 'threatweave' ? rest : program === 'node' && first === 'dist/cli.js' ? rest.slice(1) : undefined
  if (own)
    return parseCommand(commands, own).then(
      () => undefined,
      (error: unknown) => (error as Error).message,
    )
  if (program === 'npm') {
    if (first === 'ci' || first === 'test') return undefined
    if (first === 'run') return second in scripts ? undefined : `there is no script ${second}`
  }
  if (program === 'npx' && first === 'vitest') return undefined
  if (program === 'node') {
    const isThere = [root, join(root, dirname(page))].some((folder) => existsSync(join(folder, first)))
    return isThere ? undefined : `no file ${first}`
  }
  return everywhere.has(program) || needs.has(program)
    ? undefined
    : `${program} is neither everywhere nor named as needed`
}

type Block = { readonly text: string; readonly needs: ReadonlySet<string>; readonly line: number }

const blocksOf = (text: string): Block[] =>
  [...text.matchAll(/(?:^ *<!-- needs: ([^>]*) -->\n)?^( *)```(sh|console)\n([^]*?)^ *```/gm)].map((match) => ({
    needs: new Set((match[1] ?? '').split(/, */).filter((name) => name !== '')),
    text:
      match[3] === 'sh'
        ? match[4]!
        : [...match[4]!.matchAll(/^\$ ((?:.*\\\n)*.*)$/gm)].map(([, command = '']) => command).join('\n'),
    line: text.slice(0, match.index).split('\n').length,
  }))

const problemsOf = async (page: string, markdown: string): Promise<string[]> => {
  const found: string[] = []
  for (const { text, needs, line } of blocksOf(markdown)) {
    const written = commandsIn(text)
    for (const words of written) {
      const wrong = await wrongWith(words, needs, page)
      if (wrong !== undefined) found.push(`${line}: ${words.join(' ')}: ${wrong}`)
    }
    // What is no program, such as a running server, has a blank in it.
    for (const name of needs)
      if (!name.includes(' ') && !written.some((words) => words.includes(name)))
        found.push(`${line}: ${name}: not used`)
  }
  return found
}

describe('the commands of a page', () => {
  it('are told apart, with what is around them', () => {
    const script = `A=1 threatweave run -c "a b.yaml" > out 2>&1 & # a comment
(umask 077; printf '%s' "$(cat key)" > file)
until grep -q "x y" log; do sleep 1; done
node dist/cli.js pipe --feed \\
  list.txt | tail -1 && export B=2`
    expect(commandsIn(script)).toEqual([
      ['threatweave', 'run', '-c', 'a b.yaml'],
      ['umask', '077'],
      ['cat', 'key'],
      ['printf', '%s', '$'],
      ['grep', '-q', 'x y', 'log'],
      ['sleep', '1'],
      ['node', 'dist/cli.js', 'pipe', '--feed', 'list.txt'],
      ['tail', '-1'],
      ['export', 'B=2'],
    ])
  })

  it('are found wrong by option, command, script, file and program', async () => {
    const page =
      '```sh\nthreatweave run --wrkers 2\nthreatweave rum\nnpm run nothing\nnode scripts/none.mjs\ndocker ps\n```\n' +
      '<!-- needs: docker, helm, a broker -->\n```sh\ndocker ps\nthreatweave run --workers 2\n```\n'
    expect((await problemsOf('docs/page.md', page)).map((problem) => problem.split(': ')[1])).toEqual([
      'threatweave run --wrkers 2',
      'threatweave rum',
      'npm run nothing',
      'node scripts/none.mjs',
      'docker ps',
      'helm',
    ])
  })

  it.each(pages)('%s', async (page) => {
    expect(await problemsOf(page, readFileSync(join(root, page), 'utf8'))).toEqual([])
  })

  it('are in every layer of the documentation', () => {
    const with_ = pages.filter((page) => blocksOf(readFileSync(join(root, page), 'utf8')).length > 0)
    expect(with_).toEqual(expect.arrayContaining(['README.md', 'docs/alerts.md', 'docs/kafka.md', 'docs/replay.md']))
  })
})
