// The thread that reads pages while a server hands them out: a file in, its outline out.
import { parentPort } from 'node:worker_threads'
import { outlinePage } from './page-outline.js'

parentPort?.on('message', (file: string) => parentPort?.postMessage(outlinePage(file)))
