// Patches the runner of kafkajs to stop its fetchers.
// If it stops while the list of brokers changes, kafkajs creates new fetchers that never stop.
// They poll an empty queue in a tight loop and block the process.

type Runner = {
  readonly running: boolean
  readonly fetchManager: { readonly stop: () => Promise<void> }
  fetch(nodeId: unknown): Promise<readonly unknown[]>
}
// TypeScript requires this form of a class that is extended without being known.
type RunnerClass = new (...given: any[]) => Runner // eslint-disable-line @typescript-eslint/no-explicit-any

export const endFetchers = (original: unknown): unknown =>
  class extends (original as RunnerClass) {
    override async fetch(nodeId: unknown): Promise<readonly unknown[]> {
      // Not awaited, because the fetchers end after this call has returned.
      if (!this.running) void this.fetchManager.stop()
      return super.fetch(nodeId)
    }
  }
