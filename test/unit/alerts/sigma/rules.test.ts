import { describe, expect, it } from 'vitest'
import { createFields } from '../../../../src/alerts/sigma/fields.js'
import { parseRules } from '../../../../src/alerts/sigma/parse-rules.js'
import { createRuleSet } from '../../../../src/alerts/sigma/rule-set.js'
import { annotation, matching, parse, ruleText } from '../../../support/rules.js'

const on = (selection: string, condition = 'sel'): string => `${selection}\ncondition: ${condition}`
const sel = (line: string): string => on(`sel:\n    ${line}`)

describe('a rule fires on the first event and not on the second', () => {
  it.each<[string, string, object, object]>([
    ['a value', sel('action: deny'), { action: 'deny' }, { action: 'denied' }],
    ['without regard to case', sel('action: Deny'), { action: 'DENY' }, { action: 'den' }],
    ['cased', sel('action|cased: Deny'), { action: 'Deny' }, { action: 'deny' }],
    ['a number as number or text', sel('port: 443'), { port: '443' }, { port: 4430 }],
    ['a number in text', sel("port: '443'"), { port: 443 }, { port: 44 }],
    ['true', sel('flag: true'), { flag: true }, { flag: false }],
    ['a nested path', sel('source.ip: 192.0.2.1'), { source: { ip: '192.0.2.1' } }, { source: { ip: '192.0.2.10' } }],
    ['a dotted name', sel('source.ip: 192.0.2.1'), { 'source.ip': '192.0.2.1' }, { 'source.ip': '' }],
    ['a half dotted path', sel('a.b.c: x'), { 'a.b': { c: 'x' } }, { a: { 'b.d': 'x' } }],
    ['any element', sel('ips: 192.0.2.1'), { ips: ['192.0.2.9', '192.0.2.1'] }, { ips: ['192.0.2.9'] }],
    ['any object of a list', sel('a.b: x'), { a: [{ b: 'y' }, { b: ['x'] }] }, { a: [{ b: 'y' }] }],
    ['a list of values', sel('a: [x, y]'), { a: 'Y' }, { a: 'z' }],
    ['every line', on('sel:\n    a: x\n    b: y'), { a: 'x', b: 'y' }, { a: 'x' }],
    ['one of several maps', on('sel:\n    - a: x\n    - b: y'), { b: 'y' }, { a: 'y' }],
    ['many characters', sel('a: "*.example.*"'), { a: 'www.example.net' }, { a: 'www.example' }],
    ['one character', sel('a: x?z'), { a: 'xyz' }, { a: 'xz' }],
    ['an escaped wildcard', sel('a: x\\*'), { a: 'x*' }, { a: 'xy' }],
    ['an escaped backslash', sel('a: C:\\\\*'), { a: 'C:\\Windows' }, { a: 'C:' }],
    ['a backslash as it stands', sel('a: C:\\temp'), { a: 'c:\\temp' }, { a: 'C:temp' }],
    ['a wildcard in between', sel('a: a*b*c'), { a: 'a-b-b-c' }, { a: 'a-c-b' }],
    ['empty text', sel("a: ''"), { a: '' }, { a: ' ' }],
    ['null where nothing is', sel('a: null'), { b: 1 }, { a: 'x' }],
    ['null where null is', sel('a: null'), { a: null }, { a: 0 }],
    ['null or a value', sel('a: [null, x]'), { a: 'x' }, { a: 'y' }],
    ['contains', sel('a|contains: ell'), { a: 'Hello' }, { a: 'help' }],
    ['startswith', sel('a|startswith: he'), { a: 'Hello' }, { a: 'ahead' }],
    ['endswith', sel('a|endswith: LO'), { a: 'hello' }, { a: 'hellos' }],
    ['contains with a wildcard', sel('a|contains: e?l'), { a: 'hello' }, { a: 'heo' }],
    ['all', sel('a|contains|all: [he, lo]'), { a: 'hello' }, { a: 'help' }],
    ['all over the elements', sel('a|all: [x, y]'), { a: ['y', 'x'] }, { a: ['x'] }],
    ['re', sel("a|re: '^h.*o$'"), { a: 'hello' }, { a: 'Hello' }],
    ['re anywhere', sel("a|re: 'l+'"), { a: 'hello' }, { a: 'heo' }],
    ['re without case', sel("a|re|i: '^HE'"), { a: 'hello' }, { a: 'ahe' }],
    ['re with a vertical tab as white space', sel("a|re: 'a\\sb'"), { a: 'a\u000bb' }, { a: 'a_b' }],
    ['re with white space in a class', sel("a|re: '^[[:alpha:]\\s\\]]+$'"), { a: 'a\u000b]' }, { a: 'a_' }],
    ['re with anything but white space', sel("a|re: 'a\\Sb'"), { a: 'a_b' }, { a: 'a\u000bb' }],
    ['re with a quoted backslash', sel("a|re: '\\\\s'"), { a: '\\s' }, { a: '\\ ' }],
    ['neq', sel('a|neq: [x, y]'), { a: 'z' }, { a: 'X' }],
    ['neq of a field that is there', sel('a|neq: x'), { a: ['z'] }, { b: 'z' }],
    ['neq over all elements', sel('a|neq: x'), { a: ['y', 'z'] }, { a: ['y', 'x'] }],
    ['neq of a number', sel('a|neq: 5'), { a: 6 }, { a: '5' }],
    [
      'utf16le',
      sel('a|utf16le|base64offset|contains: http'),
      { a: Buffer.from('http', 'utf16le').toString('base64') },
      { a: btoa('http') },
    ],
    [
      'utf16be',
      sel('a|utf16be|base64offset|contains: http'),
      { a: Buffer.from('http', 'utf16le').swap16().toString('base64') },
      { a: btoa('http') },
    ],
    ['cidr', sel('a|cidr: [192.0.2.0/24, 2001:db8::/32]'), { a: '2001:db8::1' }, { a: '198.51.100.1' }],
    ['cidr on addresses alone', sel('a|cidr: 192.0.2.0/24'), { a: '192.0.2.255' }, { a: '192.0.2.0/24' }],
    ['gt', sel('a|gt: 5'), { a: 6 }, { a: 5 }],
    ['gte', sel('a|gte: 5'), { a: 5 }, { a: 4.9 }],
    ['lt', sel('a|lt: 5'), { a: '4' }, { a: '5' }],
    ['lte', sel('a|lte: 5'), { a: 5 }, { a: 'four' }],
    ['exists', sel('a|exists: true'), { a: null }, { b: 1 }],
    ['does not exist', sel('a|exists: false'), { b: 1 }, { a: '' }],
    ['fieldref', sel('a|fieldref: b.c'), { a: 'X', b: { c: 'x' } }, { a: 'x', b: { c: 'y' } }],
    ['fieldref with nothing there', sel('a|fieldref: b'), { a: 'x', b: 'x' }, {}],
    ['fieldref|endswith', sel('a|fieldref|endswith: b'), { a: 'www.x', b: 'x' }, { a: 'x.www', b: 'x' }],
    ['windash', sel("a|contains|windash: ' -f'"), { a: 'del /F x' }, { a: 'del f' }],
    ['windash within a word', sel("a|windash: '-no-exit'"), { a: '\u2013no-exit' }, { a: '-no/exit' }],
    ['windash|all', sel("a|contains|all|windash: [' -a', ' /b']"), { a: 'x /a -b' }, { a: 'x /a' }],
    ['base64', sel('a|base64: abc'), { a: 'YWJj' }, { a: 'abc' }],
    ['base64 of an escaped star', sel("a|base64: 'a\\*'"), { a: 'YSo=' }, { a: 'YVwq' }],
    ['base64offset', sel('a|base64offset|contains: http'), { a: btoa('xhttp://') }, { a: btoa('xftp://') }],
    ['base64offset at the end', sel('a|base64offset|contains: end'), { a: btoa('the end') }, { a: btoa('the ent') }],
    ['wide', sel('a|wide|contains: ab'), { a: 'xa\0b\0' }, { a: 'ab' }],
    ['wide|base64offset', sel('a|wide|base64offset|contains: IEX'), { a: btoa(' \0I\0E\0X\0') }, { a: btoa('IEX') }],
    ['a word in Base64 anywhere', on("sel:\n    '|base64offset': [http]"), { a: btoa('xhttp') }, { a: 'http' }],
    ['a word anywhere', on('sel:\n    - mimikatz'), { a: { b: ['run MIMIKATZ now'] } }, { mimikatz: 'x' }],
    ['all words anywhere', on("sel:\n    '|all': [one, two]"), { a: 'one', b: 'two' }, { a: 'one' }],
    ['and', on('a: {x: 1}\nb: {y: 1}', 'a and b'), { x: 1, y: 1 }, { x: 1 }],
    ['or', on('a: {x: 1}\nb: {y: 1}', 'a or b'), { y: 1 }, { z: 1 }],
    ['not', on('a: {x: 1}\nb: {y: 1}', 'a and not b'), { x: 1 }, { x: 1, y: 1 }],
    ['and before or', on('a: {x: 1}\nb: {y: 1}\nc: {z: 1}', 'a or b and c'), { x: 1 }, { y: 1 }],
    ['brackets', on('a: {x: 1}\nb: {y: 1}\nc: {z: 1}', '(a or b) and c'), { x: 1, z: 1 }, { x: 1 }],
    ['1 of', on('s_a: {x: 1}\ns_b: {y: 1}\nt: {z: 1}', '1 of s_* or not t'), { y: 1, z: 1 }, { z: 1 }],
    ['all of', on('s_a: {x: 1}\ns_b: {y: 1}', 'all of s_*'), { x: 1, y: 1 }, { x: 1 }],
    ['1 of them', on('a: {x: 1}\n_b: {y: 1}', '1 of them or all of _b and a'), { x: 1 }, { y: 1 }],
    ['several conditions', on('a: {x: 1}\nb: {y: 1}', '[a, b]'), { y: 1 }, { z: 1 }],
  ])('%s', (_, detection, yes, no) => {
    expect(matching(detection, yes as Record<string, unknown>)).toHaveLength(1)
    expect(matching(detection, no as Record<string, unknown>)).toHaveLength(0)
  })
})

