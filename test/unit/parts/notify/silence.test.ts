import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSilenceFile } from '../../../../src/parts/notify/silence-file.js'
import { runCommand } from '../../../support/run-command.js'

const inFolder = (): string => join(mkdtempSync(join(tmpdir(), 'silence-')), 'silences.yaml')

describe('silence', () => {
  it('prints an entry for matchers, which a file of silences takes', async () => {
    const { stdout, code } = await runCommand([
      'silence',
      '--match=source.ip=10.20.0.0/24',
      '--match=rule.name=Connection to*',
      '--match=threatweave.level=low,medium',
      '--reason=it: "quoted" # and\nmore',
      '--by=me',
    ])
    expect(code).toBe(0)
    const read = readSilenceFile({ name: 'x', text: `silences:\n${stdout}` })
    expect(read).toMatchObject({
      silences: [
        {
          match: {
            'source.ip': { cidr: '10.20.0.0/24' },
            'rule.name': { prefix: 'Connection to' },
            'threatweave.level': ['low', 'medium'],
          },
          reason: 'it: "quoted" # and\nmore',
          by: 'me',
        },
      ],
    })
  })

  it('adds entries to a file, and leaves what is there as it is written', async () => {
    const file = inFolder()
    const add = (ip: string) => runCommand(['silence', `--match=source.ip=${ip}`, '--for=4h', `--file=${file}`])
    expect((await add('10.0.0.1')).code).toBe(0)
    writeFileSync(file, `# ours\n${readFileSync(file, 'utf8')}`)
    expect((await add('10.0.0.2')).stdout).toContain(`added to ${file}`)
    const text = readFileSync(file, 'utf8')
    expect(text).toMatch(/^# ours\n/)
    expect(readSilenceFile({ name: file, text })).toMatchObject({
      silences: [{ match: { 'source.ip': '10.0.0.1' } }, { match: { 'source.ip': '10.0.0.2' } }],
    })
    writeFileSync(file, 'silences: []\n')
    expect((await add('10.0.0.3')).code).toBe(0)
  })

  it('changes no file that is broken, or would be', async () => {
    const file = inFolder()
    for (const text of ['silences: [', 'silences: [{}]\n', 'other: 1\n']) {
      writeFileSync(file, text)
      const { code, stderr } = await runCommand(['silence', '--match=source.ip=10.0.0.1', `--file=${file}`])
      expect(code).toBe(1)
      expect(stderr).toContain('is not changed')
      expect(readFileSync(file, 'utf8')).toBe(text)
    }
  })

  it.each([
    [['--match=source.ipp=10.0.0.1'], 'did you mean source.ip?'],
    [['--match=event.kind=alert'], 'matches every alert'],
    [['--match=source.ip=0.0.0.0/0'], 'matches every alert'],
    [['--match=source.ip'], '--match takes FIELD=VALUE'],
    [['--match=source.ip=10.0.0.1', '--for=ever'], '--for takes a time'],
    [['123'], 'is not an alert id'],
    [[], 'silence takes the id of an alert, or --match'],
  ])('refuses %j', async (args, sentence) => {
    const { code, stderr } = await runCommand(['silence', ...args])
    expect(code).toBe(64)
    expect(stderr).toContain(sentence)
  })
})
