// Reads pages in a thread of its own, so that the stream does not wait for megabytes to be parsed.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { outlinePage, type Outline } from './page-outline.js'

export type PageReader = {
  /** One at a time. */
  readonly read: (file: string) => Promise<Outline>
  readonly close: () => Promise<void>
}

const worker = new URL('./page-worker.js', import.meta.url)
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

/** Run from source there is no compiled worker to start. */
export const openPageReader = existsSync(fileURLToPath(worker)) ? openThere : openHere
