// Patches the broker pool of kafkajs to throw the last failure if no broker answers, and to connect once for all callers.
// The original returns null instead, so a metadata request fails with a TypeError that hides an outage or a missing permission. In the
// original each failed caller also takes the next address of the list, so several at once may skip all others and return to the same one.

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
