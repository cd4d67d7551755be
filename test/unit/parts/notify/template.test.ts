import { describe, expect, it } from 'vitest'
import { compileTemplate } from '../../../../src/parts/notify/template.js'

const alert = {
  '@timestamp': '2026-11-19T08:00:00.000Z',
  message: 'a message',
  event: { severity: 4 },
  threatweave: { peers: ['10.0.0.1', '10.0.0.2'], as: { number: 64500 } },
}
const rules = { escape: {}, clip: 100 }
const render = (template: unknown, changes: object = {}, more: Partial<typeof rules> = {}): unknown => {
  const problems: { at: string; message: string }[] = []
  const compiled = compileTemplate(template, 'body', problems)
  expect(problems).toEqual([])
  return compiled({ alert: { ...alert, ...changes }, sink: { secret: 's3cret' } }, { ...rules, ...more })
}
const problemsOf = (template: unknown): readonly string[] => {
  const problems: { at: string; message: string }[] = []
  compileTemplate(template, 'body', problems)
  return problems.map(({ at, message }) => `${at} ${message}`)
}

describe('compileTemplate', () => {
  it('inserts members of the alert as text, with defaults', () => {
    expect(render('{message}: {event.severity} {threatweave.as.number} {none|-}')).toBe('a message: 4 64500 -')
  })

  it('joins a list with commas', () => {
    expect(render('{threatweave.peers}')).toBe('10.0.0.1, 10.0.0.2')
  })

  it('leaves out what is one path without a value', () => {
    expect(render({ a: '{none}', b: 'x{none}', c: ['{none}', 'd'] })).toEqual({ b: 'x', c: ['d'] })
  })

  it('takes a member as it is, or the whole alert', () => {
    expect(render({ severity: { $value: 'event.severity' } })).toEqual({ severity: 4 })
    expect(render({ $value: 'alert' })).toEqual(alert)
  })

  it('makes a list of a list', () => {
    expect(render({ $each: 'threatweave.peers', $as: { host: '{item}' } })).toEqual([
      { host: '10.0.0.1' },
      { host: '10.0.0.2' },
    ])
  })

  it('never reads what an alert says as a template', () => {
    expect(render('{message}', { message: '{sink.secret} {event.severity} {{x}} $value' })).toBe(
      '{sink.secret} {event.severity} {{x}} $value',
    )
  })

  it('shows control and bidirectional characters as question marks', () => {
    expect(render('{message}', { message: 'a\nb\r\u001b[2J\u202egpj' })).toBe('a?b??[2J?gpj')
  })

  it('escapes what the receiver would read, and only in what is inserted', () => {
    const escape = { '<': '&lt;', '&': '&amp;' }
    expect(render('<b>{message}', { message: '<!channel> &' }, { escape })).toBe('<b>&lt;!channel> &amp;')
  })

  it('clips what is inserted', () => {
    expect(render('{message}', { message: 'x'.repeat(50) }, { clip: 20 })).toBe(`${'x'.repeat(19)}…`)
  })

  it('does not follow names of a prototype', () => {
    expect(render('{constructor.name|none} {message.length|none}')).toBe('none none')
  })

  it('writes a brace for two', () => {
    expect(render('{{message}}')).toBe('{message}')
  })

  it('refuses what is no template', () => {
    expect(problemsOf('{a b}')).toEqual(['body has {a b}, which is no {path}; write {{ for a brace'])
    expect(problemsOf({ a: ['{'] })).toEqual(['body.a.0 has {, which is no {path}; write {{ for a brace'])
    expect(problemsOf({ $value: 'a', b: 1 })).toEqual(['body must be { $value: PATH }'])
    expect(problemsOf({ $each: 'a' })).toEqual(['body must be { $each: PATH, $as: TEMPLATE }'])
  })
})