describe('the annotation', () => {
  const tor = sel('threatweave.is_tor: true')
  it('is read as any other field', () => {
    expect(matching(tor, {}, { is_tor: true })).toHaveLength(1)
    expect(matching(tor, {}, { is_tor: false })).toHaveLength(0)
    expect(matching(tor, {})).toHaveLength(0)
    expect(matching(sel('threatweave.score|gte: 80'), {}, { score: 80 })).toHaveLength(1)
    expect(matching(sel('threatweave.verdict: [malicious, suspicious]'), {}, { verdict: 'suspicious' })).toHaveLength(1)
  })
  it('cannot be forged by the event', () => {
    const forged = { threatweave: { is_tor: true }, 'threatweave.is_tor': true }
    expect(matching(tor, forged)).toHaveLength(0)
  })
  it('is found under the key of the output and under its own name', () => {
    const fields = createFields('ti')
    const { rules } = parseRules('r.yml', ruleText(on('sel:\n    ti.is_tor: true\n    threatweave.is_tor: true')), {
      fields,
    })
    expect(createRuleSet(rules, fields).match([annotation({ is_tor: true })], () => ({ object: {} }))).toHaveLength(1)
  })
  it('does not read the event if no rule can match', () => {
    const fields = createFields('threatweave')
    const { rules } = parseRules('r.yml', ruleText(on('sel:\n    threatweave.verdict: malicious\n    a: x')), {
      fields,
    })
    const set = createRuleSet(rules, fields)
    const refuse = (): never => {
      throw new Error('was read')
    }
    expect(set.match([annotation({ verdict: 'clean' })], refuse)).toEqual([])
    expect(set.match([annotation({ verdict: 'malicious' })], () => ({ object: { a: 'x' } }))).toHaveLength(1)
  })
})

