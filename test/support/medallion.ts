// medallion, the reference TAXII server by the authors of the standard, with a collection provided by the test.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'

export type AddedObject = { readonly object: { readonly [name: string]: unknown }; readonly added: string }

export type Medallion = {
  readonly discovery: string
  readonly collection: string
  readonly login: string
  /** Adds objects with the current time. */
  readonly add: (objects: readonly object[]) => Promise<void>
}

type Setup = {
  readonly objects: readonly AddedObject[]
  readonly maxPage: number
  /** For more than a thousand objects. */
  readonly isLarge?: boolean
}

const taxii = 'application/taxii+json;version=2.1'
const id = '91a7b528-80eb-42ed-a74d-c6fbd5a26116'

export const startMedallion = async (program: string, { objects, maxPage, isLarge }: Setup): Promise<Medallion> => {
  const folder = mkdtempSync(join(tmpdir(), 'medallion-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const collection = {
    title: 'Indicators',
    can_read: true,
    can_write: true,
    media_types: ['application/stix+json;version=2.1'],
  }
  writeFileSync(
    join(folder, 'data.json'),
    JSON.stringify({
      '/discovery': { title: 'ours', api_roots: [`${url}/ours/`] },
      ours: {
        information: { title: 'ours', versions: [taxii], max_content_length: 64 * 1024 * 1024 },
        status: [],
        collections: [
          { id: '64993447-4d7e-4f70-b94d-d7f33742ee63', ...collection, title: 'Closed', can_read: false },
          {
            id,
            ...collection,
            objects: objects.map(({ object }) => object),
            manifest: objects.map(({ object, added }) => ({
              id: object.id,
              date_added: added,
              version: object.modified,
              media_type: 'application/stix+json;version=2.1',
            })),
          },
        ],
      },
    }),
  )
  writeFileSync(
    join(folder, 'config.json'),
    JSON.stringify({
      users: { reader: 'secret' },
      taxii: { max_page_size: maxPage },
      backend: {
        ...(isLarge === true
          ? { module: 'indexed_backend', module_class: 'IndexedBackend' }
          : { module: 'medallion.backends.memory_backend', module_class: 'MemoryBackend' }),
        filename: join(folder, 'data.json'),
        // By default, `next` expires after 30 seconds, even in the middle of a read.
        session_timeout: 3600,
      },
    }),
  )
  const server = spawn(program, ['--port', String(port), join(folder, 'config.json')], {
    env: { ...process.env, PYTHONPATH: resolve(import.meta.dirname, 'medallion'), PYTHONDONTWRITEBYTECODE: '1' },
    stdio: 'ignore',
  })
  const ended = new Promise<void>((done) => server.once('exit', () => done()))
  onTestFinished(async () => {
    server.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true, force: true })
  })
  const login = `Basic ${Buffer.from('reader:secret').toString('base64')}`
  const headers = { authorization: login, accept: taxii }
  const answers = (): Promise<boolean> =>
    fetch(`${url}/taxii2/`, { headers }).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await answers())) {
    if (server.exitCode !== null) throw new Error('medallion ended before it answered')
    await new Promise((done) => setTimeout(done, 100))
  }
  const address = `${url}/ours/collections/${id}/`
  return {
    discovery: `${url}/taxii2/`,
    collection: address,
    login,
    add: async (added) => {
      const { status } = await fetch(`${address}objects/`, {
        method: 'POST',
        headers: { ...headers, 'content-type': taxii },
        body: JSON.stringify({ objects: added }),
      })
      if (status !== 202) throw new Error(`medallion answered ${status} to what was added`)
    },
  }
}

const freePort = (): Promise<number> =>
  new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => done(port))
    })
  })
