// The databases in what `feeds` shows.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../../../support/cli.js'
import { feedFile } from '../../../support/feed-files.js'
import { runCommand } from '../../../support/run-command.js'

it('shows the databases of intel.geo after the feeds, and refuses a file that is none', async () => {
  const place = (name: string): string => join(root, 'examples/intel/places', name)
  const env = {
    THREATWEAVE_FEEDS: JSON.stringify([{ name: 'ours', path: feedFile('198.51.100.0/24\n') }]),
    THREATWEAVE_INTEL_GEO: place('sample-asn.mmdb'),
  }
  const json = await runCommand(['feeds', '--json'], { env })
  expect(json.code).toBe(0)
  expect(JSON.parse(json.stdout.trim().split('\n')[1]!)).toEqual({
    database: place('sample-asn.mmdb'),
    state: 'loaded',
    type: 'Sample-ASN',
    built: '2025-01-01T00:00:00Z',
  })
  expect((await runCommand(['feeds'], { env })).stdout).toMatch(/sample-asn\.mmdb +loaded +Sample-ASN/)
  expect((await runCommand(['feeds'], { env: { ...env, THREATWEAVE_INTEL_GEO: feedFile('x') } })).code).toBe(78)
})