it('names the fields and values that matched', () => {
  const detection = on(
    'a:\n    x: [1, 2]\n    ips|cidr: 192.0.2.0/24\nb:\n    y: 3\nc:\n    z: 4',
    '(a or b) and not c',
  )
  const [match] = matching(detection, { x: 2, ips: ['198.51.100.1', '192.0.2.7'] })
  expect(match?.why()).toEqual([
    { field: 'x', value: 2 },
    { field: 'ips', value: '192.0.2.7' },
  ])
})

it('runs a catastrophic pattern in bounded time', () => {
  const detection = sel("a|re: '(a+)+$'")
  const began = performance.now()
  expect(matching(detection, { a: 'a'.repeat(100_000) })).toHaveLength(1)
  expect(matching(detection, { a: `${'a'.repeat(100_000)}!` })).toHaveLength(0)
  expect(matching(sel('a: "*a*a*a*a*a*a*b"'), { a: 'a'.repeat(100_000) })).toHaveLength(0)
  expect(performance.now() - began).toBeLessThan(60_000)
})

describe('what cannot be used is refused with its line', () => {
  it.each<[string, string, number, RegExp]>([
    ['a foreign modifier', sel('a|expand: x'), 7, /modifier "expand" is not supported/],
    ['a number in Base64', sel('a|base64: 5'), 7, /base64 takes text/],
    ['a wildcard in Base64', sel('a|base64offset|contains: a*'), 7, /wildcards/],
    ['letters beyond ASCII as wide', sel('a|wide: ä'), 7, /ASCII/],
    ['five dashes', sel("a|windash: ' -a -b -c -d -e'"), 7, /at most 4/],
    ['a rewritten expression', sel('a|re|base64: x'), 7, /cannot be combined/],
    ['neq with others', sel('a|neq|contains: x'), 7, /cannot be combined/],
    ['a part of a time', sel('a|hour: 7'), 7, /"hour" is not supported/],
    ['modifiers that clash', sel('a|re|contains: x'), 7, /cannot be combined/],
    ['an expression that cannot be read', sel("a|re: '('"), 7, /regular expression cannot be used/],
    ['a back reference', sel("a|re: '(a)\\1'"), 7, /regular expression cannot be used/],
    ['no range', sel('a|cidr: 192.0.2.0/33'), 7, /no range/],
    ['no number', sel('a|gt: many'), 7, /takes a number/],
    ['exists without an answer', sel('a|exists: maybe'), 7, /true or false/],
    ['a map as value', sel('a: {b: c}'), 7, /must be text, a number/],
    ['an empty list', sel('a: []'), 7, /no value/],
    ['an empty selection', on('sel: {}'), 6, /empty/],
    [
      'a member the annotation has not',
      sel('threatweave.is_torr: true'),
      7,
      /no member "is_torr"; did you mean is_tor/,
    ],
    ['a value the member never has', sel('threatweave.verdict: malicous'), 7, /can never match: verdict is one of/],
    ['a number for a flag', sel('threatweave.is_tor: 1'), 7, /can never match/],
    ['an aggregation', on('sel:\n    a: x', 'sel | count() > 5'), 8, /aggregations behind "\|"/],
    ['near', on('sel:\n    a: x', 'sel | near sel'), 8, /not supported/],
    ['a selection that is not there', on('sel:\n    a: x', 'sel and filter'), 8, /no selection "filter"/],
    ['a pattern that names none', on('sel:\n    a: x', '1 of filter_*'), 8, /matches no selection/],
    ['2 of', on('sel:\n    a: x', '2 of them'), 8, /"2 of" is not supported/],
    ['an open bracket', on('sel:\n    a: x', '(sel'), 8, /not closed/],
    ['a condition without end', on('sel:\n    a: x', 'sel and'), 8, /ends where/],
    ['no condition', 'sel:\n    a: x', 5, /condition must be text/],
    ['a timeframe', on('sel:\n    a: x\ntimeframe: 5m'), 8, /timeframe is not supported/],
  ])('%s', (_, detection, line, message) => {
    const { rules, problems } = parse(detection)
    expect(rules).toEqual([])
    expect(problems.map((problem) => problem.message).join('\n')).toMatch(message)
    expect(problems[0]).toMatchObject({ file: 'rule.yml', line })
  })

  it.each<[string, string, RegExp]>([
    ['correlation rules', 'title: x\ncorrelation:\n    type: event_count\n', /correlation is not supported/],
    ['filters', 'title: x\nfilter:\n    rules: [a]\n', /filter is not supported/],
    ['broken YAML', 'title: "x\n', /quote/i],
    ['no id but something else', ruleText(sel('a: x')).replace(/id: .*/, 'id: 7'), /must be a UUID/],
    ['a level that is none', ruleText(sel('a: x'), 'level: loud\n'), /level must be one of/],
    ['a list', '- a\n- b\n', /name: value/],
    ['nothing', '', /contains no rule/],
  ])('%s', (_, text, message) => {
    const { rules, problems } = parseRules('rule.yml', text, { fields: createFields('threatweave') })
    expect(rules).toEqual([])
    expect(problems.map((problem) => problem.message).join('\n')).toMatch(message)
  })
})

it('warns of a flag that no configured operation states', () => {
  const { rules, warnings } = parse(sel('threatweave.is_tor: true'), new Set(['is_malicious']))
  expect(rules).toHaveLength(1)
  expect(warnings).toEqual([
    {
      file: 'rule.yml',
      line: 5,
      message:
        'tests threatweave.is_tor, which no configured operation states (ip/suspicious_info and ip/data and ip/vpn would)',
    },
  ])
  expect(parse(sel('threatweave.is_tor: true'), new Set(['is_tor'])).warnings).toEqual([])
})

it('warns of a selection that is not used', () => {
  expect(parse(on('sel:\n    a: x\nother:\n    b: y')).warnings[0]?.message).toMatch(/does not mention .* "other"/)
})

it('reads several rules from one file', () => {
  const one = ruleText(sel('a: x'))
  const { rules } = parseRules('r.yml', `${one}---\n${one.replace('1111', '9999')}`, { fields: createFields('tw') })
  expect(rules.map(({ line }) => line)).toEqual([1, 10])
})
