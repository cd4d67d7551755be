// Server-sent events: a watcher gets the full view, then changes; a watcher that does not read is disconnected.
import type { ServerResponse } from 'node:http'

export type WatcherStream = {
  readonly hasRoom: () => boolean
  readonly add: (response: ServerResponse, first: unknown) => void
  /** Calls `make` only if there are watchers; sends nothing if it returns undefined. */
  readonly send: (make: () => unknown) => void
  readonly close: () => void
}

const maxWatchers = 16
/** A watcher with more unread bytes is disconnected. */
const maxUnread = 1_048_576

export const createWatcherStream = (): WatcherStream => {
  const watchers = new Set<ServerResponse>()
  return {
    hasRoom: () => watchers.size < maxWatchers,
    add: (response, first) => {
      watchers.add(response)
      response.on('close', () => watchers.delete(response))
      response.on('error', () => watchers.delete(response))
      response.write(`retry: 2000\n${messageOf(first)}`)
    },
    send: (make) => {
      if (watchers.size === 0) return
      const news = make()
      if (news === undefined) return
      const text = messageOf(news)
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

const messageOf = (value: unknown): string => `data: ${JSON.stringify(value ?? {})}\n\n`
