// Members of a record with what stands around them, each without the others.
import { jsonItemsOf } from '../annotate/json-items.js'
import { batchLimits, type Batch } from './cut-batch.js'
import type { Range } from './shapes.js'

type AloneInRecord = { readonly own: Buffer; readonly at: Range }

/** For each member at the end of the path: a record that has no other. Undefined if repeating what is around them would take too much. */
export const aloneInRecord = (
  bytes: Buffer,
  path: readonly string[],
  { members }: Pick<Batch, 'members'>,
): readonly AloneInRecord[] | undefined => {
  const around: { readonly head: string; readonly tail: string }[] = []
  const text = (from: number, to: number): string => bytes.toString('latin1', from, to)
  const walk = (at: number, step: number, head: string, tail: string): void => {
    const name = path[step]
    if (name === undefined) {
      around.push({ head, tail })
      return
    }
    if (bytes[at] !== (name === '*' ? 0x5b : 0x7b)) return
    const { items, close } = jsonItemsOf(bytes, at)
    for (const item of items)
      if (name === '*') walk(item.valueStart, step + 1, `${head}[`, `]${tail}`)
      else if (item.name === name)
        walk(item.valueStart, step + 1, head + text(at, item.valueStart), text(item.valueEnd, close + 1) + tail)
  }
  walk(bytes.indexOf(0x7b), 0, '', '')
  const repeated = around.reduce((sum, { head, tail }) => sum + head.length + tail.length, 0)
  if (around.length !== members.length || repeated > batchLimits.maxBytes) return undefined
  return members.map(({ from, to }, nth) => {
    const { head = '', tail = '' } = around[nth] ?? {}
    const own = Buffer.concat([Buffer.from(head, 'latin1'), bytes.subarray(from, to), Buffer.from(tail, 'latin1')])
    return { own, at: { from: head.length, to: head.length + to - from } }
  })
}
