// Publishes the state of each task and the events in it, for observers such as the simulation.
// test/simulation/task-states.md has the table.
import { channel } from 'node:diagnostics_channel'

export type TaskState = 'opened' | 'claiming' | 'running' | 'closing'
export type TaskEvent =
  'fetched' | 'joined' | 'lost' | 'refused' | 'broken' | 'commit unknown' | 'recreated' | 'stopped'

/** Why a task closes. If its partition is still assigned, a new task may open. */
export type Ending = Extract<TaskEvent, 'lost' | 'recreated' | 'stopped'>

export type TaskStates = {
  readonly claiming: <Result>(claim: () => Promise<Result>) => Promise<Result>
  readonly happens: (event: TaskEvent) => void
}

/** Each message holds a `TaskState` and a `TaskEvent`. */
const watchers = channel('threatweave:task')

export const createTaskStates = (): TaskStates => {
  let state: TaskState = 'opened'
  const happens = (event: TaskEvent): void => {
    if (watchers.hasSubscribers) watchers.publish({ state, event })
    if (event === 'lost' || event === 'recreated' || event === 'stopped') state = 'closing'
  }
  return {
    happens,
    claiming: async (claim) => {
      const before = state
      if (state !== 'closing') state = 'claiming'
      try {
        const claimed = await claim()
        if (state === 'claiming') state = 'running'
        return claimed
      } catch (error) {
        happens('broken')
        if (state === 'claiming') state = before
        throw error
      }
    },
  }
}
