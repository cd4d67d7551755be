// Loads the databases of intel.geo, reloads changed files, and returns the country and network of an address.
import { readFile } from 'node:fs/promises'
import { createBoundedCache, ownText } from '../../base/bounded-cache.js'
import { messageOf } from '../../base/message-of.js'
import { systemClock, type Clock } from '../../base/clock.js'
import { reloadWhenChanged } from '../../base/reload-when-changed.js'
import { readAddress } from '../../domain/address.js'
import type { Geo, GeoDatabases } from '../../domain/geo.js'
import type { SettingProblem } from '../../domain/problem.js'
import { isDocumentation, specialReason } from '../../domain/special-ranges.js'
import { signatureOf, whyUnreadable } from '../../feeds/feed-file.js'
import { ignoreTelemetry, type Emit } from '../../telemetry/event.js'
import { databaseIn, findIn, type Database, type Location } from '../../geo/places.js'

type GeoOptions = {
  readonly emit: Emit
  readonly clock: Clock
  /** Whether documentation addresses count as public. */
  readonly documentation: boolean
  /** The interval between checks for changed files; 0: never. */
  readonly pollMs?: number | undefined
}

/** One file and its database in use, which is replaced only by a complete one. */
type Slot = {
  readonly file: string
  inUse: Database
  problem: string | undefined
  refusals: number
  /** Whether a failed read of the current database was logged. */
  hasFailed: boolean
}

const defaultPollMs = 5000
/** The cache keeps at least this many addresses, and at most twice as many. */
const generation = 25_000
const nothing: Geo = Object.freeze({})

/** Returns every problem if a file is unusable at the start; later the last good version of a file stays in use. */
export const openGeo = async (
  files: readonly string[],
  { emit, clock, documentation, pollMs = defaultPollMs }: GeoOptions,
): Promise<GeoDatabases | { readonly problems: readonly SettingProblem[] }> => {
  const first = await Promise.all(files.map(async (file) => ({ file, ...(await read(file)) })))
  const problems = first.flatMap(({ file, database }, place) =>
    'problem' in database
      ? [
          {
            setting: `intel.geo.${place}`,
            message: `names a database, which is refused: ${database.problem}`,
            where: file,
          },
        ]
      : [],
  )
  if (problems.length > 0) return { problems }
  let version = 0
  /** Cached by address, because listed indicators are judged anew for every event. */
  let known = createBoundedCache<string, Geo>(generation)

  const take = (slot: Slot, database: Database): void => {
    slot.inUse = database
    slot.problem = undefined
    slot.hasFailed = false
    version++
    known = createBoundedCache(generation)
    emit({ event: 'geo_database_loaded', file: slot.file, type: database.type, built: database.built })
  }
  const refuse = (slot: Slot, problem: string): void => {
    slot.problem = problem
    slot.refusals++
    emit({ event: 'geo_database_refused', file: slot.file, message: problem })
  }
  const opened = first.flatMap(({ file, signature, database }) => {
    if ('problem' in database) return []
    const slot: Slot = { file, inUse: database, problem: undefined, refusals: 0, hasFailed: false }
    take(slot, database)
    const watched = reloadWhenChanged(signature, {
      clock,
      pollMs,
      signature: () => signatureOf(file),
      read: async () => {
        const next = await read(file)
        const use = (): void =>
          'problem' in next.database ? refuse(slot, next.database.problem) : take(slot, next.database)
        return { signature: next.signature, use }
      },
    })
    return [{ slot, watched }]
  })

  /** A read can throw: a database may be intact at both ends and damaged in the middle. */
  const sources = opened.map(({ slot }) => ({
    find: (address: string): Location | undefined => {
      try {
        return slot.inUse.find(address)
      } catch (error) {
        if (!slot.hasFailed) emit({ event: 'geo_lookup_failed', file: slot.file, message: messageOf(error) })
        slot.hasFailed = true
        return undefined
      }
    },
  }))
  const isPublic = (text: string): boolean => {
    const address = readAddress(text)
    if (address === undefined) return false
    return specialReason(address) === undefined || (documentation && isDocumentation(address))
  }
  const lookUp = (value: string): Geo => {
    const found = (isPublic(value) ? geoOf(findIn(sources, value)) : undefined) ?? nothing
    known.set(ownText(value), found)
    return found
  }
  return {
    of: ({ type, value }) => {
      const found = type === 'ip' ? (known.get(value) ?? lookUp(value)) : nothing
      return found === nothing ? undefined : found
    },
    version: () => version,
    status: () =>
      opened.map(({ slot: { file, inUse, problem, refusals } }) => ({
        file,
        state: problem === undefined ? 'loaded' : 'kept',
        type: inUse.type,
        built: inUse.built,
        refusals,
        ...(problem !== undefined && { problem }),
      })),
    close: async () => {
      await Promise.all(opened.map(({ watched }) => watched.close()))
    },
  }
}

/** Problems of the database files. */
export const geoProblems = async (files: readonly string[]): Promise<readonly SettingProblem[]> => {
  const read = await openGeo(files, { emit: ignoreTelemetry, clock: systemClock, documentation: false, pollMs: 0 })
  if ('problems' in read) return read.problems
  await read.close()
  return []
}

/** Takes the signature before reading, so that a file that changes meanwhile is read again. */
const read = async (
  file: string,
): Promise<{ readonly signature: string; readonly database: Database | { readonly problem: string } }> => {
  const signature = await signatureOf(file)
  try {
    return { signature, database: databaseIn(await readFile(file)) }
  } catch (error) {
    return { signature, database: { problem: whyUnreadable(error) } }
  }
}

const geoOf = (place: Location | undefined): Geo | undefined => {
  if (place === undefined) return undefined
  const { countryCode, asNumber, asName } = place
  const country = countryCode?.toUpperCase()
  const hasCountry = country !== undefined && /^[A-Z]{2}$/.test(country)
  const hasNetwork = asNumber !== undefined && Number.isSafeInteger(asNumber) && asNumber > 0
  if (!hasCountry && !hasNetwork) return undefined
  return Object.freeze({
    ...(hasCountry && { country }),
    ...(hasNetwork && { as: Object.freeze({ number: asNumber, ...(asName !== undefined && { name: asName }) }) }),
  })
}
