// The program and the databases of intel.geo: what it refuses to start with, and what it says of an address.
import { copyFileSync, mkdtempSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { root, runCli } from '../support/cli.js'
import { runLoaded } from '../support/loaded-program.js'

const folder = mkdtempSync(join(tmpdir(), 'threatweave-geo-program-'))
afterAll(() => rmSync(folder, { recursive: true }))

const city = join(root, 'examples/intel/places/sample-city.mmdb')
const cut = join(folder, 'cut.mmdb')
copyFileSync(city, cut)
truncateSync(cut, 500)
const missing = join(folder, 'missing.mmdb')

const env = {
  THREATWEAVE_GATE_DOCUMENTATION: 'true',
  THREATWEAVE_FEEDS: JSON.stringify([{ name: 'mine', path: join(root, 'examples/feeds/sample-feed.csv') }]),
  THREATWEAVE_KAFKA_BROKERS: '127.0.0.1:1',
  THREATWEAVE_KAFKA_INPUT_TOPICS: 'firewall',
  THREATWEAVE_KAFKA_OUTPUT_TOPIC: 'annotated',
  THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: 'dead',
  THREATWEAVE_OPS_ENABLED: 'false',
}

it.each(['run', 'run --workers 2', 'check', 'pipe'])(
  '%s refuses what is missing and what was cut off, each with a sentence',
  async (command) => {
    const { code, stdout, stderr } = await (command.includes('--workers') ? runCli : runLoaded)(command.split(' '), {
      env: { ...env, THREATWEAVE_INTEL_GEO: [missing, city, cut].join() },
    })
    expect(stderr).toContain(`intel.geo.0 names a database, which is refused: does not exist (${missing})`)
    expect(stderr).toContain(
      `intel.geo.2 names a database, which is refused: is no MaxMind-format database, or was cut off: its end is missing (${cut})`,
    )
    expect(stderr).not.toContain('intel.geo.1')
    expect([code, stdout]).toEqual([78, ''])
  },
)

it('check is content with a database, and pipe uses it', async () => {
  const given = {
    env: { ...env, THREATWEAVE_INTEL_GEO: city },
    input: 'action=accept src=198.51.100.60 dst=10.0.0.5\n',
  }
  expect(await runLoaded(['check'], given)).toMatchObject({ code: 0 })
  const { stdout } = await runCli(['pipe'], given)
  expect(JSON.parse(stdout)).toMatchObject({ threatweave: { value: '198.51.100.60', country: 'NL' } })
})
