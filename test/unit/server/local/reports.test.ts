// Reports on an address, which every question about an address reads.
import { expect, it } from 'vitest'
import { openReports } from '../../../../src/server/local/reports.js'
import { openScanStore } from '../../../../src/server/scan/scan-store.js'
import { newFolder } from '../../../support/lookup-service.js'

const nothingListed = { of: () => undefined, below: () => [] }

it('are found without a look at all scans, and anew when a scan is done', () => {
  const store = openScanStore(newFolder())
  let looks = 0
  const counted = { ...store, scans: () => (looks++, store.scans()) }
  const reports = openReports([], counted, nothingListed)
  const scan = (host: string, isPrivate: boolean): void => {
    const created = store.create({ query: host, host, owner: 'b', isPrivate, at: 0 })
    const main = { changed_url: `https://${host}/` }
    store.update(
      { ...created, state: 'done' },
      { main_domain_info: main, report_time: '2026-01-01 00:00:00', mapped_ip: [{ ip: '198.51.100.1' }] },
    )
  }
  scan('one.example.com', false)
  scan('private.example.com', true)
  for (let nth = 0; nth < 1_000; nth++) expect(reports.seenOn(`198.51.100.${nth % 2}`)).toHaveLength(nth % 2)
  expect(looks).toBe(1)
  scan('two.example.com', false)
  expect(reports.seenOn('198.51.100.1').map(({ name }) => name)).toHaveLength(2)
  expect(looks).toBe(2)
})
