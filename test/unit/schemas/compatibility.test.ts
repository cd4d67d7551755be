// Within a version nothing that others rely on disappears from schemas/ or changes; docs/policy.md says how the released copy is renewed.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import packageJson from '../../../package.json' with { type: 'json' }
import { isObject } from '../../../src/base/json-object.js'
import { breaksOf, type Direction } from './breaks-of.js'

const directions: Readonly<Record<string, Direction>> = {
  alert: 'written',
  annotation: 'written',
  config: 'read',
  'dead-letter': 'written',
  format: 'read',
  judgement: 'read',
  profile: 'read',
  'replay-summary': 'written',
  silences: 'read',
  sink: 'read',
  source: 'read',
  verdict: 'written',
}

/** Versions that are compatible: 0.1.2 is of 0.1, 1.4.0 is of 1. */
const line = /^0\.\d+|^\d+/.exec(packageJson.version)![0]
const releasedFolder = resolve(import.meta.dirname, 'released', line)
const currentFolder = resolve(import.meta.dirname, '../../../schemas')
/** Nothing before a version of the line is tagged. */
const namesIn = (folder: string): readonly string[] =>
  (existsSync(folder) ? readdirSync(folder) : []).map((file) => file.replace('.schema.json', ''))
const read = (folder: string, name: string): Schema =>
  JSON.parse(readFileSync(resolve(folder, `${name}.schema.json`), 'utf8')) as Schema

type Schema = Record<string, unknown>

/** The schema once for each member that may be there, without that member. */
const lossesOf = (schema: Schema): readonly { readonly lost: string; readonly without: Schema }[] => {
  const losses: { lost: string; without: Schema }[] = []
  const lose = (path: readonly string[], name: string): void => {
    const without = structuredClone(schema)
    const owner = path.reduce((found, step) => found[step] as Schema, without)
    Reflect.deleteProperty(owner.properties as Schema, name)
    if (Array.isArray(owner.required)) owner.required = owner.required.filter((one) => one !== name)
    losses.push({ lost: [...path, name].join('/'), without })
  }
  const walk = (value: unknown, path: readonly string[]): void => {
    if (!isObject(value) || path.at(-1) === 'if') return
    const isOfMembers = path.at(-1) === 'properties'
    for (const [name, inner] of Object.entries(value)) {
      if (isOfMembers && inner !== false) lose(path.slice(0, -1), name)
      walk(inner, [...path, name])
    }
  }
  walk(schema, [])
  return losses
}

describe('schemas/', () => {
  it('is known of every schema whether we write what it describes, or read it', () => {
    expect(Object.keys(directions)).toEqual(namesIn(currentFolder))
  })

  it.each(Object.entries(directions))('would break by the loss of any member of %s', (name, direction) => {
    const current = read(currentFolder, name)
    const losses = lossesOf(current)
    expect(losses.length).toBeGreaterThan(5)
    const unnoticed = losses.filter(({ without }) => breaksOf(direction, current, without).length === 0)
    expect(unnoticed.map(({ lost }) => lost)).toEqual([])
  })

  it('has every schema that was released', () => {
    expect(namesIn(currentFolder)).toEqual(expect.arrayContaining([...namesIn(releasedFolder)]))
  })

  it(`breaks nothing that ${line} promises`, () => {
    const broken = namesIn(releasedFolder).flatMap((name) =>
      breaksOf(directions[name]!, read(releasedFolder, name), read(currentFolder, name)),
    )
    expect(broken).toEqual([])
  })
})
