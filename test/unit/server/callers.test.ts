import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createCallers } from '../../../src/server/callers.js'
import { openCredits } from '../../../src/server/credits.js'
import { soleKey } from '../../../src/server/keys.js'
import { ignoreTelemetry } from '../../../src/telemetry/event.js'
import { newFolder } from '../../support/lookup-service.js'

it('lets one call in at a time where the plan says so, and the next when it has left', () => {
  const credits = openCredits(join(newFolder(), 'credits.txt'), () => 0, ignoreTelemetry)
  const callers = createCallers([soleKey('a-key', { name: 'team', inFlight: 1 })], credits, () => 0)
  const first = callers.enter('a-key')
  expect(callers.enter('a-key')).toEqual({
    failure: { http: 200, status: 400, message: 'unable to call api at the same time' },
  })
  if ('leave' in first) first.leave()
  expect(callers.enter('a-key')).toHaveProperty('caller')
  credits.close()
})
