// The request queue of kafkajs checks every millisecond on every connection whether a request is pending; this one checks only if one is.

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
