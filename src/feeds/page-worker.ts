// The thread that parses fetched pages: takes a file, returns its outline.
import { parentPort } from 'node:worker_threads'
import { outlinePage } from './page-outline.js'

parentPort?.on('message', (file: string) => parentPort?.postMessage(outlinePage(file)))
