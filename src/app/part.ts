// The interface of a part: one object with everything that it adds to the core.
import type { Clock } from '../base/clock.js'
import type { AddedSettings } from '../config/added-settings.js'
import type { Problem, Refused } from '../config/problem.js'
import type { Config } from '../config/schema.js'
import type { GeoDatabases } from '../domain/geo.js'
import type { Page } from '../ops/page.js'
import type { RecordOrigin } from '../pipeline/batch/cut-batch.js'
import type { OpenValue } from '../pipeline/batch/open-by-topic.js'
import type { PrepareRecords } from '../pipeline/pipeline.js'
import type { Emit } from '../telemetry/event.js'
import type { Commands } from '../terminal/command.js'

export type PlacesOptions = {
  readonly clock: Clock
  readonly emit: Emit
  /** The interval between checks for changed files; 0: never. */
  readonly pollMs?: number | undefined
}

/** A kind of file that `check FILE` recognises. */
export type FileOfPart = {
  /** A noun, for example `sink`. */
  readonly kind: string
  /** Names at its top level. */
  readonly names: ReadonlySet<string>
  /** Those that never occur in a JSON list. */
  readonly certain: readonly string[]
  readonly check: (path: string) => {
    /** For example `sink soc-chat` or `2 silences`. */
    readonly what: string
    readonly problems: readonly Problem[]
    readonly notes: readonly string[]
  }
}

/** Decodes values of topics with the format `registry` by their schemas. */
export type SchemaValues = {
  readonly open: OpenValue
  /** Fetches missing schemas; undefined if nothing is missing. */
  readonly prepare: PrepareRecords
  readonly close: () => Promise<void>
}

type SchemaKey = number | string

/** The checks of values for `check --online`. */
export type SchemaCheck = {
  /** The schema that a value names. */
  readonly keyOf: (value: Buffer, record: Pick<RecordOrigin, 'headers'>) => SchemaKey | undefined
  /** Undefined if no registry is configured. */
  readonly ask: (key: SchemaKey) => Promise<{ readonly isFound: boolean; readonly message: string } | undefined>
  readonly close: () => Promise<void>
}

export type SchemaOptions = {
  /** For proxy variables. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly emit: Emit
  /** Whether events may wait longer for a schema than for an answer. */
  readonly isPatient: boolean
}

/**
 * Loads nothing of a part before its first use: `part.ts` imports only the part's settings, and everything else with `import()` inside
 * these functions. Each is called only if the settings require it.
 */
export type Part = {
  /** The name of its folder. */
  readonly name: string
  readonly settings?: readonly AddedSettings[]
  readonly commands?: Commands
  readonly files?: () => Promise<readonly FileOfPart[]>
  /** Problems of the files and services that its settings name. */
  readonly problems?: (config: Config) => Promise<readonly Problem[]>
  /** The same for settings of the Kafka connection; every command that connects checks them. */
  readonly kafkaProblems?: (config: Config) => readonly Problem[]
  /** Decodes one topic format; undefined if no topic has it. */
  readonly schemaValues?: (config: Config, options: SchemaOptions) => Promise<SchemaValues> | undefined
  readonly schemaCheck?: (config: Config, env: SchemaOptions['env']) => Promise<SchemaCheck>
  /** Adds an address's country and network to the annotation; undefined if nothing is configured. */
  readonly places?: (config: Config, options: PlacesOptions) => Promise<GeoDatabases | Refused> | undefined
  /** The page for people at the ops endpoint. */
  readonly page?: (clock: { readonly now: () => number }) => Promise<Page>
}
