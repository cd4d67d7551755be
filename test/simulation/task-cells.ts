// Counts the events of tasks by state, and compares the result with the table in task-states.md.
import { subscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { TaskEvent, TaskState } from '../../src/delivery/task-states.js'

const states = ['opened', 'claiming', 'running', 'closing'] as const satisfies readonly TaskState[]

/** In the order of the table's rows. */
const events = [
  'fetched',
  'joined',
  'lost',
  'refused',
  'broken',
  'commit unknown',
  'recreated',
  'stopped',
] as const satisfies readonly TaskEvent[]

export type TaskCells = {
  /** Counts by event and state. */
  readonly counts: () => Readonly<Record<string, number>>
  /** Documented cells that no execution reached. */
  readonly notReached: () => readonly string[]
  /** Cells that were reached but are empty in the table. */
  readonly notDocumented: () => readonly string[]
}

export const watchTasks = (): TaskCells => {
  const counts = new Map<string, number>()
  subscribe('threatweave:task', (message) => {
    const { state, event } = message as { readonly state: TaskState; readonly event: TaskEvent }
    const cell = `${event} × ${state}`
    counts.set(cell, (counts.get(cell) ?? 0) + 1)
  })
  return {
    counts: () => Object.fromEntries([...counts].toSorted()),
    notReached: () => [...documentedCells()].filter((cell) => !counts.has(cell)),
    notDocumented: () => {
      const documented = documentedCells()
      return [...counts.keys()].filter((cell) => !documented.has(cell))
    },
  }
}

/** The non-empty cells. */
const documentedCells = (): ReadonlySet<string> => {
  const text = readFileSync(resolve(import.meta.dirname, 'task-states.md'), 'utf8')
  const rows = text.split('\n| Event |')[1]?.split('\n\n')[0]?.split('\n').slice(2) ?? []
  if (rows.length !== events.length) throw new Error(`task-states.md has ${rows.length} events of a task, not ${events.length}`) // prettier-ignore
  return new Set(
    rows.flatMap((row, nth) => {
      const cells = row.split('|').slice(2)
      return states.flatMap((state, column) => (cells[column]?.trim() ? [`${events[nth]} × ${state}`] : []))
    }),
  )
}
