// The status-page part: the web page at the ops endpoint.
import type { Part } from '../../app/part.js'

export const statusPage: Part = {
  name: 'status-page',
  page: async (clock) => (await import('./open-status-page.js')).createStatusPage(clock),
}
