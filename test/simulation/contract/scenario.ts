// A scenario is a list of steps with the expected answers of a broker; all steps run, and differences are collected.
import { inspect, isDeepStrictEqual } from 'node:util'
import { openClient, type Client, type Connection, type Target } from './client.js'

export type Step = {
  /** Compares at once. A function is retried until its result matches. */
  <T>(title: string, expected: T, actual: T | Promise<T> | (() => Promise<T>)): Promise<void>
}

export type Scenario = {
  readonly title: string
  readonly run: (client: Client, step: Step) => Promise<void>
}

export type Outcome = { readonly steps: number; readonly differences: readonly string[] }

export const runScenario = async (scenario: Scenario, target: Target): Promise<Outcome> => {
  const opened: Connection[] = []
  const tracked: Target = {
    ...target,
    connect: async (broker) => {
      const connection = await target.connect(broker)
      opened.push(connection)
      return connection
    },
  }
  let steps = 0
  const differences: string[] = []
  const client = await openClient(tracked)
  const step: Step = async (title, expected, actual) => {
    steps++
    const got =
      typeof actual === 'function'
        ? await client.until(actual as () => Promise<typeof expected>, (value) => isDeepStrictEqual(value, expected))
        : await actual
    if (!isDeepStrictEqual(got, expected)) differences.push(`${title}: ${text(got)} instead of ${text(expected)}`)
  }
  try {
    await scenario.run(client, step)
  } catch (error) {
    differences.push(`after ${steps} steps: ${error instanceof Error ? (error.stack ?? error.message) : text(error)}`)
  } finally {
    for (const each of opened) each.close()
  }
  return { steps, differences }
}

const text = (value: unknown): string => inspect(value, { depth: 6, breakLength: Infinity, compact: true })
