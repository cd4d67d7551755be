import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Scanner } from '../../../../src/server/scan/scan.js'
import { createScanQueue } from '../../../../src/server/scan/scan-queue.js'
import { firstScanId, openScanStore } from '../../../../src/server/scan/scan-store.js'
import { newFolder } from '../../../support/lookup-service.js'

type ScanOutcome = Awaited<ReturnType<Scanner>>

const report = { main_domain_info: { main_domain: 'example.com' } }
const details = { query: 'http://example.com/', host: 'example.com', owner: 'soc', isPrivate: false }
const options = { atOnce: 2, now: () => 1_000 }

/** Each scan ends when the test says how. */
const controlled = () => {
  const ends: ((outcome: ScanOutcome) => void)[] = []
  const scanner: Scanner = (_, progress) => {
    progress(30)
    return new Promise((resolve) => ends.push(resolve))
  }
  return { scanner, ends }
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('the queue of scans', () => {
  it('writes a scan down before it tells its id, and counts up to done', async () => {
    const folder = newFolder()
    const store = openScanStore(folder)
    const { scanner, ends } = controlled()
    const queue = createScanQueue(store, scanner, options)
    const scan = queue.submit(details)!
    expect(readdirSync(folder)).toContain(`${scan.id}.json`)
    expect(queue.percentage(store.get(scan.id)!)).toBe(30)
    ends[0]!({ outcome: 'done', report })
    await settled()
    expect(queue.percentage(store.get(scan.id)!)).toBe(100)
    expect(store.readReport(scan.id)).toEqual(report)
  })

  it.each([
    ['failed', -1],
    ['no_such_domain', -2],
  ] as const)('says %s as %i', async (outcome, percentage) => {
    const store = openScanStore(newFolder())
    const { scanner, ends } = controlled()
    const queue = createScanQueue(store, scanner, options)
    const { id } = queue.submit(details)!
    ends[0]!({ outcome })
    await settled()
    expect(queue.percentage(store.get(id)!)).toBe(percentage)
  })

  it('takes a scan whose scanner breaks for failed', async () => {
    const store = openScanStore(newFolder())
    const queue = createScanQueue(store, () => Promise.reject(new Error('broken')), options)
    const { id } = queue.submit(details)!
    await settled()
    expect(store.get(id)?.state).toBe('failed')
  })

  it('lets an owner have one scan at a time, and runs no more at once than it may', async () => {
    const store = openScanStore(newFolder())
    const { scanner, ends } = controlled()
    const queue = createScanQueue(store, scanner, options)
    expect(queue.submit(details)).toBeDefined()
    expect(queue.submit(details)).toBeUndefined()
    queue.submit({ ...details, owner: 'b' })
    const third = queue.submit({ ...details, owner: 'c' })!
    expect(ends).toHaveLength(2)
    expect(queue.percentage(store.get(third.id)!)).toBe(0)
    ends[0]!({ outcome: 'failed' })
    await settled()
    expect(ends).toHaveLength(3)
    expect(queue.submit(details)).toBeDefined()
  })

  it('begins again after a crash what was waiting or running, under the same id', async () => {
    const folder = newFolder()
    const crashed = controlled()
    const { id } = createScanQueue(openScanStore(folder), crashed.scanner, options).submit(details)!
    // Nothing is closed: what is on disk is what a killed process leaves behind.
    const store = openScanStore(folder)
    expect(store.get(id)).toMatchObject({ state: 'running', attempts: 1 })
    const { scanner, ends } = controlled()
    const queue = createScanQueue(store, scanner, options)
    expect(ends).toHaveLength(1)
    ends[0]!({ outcome: 'done', report })
    await settled()
    expect(queue.percentage(store.get(id)!)).toBe(100)
    expect(queue.submit(details)!.id).toBe(id + 1)
  })

  it('does not try a third time what took the process down twice', () => {
    const folder = newFolder()
    const { id } = createScanQueue(openScanStore(folder), controlled().scanner, options).submit(details)!
    createScanQueue(openScanStore(folder), controlled().scanner, options)
    const store = openScanStore(folder)
    const third = controlled()
    createScanQueue(store, third.scanner, options)
    expect(third.ends).toHaveLength(0)
    expect(store.get(id)?.state).toBe('failed')
  })

  it('leaves a scan that was stopped in the middle for the next start', async () => {
    const folder = newFolder()
    const { scanner, ends } = controlled()
    const queue = createScanQueue(openScanStore(folder), scanner, options)
    const { id } = queue.submit(details)!
    const closed = queue.close()
    ends[0]!({ outcome: 'failed' })
    await closed
    expect(openScanStore(folder).get(id)?.state).toBe('running')
  })
})

describe('the scans on disk', () => {
  it('have ids far above the provider’s, and files that are no scans do not matter', () => {
    const folder = newFolder()
    writeFileSync(join(folder, '12.json'), '{"half a')
    writeFileSync(join(folder, '13.json'), '{"id":13,"state":"unheard of"}')
    const store = openScanStore(folder)
    expect(store.scans()).toEqual([])
    expect(store.create({ ...details, at: 1 }).id).toBe(firstScanId)
    expect(store.readReport(firstScanId)).toBeUndefined()
  })
})
