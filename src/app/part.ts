// A part: what it adds to the core, in one object.
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

/** Values of topics with the format `registry`, read by their schemas. */
export type SchemaValues = {
  readonly open: OpenValue
  /** Fetches schemas that records need; undefined if nothing is missing. */
  readonly prepare: PrepareRecords
  readonly close: () => Promise<void>
}

type SchemaKey = number | string

/** What `check --online` asks about values. */
export type SchemaCheck = {
  /** The schema that a value names. */
  readonly keyOf: (value: Buffer, record: Pick<RecordOrigin, 'headers'>) => SchemaKey | undefined
  /** Undefined where no registry is configured. */
  readonly ask: (key: SchemaKey) => Promise<{ readonly isFound: boolean; readonly message: string } | undefined>
  readonly close: () => Promise<void>
}

export type SchemaOptions = {
  /** For proxy variables. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly emit: Emit
  /** Whether events may wait for a schema longer than for an answer. */
  readonly isPatient: boolean
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
  /** The same for settings of the connection to Kafka, which every command that uses it looks at. */
  readonly kafkaProblems?: (config: Config) => readonly Problem[]
  /** A format of topics. Undefined where no topic has it. */
  readonly schemaValues?: (config: Config, options: SchemaOptions) => Promise<SchemaValues> | undefined
  readonly schemaCheck?: (config: Config, env: SchemaOptions['env']) => Promise<SchemaCheck>
  /** A column of the annotation: country and network of an address. Undefined where nothing is configured. */
  readonly places?: (config: Config, options: PlacesOptions) => Promise<GeoDatabases | Refused> | undefined
  /** The page for people at the ops endpoint. */
  readonly page?: (clock: { readonly now: () => number }) => Promise<Page>
}
