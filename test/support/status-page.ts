// The ops endpoint with the status page on a free port, with sources from the test.
import { systemClock } from '../../src/base/clock.js'
import { createStatusPage } from '../../src/parts/status-page/open-status-page.js'
import { openTestOps, type TestSources } from './ops.js'

export const openTestPage = (
  settings: Parameters<typeof openTestOps>[0] = {},
  sources: Partial<TestSources> = {},
): ReturnType<typeof openTestOps> => openTestOps(settings, sources, createStatusPage(sources.clock ?? systemClock))
