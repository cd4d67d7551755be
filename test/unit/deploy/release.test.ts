// A release is refused where its places say different versions; its notes come from the changelog and its image from one digest.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pinned } from '../../../scripts/pin-base.mjs'
import { parse } from 'yaml'
import { digestIn, imageName, notesOf, valuesWithImage, versionProblems } from '../../../scripts/release.mjs'

const read = (file: string): string => readFileSync(resolve(import.meta.dirname, '../../..', file), 'utf8')
const said = {
  manifest: '{"version":"1.2.0"}',
  chart: 'name: threatweave\nversion: 1.2.0\nappVersion: 1.2.0\n',
  changelog: '# Changelog\n\n## 1.2.0\n\nWhat is new.\n\n### Added\n\n- this\n\n## 1.1.0\n\n- that\n',
}

describe('the version of a release', () => {
  it('is the same everywhere in this repository', () => {
    const here = {
      manifest: read('package.json'),
      chart: read('helm/threatweave/Chart.yaml'),
      changelog: read('CHANGELOG.md'),
    }
    expect(versionProblems(here)).toEqual([])
  })

  it('is that of the tag', () => {
    expect(versionProblems({ ...said, tag: 'v1.2.0' })).toEqual([])
    expect(versionProblems({ ...said, tag: 'v1.3.0' })).toEqual(['the tag is v1.3.0, package.json has 1.2.0'])
  })

  it('is refused where the chart or the changelog lag behind', () => {
    expect(versionProblems({ ...said, manifest: '{"version":"1.3.0"}' })).toEqual([
      'helm/threatweave/Chart.yaml has version 1.2.0, package.json 1.3.0',
      'helm/threatweave/Chart.yaml has appVersion 1.2.0, package.json 1.3.0',
      'CHANGELOG.md has no entry for 1.3.0',
    ])
  })
})

it('has notes from the changelog, of its own version only', () => {
  expect(notesOf(said.changelog, '1.2.0')).toBe('What is new.\n\n### Added\n\n- this')
  expect(notesOf(said.changelog, '1.1.0')).toBe('- that')
  expect(notesOf(said.changelog, '1.2')).toBeUndefined()
})

describe('the image of a release', () => {
  const digest = `sha256:${'d'.repeat(64)}`

  it('is named in lower case, as registries demand', () => {
    expect(imageName('Example/Threatweave')).toBe('ghcr.io/example/threatweave')
  })

  it('has the digest that its archive has', () => {
    expect(digestIn(JSON.stringify({ manifests: [{ digest }] }))).toBe(digest)
    expect(() => digestIn(JSON.stringify({ manifests: [{ digest }, { digest }] }))).toThrow('2 images')
  })

  it('stands in the values of the chart, next to the comments', () => {
    const values = read('helm/threatweave/values.yaml')
    const edited = valuesWithImage(values, { name: 'ghcr.io/example/threatweave', digest })
    const changed = edited.split('\n').filter((line) => !values.split('\n').includes(line))
    expect(changed).toEqual(['  repository: ghcr.io/example/threatweave', `  digest: '${digest}'`])
  })
})

describe('the base image', () => {
  const digest = (digit: string): string => `sha256:${digit.repeat(64)}`

  it('gets its digest in every stage, and a new one in place of the old', () => {
    const file = 'FROM node:24.1.0-slim AS build\nRUN x\nFROM node:24.1.0-slim AS files\nFROM scratch\n'
    const once = pinned(file, digest('a'))
    expect(once).toBe(file.replaceAll('slim', `slim@${digest('a')}`))
    expect(pinned(once, digest('b'))).toBe(file.replaceAll('slim', `slim@${digest('b')}`))
  })

  it('is not pinned to something that is not a digest', () => {
    expect(() => pinned('FROM node:24\n', 'latest')).toThrow('this is not the digest of an image: latest')
  })

  it('is pinned in the Dockerfile of this repository', () => {
    expect(pinned(read('Dockerfile'), digest('c')).split(`@${digest('c')}`)).toHaveLength(4)
  })
})

describe('the workflows', () => {
  type Job = {
    readonly permissions: Readonly<Record<string, string>>
    readonly environment?: string
    readonly steps: readonly { readonly run?: string }[]
  }
  const jobs = ['release', 'test'].flatMap((name) => {
    const workflow = parse(read(`.github/workflows/${name}.yml`)) as { readonly jobs: Readonly<Record<string, Job>> }
    return Object.entries(workflow.jobs).map(([job, what]) => [`${name}/${job}`, what] as const)
  })
  const mayWrite = ({ permissions }: Job): boolean => Object.values(permissions).includes('write')

  it('publish in one job', () => {
    expect(jobs.filter(([, job]) => mayWrite(job)).map(([name]) => name)).toEqual(['release/publish'])
  })

  it.each(jobs)('run no code of a dependency where something may be published: %s', (_, job) => {
    const commands = job.steps.flatMap(({ run }) => run ?? [])
    if (mayWrite(job)) expect(commands.filter((command) => !command.startsWith('scripts/publish.sh'))).toEqual([])
    else expect([job.environment, JSON.stringify(job.steps).includes('secrets.')]).toEqual([undefined, false])
  })

  it('publish without building or installing anything', () => {
    expect(read('scripts/publish.sh')).not.toMatch(/npm (?:ci|install|test|run|pack)|docker build|node (?!-p 'require)/)
  })
})
