// A part: what it adds to the core, in one object.
import type { Clock } from '../base/clock.js'
import type { AddedSettings } from '../config/added-settings.js'
import type { Problem, Refused } from '../config/problem.js'
import type { Config } from '../config/schema.js'
import type { GeoDatabases } from '../domain/geo.js'
import type { Page } from '../ops/page.js'
import type { Emit } from '../telemetry/event.js'
import type { Commands } from '../terminal/command.js'

export type PlacesOptions = {
  readonly clock: Clock
  readonly emit: Emit
  /** How often the files are looked at; 0: never. */
  readonly pollMs?: number | undefined
}

/** A kind of file that `check FILE` knows. */
export type FileOfPart = {
  /** A noun: `sink`. */
  readonly kind: string
  /** Names that stand at its top level. */
  readonly names: ReadonlySet<string>
  /** Those among them that no list in JSON has. */
  readonly certain: readonly string[]
  readonly check: (path: string) => {
    /** `sink soc-chat`, `two silences`. */
    readonly what: string
    readonly problems: readonly Problem[]
    readonly notes: readonly string[]
  }
}

/**
 * Nothing of a part is loaded before it is used: its `part.ts` imports its settings alone, everything else by `import()` in one of these
 * functions. Each is called only if its settings say so.
 */
export type Part = {
  /** The name of its folder. */
  readonly name: string
  readonly settings?: readonly AddedSettings[]
  readonly commands?: Commands
  readonly files?: () => Promise<readonly FileOfPart[]>
  /** What is wrong with what its settings name. */
  readonly problems?: (config: Config) => Promise<readonly Problem[]>
  /** A column of the annotation: country and network of an address. Undefined where nothing is configured. */
  readonly places?: (config: Config, options: PlacesOptions) => Promise<GeoDatabases | Refused> | undefined
  /** The page for people at the ops endpoint. */
  readonly page?: (clock: Pick<Clock, 'now'>) => Promise<Page>
}
