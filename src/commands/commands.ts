// The command table: loads the commands of the core and of all parts by name.
import { parts } from '../app/parts.js'
import type { Commands } from '../terminal/command.js'

const ofCore: Commands = {
  allow: async () => (await import('./allow.js')).allow,
  api: async () => (await import('./api.js')).api,
  check: async () => (await import('./check.js')).check,
  completion: async () => (await import('./completion/completion.js')).completionOf(commands),
  estimate: async () => (await import('./estimate.js')).estimate,
  explain: async () => (await import('./explain/explain.js')).explain,
  extract: async () => (await import('./extract.js')).extract,
  feeds: async () => (await import('./feeds.js')).feeds,
  formats: async () => (await import('./formats.js')).formats,
  history: async () => (await import('./history.js')).history,
  init: async () => (await import('./init/init.js')).createInit(),
  lookup: async () => (await import('./lookup.js')).lookup,
  pipe: async () => (await import('./pipe/pipe.js')).pipe,
  produce: async () => (await import('./produce.js')).produce,
  replay: async () => (await import('./replay/replay.js')).replay,
  run: async () => (await import('./run.js')).run,
  rules: async () => (await import('./rules.js')).rules,
  serve: async () => (await import('./serve.js')).serve,
  tail: async () => (await import('./tail.js')).tail,
}

/** By name; loaded on demand, so that each command loads only its own libraries. */
export const commands: Commands = Object.fromEntries(
  [ofCore, ...parts.map(({ commands: added = {} }) => added)]
    .flatMap((some) => Object.entries(some))
    .toSorted(([a], [b]) => (a < b ? -1 : 1)),
)
