// Loads a feed in its own thread, so that the stream continues while a million entries are parsed and sorted.
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { packageFolder } from '../base/package-folder.js'
import { loadFeed, type LoadRequest, type LoadResult } from './load-feed.js'

const worker = join(packageFolder, 'dist/feeds/worker.js')
/** Young objects rarely survive in this thread, so a larger young generation would only cost memory. */
const resourceLimits = { maxOldGenerationSizeMb: 4096, maxYoungGenerationSizeMb: 8 }

export type Load = (request: LoadRequest) => Promise<LoadResult>

const loadThere: Load = (request) =>
  new Promise((resolve) => {
    const refuse = (message: string): void =>
      resolve({ ok: false, problem: { file: request.feed.path, message: `could not be loaded: ${message}` } })
    const thread = new Worker(worker, { resourceLimits })
    thread.once('message', (result: LoadResult) => resolve(result))
    thread.once('error', (error) => refuse(error instanceof Error ? error.message : 'the thread failed'))
    thread.once('exit', () => refuse('the thread ended'))
    thread.postMessage(request)
  })

const loadHere: Load = (request) => Promise.resolve(loadFeed(request))

/** When run from source, there is no compiled worker to start. */
export const loadInThread: Load = import.meta.url.endsWith('.js') ? loadThere : loadHere
