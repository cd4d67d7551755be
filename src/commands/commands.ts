// The command table: name → one function; nothing else.
import type { Commands } from '../terminal/command.js'

/** Loaded on demand, so that each command loads only its own libraries. */
export const commands: Commands = {
  allow: async () => (await import('./allow.js')).allow,
  api: async () => (await import('./api.js')).api,
  check: async () => (await import('./check.js')).check,
  completion: async () => (await import('./completion/completion.js')).completionOf(commands),
  demo: async () => (await import('../parts/demo/demo.js')).demo,
  estimate: async () => (await import('./estimate.js')).estimate,
  explain: async () => (await import('./explain/explain.js')).explain,
  extract: async () => (await import('./extract.js')).extract,
  feeds: async () => (await import('./feeds.js')).feeds,
  formats: async () => (await import('./formats.js')).formats,
  history: async () => (await import('./history.js')).history,
  init: async () => (await import('./init/init.js')).createInit(),
  lookup: async () => (await import('./lookup.js')).lookup,
  notify: async () => (await import('../parts/notify/commands/notify.js')).notify,
  pipe: async () => (await import('./pipe/pipe.js')).pipe,
  produce: async () => (await import('./produce.js')).produce,
  replay: async () => (await import('./replay/replay.js')).replay,
  run: async () => (await import('./run.js')).run,
  rules: async () => (await import('./rules.js')).rules,
  serve: async () => (await import('./serve.js')).serve,
  silence: async () => (await import('../parts/notify/commands/silence.js')).silence,
  tail: async () => (await import('./tail.js')).tail,
}
