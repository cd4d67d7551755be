// The demo part: shows alerts from sample logs, with a real broker and a lookup server on this machine.
import type { Part } from '../../app/part.js'

export const demo: Part = {
  name: 'demo',
  commands: { demo: async () => (await import('./demo.js')).demo },
}
