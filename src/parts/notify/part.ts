// The notify part: sends alerts to people and other systems.
import type { Part } from '../../app/part.js'
import { notifySettings } from './settings.js'

export const notify: Part = {
  name: 'notify',
  settings: [notifySettings],
  commands: {
    notify: async () => (await import('./commands/notify.js')).notify,
    silence: async () => (await import('./commands/silence.js')).silence,
  },
  files: async () => (await import('./check-files.js')).files,
  problems: async (config) => {
    const { sinks = [] } = notifySettings.of(config) ?? {}
    return sinks.length === 0 ? [] : (await import('./load-sinks.js')).sinkProblems(sinks)
  },
}
