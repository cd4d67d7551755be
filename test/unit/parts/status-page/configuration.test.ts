// The configuration on the status page of a run.
import { expect, it } from 'vitest'
import { watchRun } from '../../../../src/app/watch-run.js'
import { load } from '../../../../src/config/load.js'
import { ignoreTelemetry } from '../../../../src/telemetry/event.js'

it('shows the effective configuration without secrets', async () => {
  const token = 'correct-horse-battery'
  const loaded = load({ env: { THREATWEAVE_OPS_PORT: '0', THREATWEAVE_OPS_TOKEN: token }, readFile: () => '' })
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  const ops = await (await watchRun(loaded.config, ignoreTelemetry)).serve({})
  const page = await (await fetch(`${ops.url ?? ''}/`)).text()
  await ops.close()
  expect(page).toContain('<td>ops.token</td><td>(hidden)</td>')
  expect(page).toContain('<td>enrich.deadlineMs</td>')
  expect(page).not.toContain(token)
})
