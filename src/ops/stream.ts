// Server-sent events: whoever watches gets each new view, and one who does not read is let go.
import type { ServerResponse } from 'node:http'

export type Stream = {
  readonly hasRoom: () => boolean
  readonly add: (response: ServerResponse) => void
  /** `make` is called only where somebody watches. */
  readonly send: (make: () => unknown) => void
  readonly close: () => void
}

const maxWatchers = 16
/** Unread bytes past which a watcher is let go. */
const maxUnread = 1_048_576

export const createStream = (): Stream => {
  const watchers = new Set<ServerResponse>()
  return {
    hasRoom: () => watchers.size < maxWatchers,
    add: (response) => {
      watchers.add(response)
      response.on('close', () => watchers.delete(response))
      response.on('error', () => watchers.delete(response))
      response.write('retry: 2000\n\n')
    },
    send: (make) => {
      if (watchers.size === 0) return
      const text = `data: ${JSON.stringify(make())}\n\n`
      for (const watcher of watchers) {
        if (watcher.writableLength > maxUnread) watcher.destroy()
        else watcher.write(text)
      }
    },
    close: () => {
      for (const watcher of watchers) watcher.end()
      watchers.clear()
    },
  }
}
