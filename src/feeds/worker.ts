// The thread that loads feeds: takes one request and returns one result, whose buffers are transferred instead of copied.
import { parentPort } from 'node:worker_threads'
import { buffersOf } from './feed-index.js'
import { loadFeed, type LoadRequest } from './load-feed.js'

parentPort?.once('message', (request: LoadRequest) => {
  const result = loadFeed(request)
  parentPort?.postMessage(result, result.ok ? buffersOf(result.index) : [])
})
