// Reads the values at a path of an answer: names separated by dots, `[]` for each entry of a list.
import { isObject } from '../base/json-object.js'

type Step = { readonly name: string; readonly isEach: boolean }
type AnswerPath = readonly Step[]

export const parsePath = (text: string): AnswerPath =>
  text.split('.').map((part) => {
    const isEach = part.endsWith('[]')
    return { name: isEach ? part.slice(0, -2) : part, isEach }
  })

/** The maximum number of list entries per path. */
const maxValues = 1_000

/** `misfit` is called if an object or a list is expected and missing. Reads own members only; null counts as absent. */
export const valuesAt = (
  answer: unknown,
  path: AnswerPath,
  misfit: (name: string, wanted: 'object' | 'list') => void = () => undefined,
): readonly unknown[] => {
  let values: readonly unknown[] = [answer]
  for (const { name, isEach } of path) {
    const next: unknown[] = []
    for (const value of values) {
      if (!isObject(value)) {
        misfit(name, 'object')
        continue
      }
      const member = Object.hasOwn(value, name) ? value[name] : undefined
      if (member === undefined || member === null) continue
      if (!isEach) next.push(member)
      else if (Array.isArray(member)) next.push(...(member as unknown[]).slice(0, maxValues - next.length))
      else misfit(name, 'list')
    }
    values = next
  }
  return values
}
