// The line of a replay: it waits for every answer, asks behind live traffic, and pays no more than it was allowed.
import { openApp, type App } from '../../app/open-app.js'
import type { Config } from '../../config/schema.js'
import type { Emit } from '../../telemetry/event.js'
import type { Io } from '../../terminal/command.js'
import { accepted } from '../../config/load-config.js'
import type { ReplayArguments } from './replay-options.js'

export const openReplayLine = async (args: ReplayArguments, config: Config, io: Io, emit: Emit): Promise<App> => {
  const { maxLookups } = args
  const isSilent = args.lookups === 'none' || maxLookups === 0 || args.isDryRun
  const budget = maxLookups === undefined || maxLookups === 0 ? {} : { perRun: maxLookups }
  return accepted(
    await openApp(
      { ...config, admit: { ...config.admit, ...budget } },
      {
        mode: 'complete',
        urgency: 'replay',
        env: io.env,
        emit,
        replay: { id: args.id, isAnnotated: args.kind === 'annotated' },
        ...(isSilent && { approve: () => Promise.resolve(false) }),
      },
    ),
  )
}
