// The pool of brokers of kafkajs, which says why no broker has answered. In the original the answer is null then, and whoever asked for metadata
// fails with a TypeError instead of an outage that can be waited for, or a permission that is missing. Ours also connects once for all callers:
// each of them that fails takes the next address of the list, and several of them at once may take all, and end at the same one.

type Ask = (which: unknown) => Promise<unknown>
type BrokerPool = { withBroker(ask: Ask): Promise<unknown>; connect(): Promise<void> }
// TypeScript requires this form of a class that is extended without being known.
type BrokerPoolClass = new (...given: any[]) => BrokerPool // eslint-disable-line @typescript-eslint/no-explicit-any

export const keepLastFailure = (original: unknown): unknown =>
  class extends (original as BrokerPoolClass) {
    #connecting: Promise<void> | undefined

    override connect(): Promise<void> {
      this.#connecting ??= super.connect().finally(() => {
        this.#connecting = undefined
      })
      return this.#connecting
    }

    override async withBroker(ask: Ask): Promise<unknown> {
      let failure: unknown
      const answer = await super.withBroker((which) =>
        ask(which).catch((error: unknown) => {
          failure = error
          throw error
        }),
      )
      if (answer === null) throw failure
      return answer
    }
  }
