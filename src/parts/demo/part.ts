// The demo: alerts from sample logs on this machine, with a real broker and a lookup server.
import type { Part } from '../../app/part.js'

export const demo: Part = {
  name: 'demo',
  commands: { demo: async () => (await import('./demo.js')).demo },
}
