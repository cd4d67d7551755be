import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadSinks } from '../../../../src/parts/notify/load-sinks.js'

const folderWith = (files: Readonly<Record<string, string>>): string => {
  const folder = mkdtempSync(join(tmpdir(), 'sinks-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text.replaceAll('FOLDER', folder))
  return folder
}
const load = (...sinks: readonly string[]) => loadSinks(sinks)
const problemsOf = (...sinks: readonly string[]): readonly string[] => {
  const loaded = load(...sinks)
  return 'problems' in loaded ? loaded.problems.map(({ message }) => message) : []
}

describe('the sinks of a configuration', () => {
  it('come from files and folders, with URL and secret from files of their own', () => {
    const folder = folderWith({
      'chat.yaml': 'id: chat\nuse: slack\nurlFile: FOLDER/url\n',
      'pager.yml': 'id: pager\nuse: pagerduty\nsecretFile: FOLDER/secret\n',
      url: 'https://hooks.example.com/services/T0/B0/x\n',
      secret: ' a-secret\n',
    })
    expect(load(folder)).toMatchObject([
      { sink: { id: 'chat' }, url: new URL('https://hooks.example.com/services/T0/B0/x'), secret: '' },
      { sink: { id: 'pager', sends: 'updates' }, secret: 'a-secret' },
    ])
  })

  it.each([
    ['id: a\nuse: slak\nurl: https://x.example.com/\n', 'use is not a bundled sink; did you mean slack?'],
    ['id: a\nuse: slack\n', 'has no url or urlFile'],
    ['id: a\nuse: slack\nurl: http://x.example.com/\n', 'url must be https; allowHttp: true sends alerts and secrets'],
    ['id: a\nuse: slack\nurl: https://u:p@x.example.com/\n', 'url must not hold a password: use user and secretFile'],
    ['id: a\nuse: pagerduty\n', 'secretFile is needed: the sink has a secret'],
    ['id: a\nuse: slack\nurl: https://x.example.com/\nsecretFile: x\n', 'secretFile is not used'],
    ['id: a\nuse: slack\nurlFile: FOLDER/none\n', 'urlFile names a file that cannot be read: ENOENT'],
    ['id: a\nuse: slack\nurlFile: FOLDER/empty\n', 'urlFile names a file that is empty'],
    ['id: a\nuse: slack\nurl: https://x.example.com/\nbatch: 5\n', 'batch must be 1 unless the body is a list'],
    [
      'id: a\nuse: slack\nurl: https://x.example.com/\nmatch: { source.ipp: 10.0.0.1 }\n',
      'match.source.ipp is no field of an alert; did you mean source.ip?',
    ],
    ["id: a\nurl: https://x.example.com/\nbody: '{a b}'\n", 'body has {a b}, which is no {path}; write {{ for a brace'],
  ])('are refused with a sentence: %j', (text, sentence) => {
    expect(problemsOf(folderWith({ 'a.yaml': text, empty: '' })).join('\n')).toContain(sentence)
  })

  it('never show what is in the file of a secret', () => {
    const folder = folderWith({
      'a.yaml': 'id: a\nuse: slack\nurlFile: FOLDER/url\n',
      url: 'http://hooks.example.com/secret-path\n',
    })
    expect(problemsOf(folder)).toEqual([expect.stringContaining('urlFile names a file whose URL must be https')])
    expect(problemsOf(folder).join()).not.toContain('secret-path')
  })

  it('have ids of their own', () => {
    const text = 'id: a\nuse: slack\nurl: https://x.example.com/\n'
    expect(problemsOf(folderWith({ 'a.yaml': text, 'b.yaml': text }))).toEqual(['has two sinks with the id a'])
  })

  it('are missed where a folder has none', () => {
    const folder = folderWith({})
    mkdirSync(join(folder, 'empty'))
    expect(problemsOf(join(folder, 'empty')).join()).toContain('is a folder without a sink')
    expect(problemsOf(join(folder, 'none.yaml')).join()).toContain('cannot be read')
  })
})
