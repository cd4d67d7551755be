// Compares a real answer with a profile: facts found, facts missing, and unused members. Reports names, never values.
import { isObject } from '../base/json-object.js'
import { printable } from '../domain/control-characters.js'
import type { OperationName } from '../domain/operations.js'
import type { AnswerPlaces, ServiceProfile } from '../domain/service-profile.js'
import { parsePath, valuesAt } from './answer-path.js'

type Coverage = {
  readonly recognised: readonly string[]
  readonly missing: readonly string[]
  readonly unread: readonly string[]
}

/** Limits of the inspection: number of member names, and depth. */
const maxNames = 500
const maxDepth = 12

export const coverageOf = (
  operation: OperationName,
  body: unknown,
  { answers, envelope }: ServiceProfile,
): Coverage => {
  const facts = factsOf(operation, answers)
  const isThere = (path: string): boolean => valuesAt(body, parsePath(path)).length > 0
  const recognised = facts.filter(({ paths }) => paths.some(isThere))
  const read = [...facts.flatMap(({ paths }) => paths), ...textsIn(envelope.status), ...textsIn(envelope.message)]
  const isRead = (name: string): boolean => read.some((path) => isWithin(name, path) || isWithin(path, name))
  return {
    recognised: recognised.map(({ name }) => name),
    missing: facts.filter((fact) => !recognised.includes(fact)).map(({ name }) => name),
    unread: namesIn(body).filter((name) => !isRead(name)),
  }
}

const isWithin = (inner: string, outer: string): boolean =>
  inner === outer || inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[]`)

type Fact = { readonly name: string; readonly paths: readonly string[] }

const factsOf = (operation: OperationName, answers: AnswerPlaces): readonly Fact[] => {
  if (operation.startsWith('ip/')) {
    const { under, ...places } = answers.address
    const facts = placesIn(places)
    return under === undefined
      ? facts
      : facts.map(({ name, paths }) => ({ name, paths: [...paths, ...paths.map((path) => `${under}.${path}`)] }))
  }
  if (operation === 'domain/reports' || operation === 'domain/reports/personal') {
    const { rows, listings, ...places } = answers.reports
    return [
      ...placesIn(places).map(({ name, paths }) => ({ name, paths: paths.map((path) => `${rows}.${path}`) })),
      ...placesIn({ listings }),
    ]
  }
  if (operation === 'domain/report') return placesIn(answers.report)
  if (operation === 'user/me') return placesIn(answers.account)
  return operation.startsWith('domain/') ? placesIn(answers.scan) : []
}

const placesIn = (section: Readonly<Record<string, unknown>>): readonly Fact[] =>
  Object.entries(section).flatMap(([name, places]) => {
    if (isObject(places) && (name === 'flags' || name === 'exposes')) return placesIn(places)
    if (isObject(places) && name === 'ports') {
      const { rows, ...inRow } = places
      const paths = Object.values(inRow).flatMap(textsIn)
      return [{ name, paths: textsIn(rows).flatMap((row) => paths.map((path) => `${row}.${path}`)) }]
    }
    const paths = textsIn(places)
    return paths.length > 0 ? [{ name, paths }] : []
  })

const textsIn = (places: unknown): readonly string[] => {
  if (typeof places === 'string') return [places]
  if (Array.isArray(places)) return places.flatMap(textsIn)
  return isObject(places) && 'path' in places ? textsIn(places.path) : []
}

/** The paths of all leaf members; entries of a list count as one. */
const namesIn = (body: unknown): readonly string[] => {
  const names = new Set<string>()
  const walk = (value: unknown, path: string, depth: number): void => {
    if (names.size >= maxNames || depth > maxDepth) return
    if (Array.isArray(value)) {
      if (value.length === 0) names.add(path)
      for (const entry of (value as unknown[]).slice(0, maxNames)) walk(entry, `${path}[]`, depth + 1)
    } else if (isObject(value) && Object.keys(value).length > 0)
      for (const [name, inner] of Object.entries(value)) walk(inner, path === '' ? name : `${path}.${name}`, depth + 1)
    else if (path !== '') names.add(path)
  }
  walk(body, '', 0)
  return [...names]
}

const maxShown = 60

/** For a person. */
export const describeCoverage = (operation: OperationName, { recognised, missing, unread }: Coverage): string =>
  [
    `The answer of ${operation}:`,
    `  recognised: ${listed(recognised)}`,
    `  missing: ${listed(missing)}`,
    `  members that nobody reads: ${listed(unread)}`,
    '',
  ].join('\n')

const listed = (names: readonly string[]): string =>
  names.length === 0
    ? 'none'
    : printable(
        names
          .slice(0, maxShown)
          .map((name) => name.slice(0, 100))
          .join(', '),
      ) + (names.length > maxShown ? `, and ${names.length - maxShown} more` : '')
