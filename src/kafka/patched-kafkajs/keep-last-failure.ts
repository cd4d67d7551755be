// The pool of brokers of kafkajs, which says why no broker has answered. In the original the answer is null then, and whoever asked for metadata
// fails with a TypeError instead of an outage that can be waited for, or a permission that is missing.

type Ask = (which: unknown) => Promise<unknown>
type BrokerPool = { withBroker(ask: Ask): Promise<unknown> }
// TypeScript requires this form of a class that is extended without being known.
type BrokerPoolClass = new (...given: any[]) => BrokerPool // eslint-disable-line @typescript-eslint/no-explicit-any

export const keepLastFailure = (original: unknown): unknown =>
  class extends (original as BrokerPoolClass) {
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
