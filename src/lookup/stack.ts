// Layers of a lookup become one lookup: the first layer named is the outermost, and the innermost source is guarded.
import type { Finding, Unknown } from '../domain/finding.js'
import type { Layer, Lookup } from '../domain/lookup.js'
import type { Indicator } from '../domain/indicator.js'

/**
 * `stack(gate, recall, admit)(source)` asks gate first and source last. The last layer may want more of its source than a plain
 * lookup offers, as `admit` does.
 */
export const stack =
  <Question = Indicator, Inner extends (...args: never[]) => Finding | Promise<Finding> = Lookup<Question>>(
    ...layers: readonly [...Layer<Question>[], (inner: Inner) => Lookup<Question>]
  ) =>
  (source: Inner): Lookup<Question> => {
    const last = layers.at(-1) as (inner: Inner) => Lookup<Question>
    const outer = layers.slice(0, -1) as Layer<Question>[]
    return outer.reduceRight<Lookup<Question>>((inner, layer) => layer(inner), last(guard(source)))
  }

/** Foreign code begins at the source: what it throws, rejects with or makes up becomes a failure like any other. */
export const guard = <Inner extends (...args: never[]) => Finding | Promise<Finding>>(source: Inner): Inner =>
  ((...args: never[]) => {
    try {
      const found = source(...args)
      return found instanceof Promise ? found.then(checked, broken) : checked(found)
    } catch {
      return broken()
    }
  }) as Inner

const broken = (): Unknown => ({ status: 'unknown', reason: 'bad_answer' })

const checked = (found: unknown): Finding => {
  const finding = found as Finding | null | undefined
  if (finding?.status === 'known' && typeof finding.at === 'number') return finding
  return finding?.status === 'unknown' ? finding : broken()
}
