import { describe, expect, it } from 'vitest'
import { environmentName } from '../../../src/config/environment-name.js'
import { load } from '../../../src/config/load.js'
import { describeProblem } from '../../../src/config/problem.js'

const files: Record<string, string> = {}
const readFile = (path: string): string => {
  const text = files[path]
  if (text === undefined) throw new Error(`no such file ${path}`)
  return text
}
const loadText = (text: string, env: Record<string, string> = {}): ReturnType<typeof load> =>
  load({ file: { name: 'threatweave.yaml', text }, env, readFile })
const problemsOf = (loaded: ReturnType<typeof load>): string[] =>
  'problems' in loaded ? loaded.problems.map(describeProblem) : []

describe('load', () => {
  it('runs with no file and an empty environment', () => {
    const loaded = load({ env: {}, readFile })
    expect(loaded).toMatchObject({ config: { output: { key: 'threatweave' }, extract: { formats: [] } } })
  })

  it('freezes what it accepts', () => {
    const loaded = load({ env: {}, readFile })
    expect('config' in loaded && Object.isFrozen(loaded.config) && Object.isFrozen(loaded.config.gate.ownRanges)).toBe(
      true,
    )
  })

  it('puts the environment over the file', () => {
    const loaded = loadText('output: { key: from_file, onExisting: keep }', { THREATWEAVE_OUTPUT_KEY: 'from_env' })
    expect(loaded).toMatchObject({ config: { output: { key: 'from_env', onExisting: 'keep' } } })
  })

  it('reads lists with commas and maps as YAML from the environment', () => {
    const loaded = load({
      env: {
        THREATWEAVE_GATE_OWN_RANGES: '198.51.100.0/24, 2001:db8::/32',
        THREATWEAVE_KAFKA_SASL_EXTENSIONS: '{ logicalCluster: lkc-1 }',
      },
      readFile,
    })
    expect(loaded).toMatchObject({
      config: {
        gate: { ownRanges: ['198.51.100.0/24', '2001:db8::/32'] },
        kafka: { sasl: { extensions: { logicalCluster: 'lkc-1' } } },
      },
    })
  })

  it.each([
    ['the file', { file: { name: 'a.yaml', text: 'intel: { service: { apiKeyHeader: x } }' }, env: {} }],
    ['the environment', { env: { THREATWEAVE_INTEL_SERVICE_API_KEY_HEADER: 'x' } }],
  ])('says what to write for a setting that is gone, of %s', (_, given) => {
    const loaded = load({ ...given, readFile })
    expect('problems' in loaded && loaded.problems.map(({ message }) => message)).toEqual([
      'was removed; write `key: { header: NAME }` in the file of intel.service.profile',
    ])
  })

  it('names every problem at once, with its setting and the line it stands on', () => {
    const loaded = loadText(
      'admit:\n  perDay: many\noutput:\n  onExisting: perhaps\n  colour: red\ngate:\n  ownRanges: [nonsense]\n',
    )
    expect(problemsOf(loaded).sort()).toEqual([
      'admit.perDay must be a whole number from 1 to 1000000000, or unlimited (threatweave.yaml:2)',
      'gate.ownRanges.0 must be an address or a range such as 198.51.100.0/24 or 2001:db8::/32 (threatweave.yaml:7)',
      'output.colour is not a setting (threatweave.yaml:5)',
      'output.onExisting must be one of replace, keep (threatweave.yaml:4)',
    ])
  })

  it.each([
    ['kafka: { brokers: nowhere }', 'kafka.brokers must be a list, such as [one, two] (threatweave.yaml:1)'],
    [
      'kafka: { brokers: ["nowhere:99999"] }',
      'kafka.brokers.0 must be host:port, such as kafka.example.com:9092 (threatweave.yaml:1)',
    ],
    [
      'output: { key: "a b" }',
      'output.key must be a name of at most 64 letters, digits, - and _ that begins with a letter or _ and is not used by events or layers (threatweave.yaml:1)',
    ],
    ['gate: { ownRange: [] }', 'gate.ownRange is not a setting; did you mean ownRanges? (threatweave.yaml:1)'],
    ['kakfa: {}', 'kakfa is not a setting; did you mean kafka? (threatweave.yaml:1)'],
    ['apiKey: x', 'apiKey is not a setting; did you mean intel.service.apiKey? (threatweave.yaml:1)'],
    ['gate: []', 'gate must hold settings as `name: value` lines (threatweave.yaml:1)'],
    ['a: 1\na: 2\na: [', 'threatweave.yaml is not valid YAML: Map keys must be unique at line 2, column 1'],
  ])('says what is wrong with %j in words', (text, sentence) => {
    const problems = problemsOf(loadText(text))
    expect(problems).toContain(sentence)
    expect(new Set(problems).size).toBe(problems.length)
    expect(problems.filter((problem) => problem.endsWith(':'))).toEqual([])
  })

  it('says which variable a wrong value came from', () => {
    expect(problemsOf(load({ env: { THREATWEAVE_ADMIT_PER_DAY: '0' }, readFile }))).toEqual([
      'admit.perDay must be a whole number from 1 to 1000000000, or unlimited (THREATWEAVE_ADMIT_PER_DAY)',
    ])
  })

  it('refuses a variable that names no setting and suggests the one that was meant', () => {
    const [problem] = problemsOf(load({ env: { THREATWEAVE_GATE_OWN_RANGE: '198.51.100.0/24' }, readFile }))
    expect(problem).toContain(
      'THREATWEAVE_GATE_OWN_RANGE is not the name of a setting; did you mean THREATWEAVE_GATE_OWN_RANGES?',
    )
  })

  it.each([
    ['a list instead of settings', '- a\n- b\n', 'must hold settings'],
    ['broken YAML', 'a: [1, 2', 'is not valid YAML'],
    ['an alias bomb', bomb(), 'cannot be read'],
    ['a name that is there twice', 'gate:\n  ownRanges: []\n  ownRanges: []\n', 'must be unique at line 3, column 3'],
    ['what is too large to be one', `# ${'x'.repeat(262_144)}`, 'is larger than 262144 bytes'],
  ])('refuses %s', (_, text, message) => {
    expect(problemsOf(loadText(text)).join('\n')).toContain(message)
  })

  it('names 100 problems and counts the rest', () => {
    const problems = problemsOf(loadText(Array.from({ length: 20_000 }, (_, nth) => `k${nth}: 1`).join('\n')))
    expect(problems).toHaveLength(101)
    expect(problems.at(-1)).toBe('configuration has 19900 more problems')
  })

  it('accepts an empty file', () => {
    expect(loadText('# nothing yet\n')).toHaveProperty('config')
  })
})

describe('environmentName', () => {
  it.each([
    [['intel', 'service', 'apiKey'], 'THREATWEAVE_INTEL_SERVICE_API_KEY'],
    [['output', 'key'], 'THREATWEAVE_OUTPUT_KEY'],
    [['kafka', 'deadLetterTopic'], 'THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC'],
  ])('writes %j as %s', (path, name) => {
    expect(environmentName(path)).toBe(name)
  })
})

function bomb(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
  for (let level = 1; level < 9; level++) {
    const below = `*a${level - 1}`
    lines.push(`a${level}: &a${level} [${Array<string>(10).fill(below).join(', ')}]`)
  }
  return lines.join('\n')
}
