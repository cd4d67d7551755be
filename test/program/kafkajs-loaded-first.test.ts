// The program in a process that has loaded kafkajs before it: its corrections cannot take effect, so nothing is read or written.
import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { cliPath, root } from '../support/cli.js'

const env = {
  PATH: process.env.PATH,
  THREATWEAVE_MEMORY_PATH: 'none',
  THREATWEAVE_OPS_ENABLED: 'false',
  THREATWEAVE_FEEDS: '[{"name":"sample","path":"examples/feeds/sample-names.txt"}]',
  THREATWEAVE_KAFKA_BROKERS: '127.0.0.1:1',
  THREATWEAVE_KAFKA_INPUT_TOPICS: 'in',
  THREATWEAVE_KAFKA_OUTPUT_TOPIC: 'out',
  THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: 'dead',
}

describe('kafkajs loaded before the program', () => {
  it.each([
    ['run', ['run'], 78],
    ['replay', ['replay', '--topic', 'in', '--output', 'again', '--from', 'earliest', '--to', 'now'], 1],
    ['check --online', ['check', '--online'], 1],
  ] as const)('is refused by %s, with what to do', (_, args, code) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--require', 'kafkajs', cliPath, ...args], {
      cwd: root,
      env,
      encoding: 'utf8',
    })
    expect(stdout + stderr).toMatch(
      /kafkajs was loaded before .*: import threatweave before anything that imports kafkajs/,
    )
    expect(stdout + stderr).not.toMatch(/unexpected/)
    expect(status).toBe(code)
  })
})
