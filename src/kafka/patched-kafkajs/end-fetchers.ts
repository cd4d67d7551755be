// The runner of kafkajs, whose fetchers end when it does. If it is stopped at the moment in which the list of brokers changes, kafkajs makes new
// fetchers that nobody stops: they are told at once that there is nothing to fetch, ask again at once, and the process does nothing else any more.

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
      // Not waited for: the fetchers end when this call has returned.
      if (!this.running) void this.fetchManager.stop()
      return super.fetch(nodeId)
    }
  }
