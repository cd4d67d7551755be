import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { keyOf } from '../../../../src/domain/indicator.js'
import { openJournal } from '../../../../src/lookup/memory/journal.js'
import { indicators } from '../../../../src/lookup/question.js'
import type { TelemetryEvent } from '../../../../src/telemetry/event.js'
import { indicator, known, malicious } from '../../../support/lookup.js'

let path: string
beforeEach(() => void (path = mkdtempSync(join(tmpdir(), 'journal-'))))
afterEach(() => rmSync(path, { recursive: true, force: true }))

const openIt = async (maxBytes = 1_000_000, isWanted: () => boolean = () => true) => {
  const restored: string[] = []
  const told: TelemetryEvent[] = []
  const journal = await openJournal({ path, maxBytes }, indicators, {
    restore: (asked) => {
      restored.push(keyOf(asked))
      return isWanted()
    },
    emit: (event) => told.push(event),
  })
  return { journal, restored, told }
}
const fill = async (from: number, to: number, maxBytes?: number): Promise<void> => {
  const { journal } = await openIt(maxBytes)
  const written: Promise<void>[] = []
  for (let nth = from; nth < to; nth++) written.push(journal.append(indicator(nth), known(nth, malicious)))
  await Promise.all(written)
  await journal.close()
}
const restore = async (): Promise<{ restored: string[]; told: TelemetryEvent[] }> => {
  const { journal, ...seen } = await openIt()
  await journal.close()
  return seen
}
const keys = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, nth) => keyOf(indicator(from + nth)))
const segments = (): string[] => readdirSync(path).filter((name) => name.startsWith('findings-'))

describe('the journal', () => {
  it('reads back everything in the order in which it was written, over several runs', async () => {
    await fill(0, 100)
    await fill(100, 150)
    const { restored, told } = await restore()
    expect(restored).toEqual(keys(0, 150))
    expect(told).toEqual([{ event: 'memory_restored', path, findings: 150, damaged: 0 }])
  })

  it('has a record with the operating system when append resolves', async () => {
    const { journal } = await openIt()
    await journal.append(indicator(7), known(1))
    expect(readFileSync(join(path, 'findings-00000001.log'), 'utf8')).toContain(indicator(7).value)
    await journal.close()
  })

  it('drops a torn last record and nothing else, and goes on after it', async () => {
    await fill(0, 10)
    const file = join(path, 'findings-00000001.log')
    const whole = readFileSync(file)
    writeFileSync(file, whole.subarray(0, whole.length - 5))
    await fill(10, 12)
    const { restored, told } = await restore()
    expect(restored).toEqual([...keys(0, 9), ...keys(10, 12)])
    expect(told).toMatchObject([{ findings: 11, damaged: 0 }])
  })

  it('drops records damaged in the middle, and lines that are too long, and nothing else', async () => {
    await fill(0, 5)
    const file = join(path, 'findings-00000001.log')
    const text = readFileSync(file, 'latin1').split('\n')
    text[2] = text[2]!.replace('true', 'tRue')
    text.splice(4, 0, 'x'.repeat(3_000_000))
    writeFileSync(file, text.join('\n'), 'latin1')
    const { restored, told } = await restore()
    expect(restored).toEqual([...keys(0, 2), ...keys(3, 5)])
    expect(told).toMatchObject([{ findings: 4, damaged: 2 }])
  })

  it('survives a folder full of something else', async () => {
    writeFileSync(join(path, 'findings-00000001.log'), Buffer.alloc(100_000, 0xff))
    writeFileSync(join(path, 'findings-0000000x.log'), 'x')
    writeFileSync(join(path, 'notes.txt'), 'x')
    await fill(0, 3)
    expect((await restore()).restored).toEqual(keys(0, 3))
    expect(readFileSync(join(path, 'notes.txt'), 'utf8')).toBe('x')
  })

  it('stays within its bound and forgets the oldest first', async () => {
    for (let run = 0; run < 20; run++) await fill(run * 100, run * 100 + 100, 65_536)
    const bytes = segments().reduce((sum, name) => sum + statSync(join(path, name)).size, 0)
    expect(bytes).toBeLessThanOrEqual(65_536)
    expect(bytes).toBeGreaterThan(40_000)
    const { restored } = await restore()
    expect(restored).toEqual(keys(2000 - restored.length, 2000))
  })

  it('removes a file in which nothing is worth keeping any more', async () => {
    await fill(0, 10)
    const { journal } = await openIt(undefined, () => false)
    await journal.close()
    expect(segments()).toEqual([])
  })

  it('is safe to delete', async () => {
    await fill(0, 10)
    rmSync(path, { recursive: true })
    await fill(10, 20)
    expect((await restore()).restored).toEqual(keys(10, 20))
  })

  it('goes on without a disk that fails, and says so once', async () => {
    const { journal, told } = await openIt()
    rmSync(path, { recursive: true })
    writeFileSync(path, 'a file where the folder was')
    await journal.append(indicator(1), known(1))
    await journal.append(indicator(2), known(1))
    expect(told.filter(({ event }) => event === 'memory_write_failed').length).toBe(1)
    await journal.close()
  })
})

describe('the owner of a journal', () => {
  const lock = (owner: object): void => writeFileSync(join(path, 'lock'), JSON.stringify(owner))

  it('is alone as long as it lives', async () => {
    const { journal } = await openIt()
    await expect(openIt()).rejects.toThrow(/is in use by process \d+ on/)
    await journal.close()
    await (await openIt()).journal.close()
  })

  it.each<[string, () => object]>([
    ['is dead', () => ({ pid: 2 ** 22 + 1, host: hostname(), token: 'x' })],
    ['had our process id before us', () => ({ pid: process.pid, host: hostname(), token: 'x' })],
    [
      'had the id of a process that started later',
      () => ({ pid: process.ppid, host: hostname(), token: 'x', started: '1' }),
    ],
  ])('is followed at once when it %s', async (_title, owner) => {
    lock(owner())
    await (await openIt()).journal.close()
  })

  it('on another machine is left alone while its heart beats', async () => {
    lock({ pid: 1, host: 'elsewhere.example.com', token: 'x' })
    await expect(openIt()).rejects.toThrow('process 1 on elsewhere.example.com')
  })

  it('lets go of the folder', async () => {
    await fill(0, 1)
    expect(readdirSync(path)).toEqual(['findings-00000001.log'])
  })

  it('is one of many who all want a dead owner’s folder at once', async () => {
    for (let round = 0; round < 20; round++) {
      lock({ pid: 2 ** 22 + 1, host: hostname(), token: 'x' })
      const tries = await Promise.allSettled(Array.from({ length: 8 }, () => openIt()))
      const won = tries.filter((result) => result.status === 'fulfilled')
      expect(won.length).toBe(1)
      await won[0]?.value.journal.close()
    }
  })
})
