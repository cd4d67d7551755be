// Promise: `produce` writes every line of a file to a topic, says what was refused, and makes no topic that nobody asked for.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, inject, it } from 'vitest'
import { runCli, type Ran } from '../support/cli.js'
import { makeTopics, readTopic, withAdmin } from '../support/kafka.js'
import { runLoaded } from '../support/loaded-program.js'

const folder = mkdtempSync(join(tmpdir(), 'produce-'))
const fileOf = (content: string | Buffer): string => {
  const path = join(folder, randomUUID())
  writeFileSync(path, content)
  return path
}
const produce = (...args: string[]): Promise<Ran> =>
  runLoaded(['produce', ...args], { env: { THREATWEAVE_KAFKA_BROKERS: inject('broker').plain } })
const valuesIn = async (topic: string, count: number): Promise<readonly string[]> => {
  const records = await readTopic(topic, (read) => read.length >= count)
  expect(records.every(({ key }) => key === null)).toBe(true)
  return records.map(({ value }) => value?.toString() ?? '').toSorted()
}
const topicExists = (topic: string): Promise<boolean> =>
  withAdmin(async (admin) => (await admin.listTopics()).includes(topic))

describe('produce', () => {
  it('sends the lines of a file round the partitions of the topic, without the empty ones', async () => {
    const { input } = await makeTopics({ partitions: 4 })
    const lines = Array.from({ length: 1200 }, (_, nth) => `line ${nth} src=192.0.2.${nth % 250}`)
    const ran = await produce(fileOf(gzipSync(`${lines.join('\n')}\n\n\r\n`)), input)
    expect(ran).toEqual({ code: 0, stdout: `1200 lines sent to topic ${input}.\n`, stderr: '' })
    const records = await readTopic(input, (read) => read.length >= 1200)
    expect(records.map(({ value }) => value?.toString()).toSorted()).toEqual(lines.toSorted())
    for (const partition of [0, 1, 2, 3])
      expect(records.filter((record) => record.partition === partition)).toHaveLength(300)
  })

  it('sends standard input, and the elements of a JSON array', async () => {
    const { input } = await makeTopics({ partitions: 1 })
    const env = { THREATWEAVE_KAFKA_BROKERS: inject('broker').plain }
    const ran = await runCli(['produce', '--rate', '1000', '-', input], { env, input: '[{"a":1},\n {"a":2}]' })
    expect(ran).toEqual({ code: 0, stdout: `2 lines sent to topic ${input}.\n`, stderr: '' })
    expect(await valuesIn(input, 2)).toEqual(['{"a":1}', '{"a":2}'])
  })

  it('refuses a topic that does not exist, and creates it only when told to', async () => {
    const topic = `new-${randomUUID().slice(0, 8)}`
    const file = fileOf('src=192.0.2.7\n')
    expect(await produce(file, topic)).toEqual({
      code: 1,
      stdout: '',
      stderr: `threatweave: topic ${topic} does not exist; create it, or give --create-topic N with the number of partitions\n`,
    })
    expect((await produce('--create-topic', '3', join(folder, 'nosuch'), topic)).code).toBe(64)
    expect(await topicExists(topic)).toBe(false)
    expect(await produce('--create-topic', '3', file, topic)).toEqual({
      code: 0,
      stdout: `Topic ${topic} was created with 3 partitions.\n1 line sent to topic ${topic}.\n`,
      stderr: '',
    })
    expect(await produce('--create-topic', '5', file, topic)).toMatchObject({
      code: 0,
      stdout: `1 line sent to topic ${topic}.\n`,
    })
    expect(await valuesIn(topic, 2)).toEqual(['src=192.0.2.7', 'src=192.0.2.7'])
  })

  it('names each line that the topic does not take, and sends the others', async () => {
    const { input } = await makeTopics({ partitions: 2, config: { input: { 'max.message.bytes': '2000' } } })
    const file = fileOf(`first\nsecond\n${'x'.repeat(5000)}\nlast\n`)
    expect(await produce(file, input)).toEqual({
      code: 1,
      stdout: `3 lines sent to topic ${input}.\n`,
      stderr: `threatweave: ${file}:3 was refused: MESSAGE_TOO_LARGE\n`,
    })
    expect(await valuesIn(input, 3)).toEqual(['first', 'last', 'second'])
  })
})
