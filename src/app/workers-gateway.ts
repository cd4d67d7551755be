// The gateway shared by worker processes, with the key, the memory, the limits and the budget.
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { budgetOf } from '../config/budget.js'
import { intelligenceProblems } from '../config/intelligence-problems.js'
import { memoryFolder } from '../config/memory-folder.js'
import type { Config } from '../config/schema.js'
import { messageOf } from '../base/message-of.js'
import { openParts, type Scope } from '../base/scope.js'
import { FolderInUse, lockFolder } from '../lookup/memory/folder-lock.js'
import { openServer, type OpenServer, type OpenServerOptions } from './open-server.js'
import { ConfigurationError } from '../config/problem.js'

type WorkersGateway = SharedGateway & { readonly close: () => Promise<void> }

type SharedGateway = {
  /** Changes to the environment of a worker. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The state of the API key. */
  readonly provider?: OpenServer['provider']
  readonly sources?: OpenServer['sources']
}

/** The longest path of a Unix socket that works on every system. */
const maxSocketPath = 100
const socketName = 'gateway.sock'
/** Minimum number of single calls in flight per worker; bulk lookups make none. */
const leastInFlight = 8

const inFlightOfWorker = (concurrency: number | 'auto'): number =>
  concurrency === 'auto' ? leastInFlight : Math.max(leastInFlight, concurrency)

/** The sources as workers see them: called by the gateway, with the ask modes resolved here. */
const sourcesThroughGateway = ({ intel }: Config): readonly Config['intel']['sources'][number][] =>
  intel.sources.map(({ apiKeyFile: _, ask, ...source }) => ({
    ...source,
    ask: ask ?? (intel.service.apiKey === '' ? 'always' : 'accused'),
    gateway: true,
  }))

/** No gateway without a key or sources. */
export const openWorkersGateway = (config: Config, options: OpenServerOptions): Promise<WorkersGateway> =>
  openParts((scope) => openGatewayIn(scope, config, options))

const openGatewayIn = async (scope: Scope, config: Config, options: OpenServerOptions): Promise<SharedGateway> => {
  const { service } = config.intel
  const problems = intelligenceProblems(config)
  if (problems.length > 0) throw new ConfigurationError(problems)
  const sources = sourcesThroughGateway(config)
  if (service.apiKey === '' && sources.length === 0) return { env: {} }
  const { path, isNamed } = memoryFolder(config, options.env)
  const state = path === undefined ? undefined : `${path}-gateway`
  const unwritable = state === undefined ? undefined : await whyUnwritable(state)
  const { perHour, perDay, isDefault } = budgetOf(config.admit)
  const isBudgeted = (!isDefault && (perHour > 0 || perDay > 0)) || (isNamed && sources.length > 0)
  const isKept = state !== undefined && (unwritable === undefined || isBudgeted)
  if (state !== undefined && !isKept)
    options.emit?.({ event: 'memory_not_persisted', path: state, message: unwritable ?? '' })
  const temporary = scope.use(isKept ? undefined : newFolder())?.path
  const socketFolder = scope.use(folderForSocket())?.path
  const apiKey = randomBytes(32).toString('hex')
  const opening = openServer(
    {
      ...config,
      feeds: [],
      // This gateway serves only the workers of this process.
      kafka: { ...config.kafka, gatewaysTopic: '' },
      serve: {
        ...config.serve,
        host: '127.0.0.1',
        port: 0,
        apiKey,
        keysFile: '',
        tls: { certFile: '', keyFile: '', passphrase: '' },
        data: '',
        state: temporary ?? state ?? '',
        // Without a provider key the gateway serves sources only and has no data of its own.
        upstream: service.apiKey === '' ? '' : service.baseUrl,
      },
    },
    { ...options, ...(socketFolder === undefined ? {} : { socket: join(socketFolder, socketName) }) },
    'workers',
  ).catch((error: unknown) => {
    throw new ConfigurationError([
      { setting: 'run --workers', message: error instanceof Error ? error.message : 'the gateway cannot be opened' },
    ])
  })
  const gateway = scope.use(await opening)
  return {
    env: {
      THREATWEAVE_INTEL_SERVICE_BASE_URL: gateway.url,
      THREATWEAVE_INTEL_SERVICE_OTHER_URLS: '[]',
      THREATWEAVE_INTEL_SERVICE_API_KEY: apiKey,
      THREATWEAVE_INTEL_SERVICE_API_KEY_FILE: undefined,
      THREATWEAVE_INTEL_SERVICE_PROFILE: '',
      THREATWEAVE_INTEL_SERVICE_CONCURRENCY: String(inFlightOfWorker(service.concurrency)),
      // The gateway has the budget and the memory.
      THREATWEAVE_MEMORY_PATH: 'none',
      // Fetched feeds stay in the configured state folder, as one copy for all workers.
      ...(config.memory.path === '' || config.memory.path === 'none' ? {} : { XDG_STATE_HOME: config.memory.path }),
      ...(sources.length > 0 && { THREATWEAVE_INTEL_SOURCES: JSON.stringify(sources) }),
      THREATWEAVE_ADMIT_PER_HOUR: '0',
      THREATWEAVE_ADMIT_PER_DAY: 'unlimited',
      THREATWEAVE_ADMIT_PER_RUN: '0',
    },
    provider: gateway.provider,
    ...(gateway.sources && { sources: gateway.sources }),
  }
}

type TemporaryFolder = { readonly path: string; readonly close: () => void }

const newFolder = (): TemporaryFolder => {
  const path = mkdtempSync(join(tmpdir(), 'threatweave-gateway-'))
  return { path, close: () => rmSync(path, { recursive: true, force: true }) }
}

/** If no socket can be created, workers connect over the loopback interface. */
const folderForSocket = (): TemporaryFolder | undefined => {
  try {
    const folder = newFolder()
    if (join(folder.path, socketName).length <= maxSocketPath) return folder
    folder.close()
  } catch {
    // The machine has no writable temporary folder.
  }
  return undefined
}

/** Why a folder is not writable, if so. A folder in use is refused later, when it is opened. */
const whyUnwritable = async (folder: string): Promise<string | undefined> => {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    await (await lockFolder(folder)).release()
    return undefined
  } catch (error) {
    return error instanceof FolderInUse ? undefined : messageOf(error)
  }
}
