// Runs Kafka's own Java client to check compatibility in both directions.
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { inject } from 'vitest'
import { provision } from '../../src/parts/demo/distribution.js'
import type { Read } from './kafka.js'

/** Runs a program of test/support/java against the shared broker. */
export const runJava = async (program: string, ...args: readonly string[]): Promise<string> => {
  const { plain, classPath = await javaClassPath() } = inject('broker')
  const source = resolve(import.meta.dirname, `java/${program}.java`)
  const { stdout } = await promisify(execFile)('java', ['-cp', classPath, source, plain, ...args], {
    maxBuffer: 2 ** 27,
  })
  return stdout
}

/**
 * Reads topics with Java's consumer in read_committed mode, because plain kafkajs cannot read all of them and shows aborted records.
 * One JVM reads several topics, because its start takes most of the time.
 */
export const readWithJava = async <Topics extends readonly string[]>(
  ...topics: Topics
): Promise<{ [Place in keyof Topics]: Read[] }> => {
  const lines = (await runJava('ReadTopic', ...topics)).split('\n').filter((line) => line !== '')
  const records = lines.map((line) => {
    const [topic, partition, offset = '', timestamp = '', key, value, ...headers] = line.split(' ')
    return {
      topic,
      partition: Number(partition),
      offset,
      timestamp,
      key: bytes(key),
      value: bytes(value),
      headers: Object.fromEntries(
        headers.map((header) => {
          const end = header.includes('=') ? header.indexOf('=') : header.length - 1
          return [header.slice(0, end), bytes(header.slice(end)) ?? undefined]
        }),
      ),
    }
  })
  return topics.map((topic) => records.filter((record) => record.topic === topic)) as {
    [Place in keyof Topics]: Read[]
  }
}

const bytes = (text = '-'): Buffer | null => (text.startsWith('=') ? Buffer.from(text.slice(1), 'base64') : null)

const javaClassPath = async (): Promise<string> => {
  const found = await provision({ env: process.env, only: 'java' })
  if (found.how !== 'java') throw new Error('batches as Java writes them need Java and Maven')
  return found.classPath
}
