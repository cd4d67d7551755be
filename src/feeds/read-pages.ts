// Parses pages in a separate thread, so that the stream does not wait for megabytes of JSON.
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { packageFolder } from '../base/package-folder.js'
import { outlinePage, type Outline } from './page-outline.js'

export type PageReader = {
  /** One call at a time. */
  readonly read: (file: string) => Promise<Outline>
  readonly close: () => Promise<void>
}

const worker = join(packageFolder, 'dist/feeds/page-worker.js')
const resourceLimits = { maxOldGenerationSizeMb: 4096, maxYoungGenerationSizeMb: 8 }

const openThere = (): PageReader => {
  let thread: Worker | undefined
  return {
    read: (file) =>
      new Promise((resolve) => {
        const refuse = (message: string): void => resolve({ ok: false, message: `could not be read: ${message}` })
        thread ??= new Worker(worker, { resourceLimits })
        thread.removeAllListeners()
        thread.once('message', (outline: Outline) => resolve(outline))
        thread.once('error', (error) => refuse(error instanceof Error ? error.message : 'the thread failed'))
        thread.once('exit', () => refuse('the thread ended'))
        thread.postMessage(file)
      }),
    close: async () => {
      await thread?.terminate()
    },
  }
}

const openHere = (): PageReader => ({
  read: (file) => Promise.resolve(outlinePage(file)),
  close: () => Promise.resolve(),
})

/** When run from source, there is no compiled worker to start. */
export const openPageReader = import.meta.url.endsWith('.js') ? openThere : openHere
