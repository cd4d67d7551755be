// kafkajs's queue of requests wakes a thousand times a second on every connection, to look whether anything waits; this one wakes only when something does.

type Queue = { readonly pending: readonly unknown[]; scheduleCheckPendingRequests(): void }
// TypeScript wants it so of a class that is extended without being known.
type QueueClass = new (...given: any[]) => Queue // eslint-disable-line @typescript-eslint/no-explicit-any

export const quietQueue = (original: unknown): unknown =>
  class extends (original as QueueClass) {
    /** Called when something begins to wait, and after every look: those with nothing to wait for are the thousand. */
    override scheduleCheckPendingRequests(): void {
      if (this.pending.length > 0) super.scheduleCheckPendingRequests()
    }
  }
