import { describe, expect, it } from 'vitest'
import { load } from '../../../src/config/load.js'
import { describeProblem } from '../../../src/config/problem.js'

const loadText = (text: string): ReturnType<typeof load> =>
  load({ file: { name: 'threatweave.yaml', text }, env: {}, readFile: () => '' })

describe('the settings of feeds', () => {
  it('need a name and a path; the rest has defaults', () => {
    expect(loadText('feeds: [{ name: ours, path: /feeds/ours.txt }]')).toMatchObject({
      config: {
        gate: { documentation: false },
        feeds: [
          {
            name: 'ours',
            path: '/feeds/ours.txt',
            level: 'malicious',
            categories: [],
          },
        ],
      },
    })
  })

  it('may be given by the environment', () => {
    const env = { THREATWEAVE_FEEDS: '[{ name: ours, path: /feeds/ours.txt }]' }
    expect(load({ env, readFile: () => '' })).toMatchObject({
      config: { feeds: [{ name: 'ours', level: 'malicious' }] },
    })
  })

  it.each<[string, string]>([
    ['{ path: x }', 'feeds.0'],
    ['{ name: ours, path: x, url: "https://lists.example.com/" }', 'feeds.0'],
    ['{ name: ours, url: nowhere }', 'feeds.0.url'],
    ['{ name: ours }', 'feeds.0'],
    ['{ name: "a b", path: x }', 'feeds.0.name'],
    ['{ name: ours, path: x, level: clean }', 'feeds.0.level'],
    ['{ name: ours, path: x, colour: red }', 'feeds.0.colour'],
    ['{ name: ours, path: x, score: 101 }', 'feeds.0.score'],
    ['{ name: ours, path: x, expiresDays: 0 }', 'feeds.0.expiresDays'],
  ])('refuse %s', (feed, setting) => {
    const loaded = loadText(`feeds: [${feed}]`)
    const settings = 'problems' in loaded ? loaded.problems.map((problem) => problem.setting) : []
    expect(settings, 'problems' in loaded ? loaded.problems.map(describeProblem).join() : '').toContain(setting)
  })
})
