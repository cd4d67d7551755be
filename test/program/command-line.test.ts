// What only a process has: signals, and output to a disk that is full.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cliPath, root, runCli, someFeed } from '../support/cli.js'

const feed = ['--feed', someFeed]

describe('a signal', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('ends pipe after %s with what came through and a sentence', async (signal, code) => {
    const child = spawn(process.execPath, [cliPath, 'pipe', ...feed], { env: { PATH: process.env.PATH ?? '' } })
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    child.stdin.write('src=192.0.2.1 action=deny\n')
    await once(child.stdout, 'data')
    child.kill(signal)
    expect(await once(child, 'close')).toEqual([code, null])
    expect(stderr).toContain('threatweave: stopped after 1 event\n')
  })
})

describe('the space for new objects', () => {
  const show = `data:text/javascript,import{writeSync}from'node:fs';writeSync(1,process.pid+' '+process.execArgv.slice(0,-2)+';')`
  const shown = (args: readonly string[]): readonly string[] => {
    const child = spawnSync(process.execPath, ['--import', show, cliPath, ...args], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH ?? '' },
    })
    return [
      String(child.status),
      ...child.stdout
        .split(';')
        .slice(0, -1)
        .map((text) => text.split(' ')[1] ?? ''),
    ]
  }
  it.each(['run', 'replay', 'check'])(
    'is left to who starts %s: the process does not start itself again',
    (command) => {
      expect(shown([command])).toHaveLength(2)
    },
  )
})

const toFull = (args: readonly string[]): ReturnType<typeof spawnSync> =>
  spawnSync(process.execPath, [cliPath, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', THREATWEAVE_GATE_DOCUMENTATION: 'true' },
    stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
  })

describe.runIf(existsSync('/dev/full'))('a full disk', () => {
  const log = join(root, 'examples/logs/firewall.log')
  it.each([
    ['extract', ['extract', log], 'events'],
    ['pipe', ['pipe', '--summary', ...feed, log], 'events'],
    ['serve', ['serve', '--new-key', 'soc'], 'lines'],
    ['help', ['help'], 'lines'],
  ])('is told by %s in a sentence', (_, args, unit) => {
    expect(toFull(args)).toMatchObject({
      status: 1,
      stderr: `threatweave: cannot write to standard output: ENOSPC: no space left on device, write; 0 complete ${unit} written before\n`,
    })
  })

  it('is told of the alerts in a sentence', async () => {
    const { code, stderr } = await runCli(['pipe', ...feed, '--summary', '--alerts', '/dev/full', log], {
      env: { THREATWEAVE_GATE_DOCUMENTATION: 'true' },
    })
    expect(stderr).toContain(
      'threatweave: cannot write the alerts to /dev/full: ENOSPC: no space left on device, write; 0 complete alerts written before\n',
    )
    expect(stderr).not.toContain(' at ')
    expect(code).toBe(1)
  })
})
