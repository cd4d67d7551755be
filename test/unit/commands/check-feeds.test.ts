import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { check } from '../../../src/commands/check.js'
import type { Io } from '../../../src/terminal/command.js'
import { feedFile } from '../../support/feed-files.js'

const io = (feeds: object[]): Io => ({
  env: { THREATWEAVE_FEEDS: JSON.stringify(feeds) },
  stdin: new PassThrough(),
  stdout: new PassThrough(),
  stderr: new PassThrough(),
  signal: new AbortController().signal,
})

describe('check', () => {
  it('names every feed that a start would refuse, with file and line', async () => {
    const good = feedFile('bad.example.com')
    const bad = feedFile('\nForbidden')
    const feeds = [
      { name: 'good', path: good },
      { name: 'bad', path: bad },
    ]
    await expect(check.run({ positionals: [], values: {} }, io(feeds))).rejects.toMatchObject({
      problems: [
        {
          setting: 'feeds.1',
          where: `${bad}:2`,
          message:
            'names the feed bad, which is refused: "Forbidden" is no address, range, name or URL; none of 1 lines can be used: check that this is the list you mean',
        },
      ],
    })
    expect(await check.run({ positionals: [], values: {} }, io(feeds.slice(0, 1)))).toBe(0)
  })
})
