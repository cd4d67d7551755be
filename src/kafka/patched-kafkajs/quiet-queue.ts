// Patches the request queue of kafkajs, which polls every millisecond on every connection, to poll only while a request is pending.

type Queue = { readonly pending: readonly unknown[]; scheduleCheckPendingRequests(): void }
// TypeScript requires this form of a class that is extended without being known.
type QueueClass = new (...given: any[]) => Queue // eslint-disable-line @typescript-eslint/no-explicit-any

export const quietQueue = (original: unknown): unknown =>
  class extends (original as QueueClass) {
    /** Called when a request becomes pending, and after every check. */
    override scheduleCheckPendingRequests(): void {
      if (this.pending.length > 0) super.scheduleCheckPendingRequests()
    }
  }
