// The `serve` command: a lookup server on local data, or a gateway to the provider.
import { once } from 'node:events'
import { withScope } from '../base/scope.js'
import { openServer } from '../app/open-server.js'
import { hashKey, newKey } from '../server/keys.js'
import { createLogger } from '../telemetry/logger.js'
import { exitCodes, UsageError, type Arguments, type Command, type Io } from '../terminal/command.js'
import { budgetOf } from '../config/budget.js'
import { exposedFiles } from '../config/exposed-files.js'
import { allSettings, loadConfig } from '../app/load-config.js'
import { configOption } from '../config/load-config.js'
import { ConfigurationError } from '../config/problem.js'
import { version } from '../terminal/version.js'
import { refusePortsInUse, watchRun } from '../app/watch-run.js'

export const serve: Command = {
  summary: 'serve lookup operations over HTTP, from your own data or as a gateway',
  help: `Usage: threatweave serve [options]

Serves the same eighteen operations as the provider, with the same bodies, errors and x-api-key header, from local
data: feeds, MaxMind databases, address lists, banner and exploit indexes, domain reports and scans. What no source
covers has no verdict; it is never called clean.

With --upstream it is a gateway: what it does not know it asks the provider with the key of intel.service.apiKey, with one
memory, one limit and one budget for all callers. Requests with the header x-threatweave-urgency: replay go after others.
GET /status shows what is spent and queued; health, metrics and a status page are on serve.opsPort of ops.host.

Options:
      --host HOST       address to listen on (default: serve.host, 127.0.0.1)
      --port N          port, 0 for any (default: serve.port, 8787)
      --data DIR        folder of local data (default: serve.data)
      --upstream URL    the provider to ask (default: serve.upstream, none)
      --state DIR       folder for scans, credits and stored answers (default: serve.state)
      --new-key NAME    print a new key and its entry for serve.keysFile, and exit
  -c, --config FILE     the configuration (default: THREATWEAVE_CONFIG, or built-in defaults)
  -h, --help            this text

Callers need a key: a single one in THREATWEAVE_SERVE_API_KEY, or several in serve.keysFile.

Example:
  THREATWEAVE_SERVE_API_KEY=change-me-please threatweave serve --data examples/intel &
  curl -H 'x-api-key: change-me-please' 'http://127.0.0.1:8787/v1/ip/malicious-info?ip=198.51.100.60'
`,
  options: {
    ...configOption,
    host: { type: 'string' },
    port: { type: 'string' },
    data: { type: 'string', takes: 'file' },
    state: { type: 'string', takes: 'file' },
    upstream: { type: 'string' },
    'new-key': { type: 'string' },
  },
  uselessBeside: { 'new-key': ['config', 'host', 'port', 'data', 'state', 'upstream'] },
  run: async (args, io) => {
    const name = args.values['new-key']
    if (typeof name === 'string') return printNewKey(name, io)
    const config = loadConfig(args, io)
    const pretty = config.log.format === 'auto' ? io.stderr.isTTY === true : config.log.format === 'pretty'
    const log = createLogger(io.stderr, { level: config.log.level, pretty, clock: Date.now })
    await refusePortsInUse(config, [config.serve.opsPort], 'serve.opsPort')
    for (const { setting, message } of exposedFiles(config, io.env, allSettings.schema))
      log({ event: 'secret_file_exposed', setting, message })
    const { perDay, isDefault } = budgetOf(config.admit)
    if (isDefault && (given(args).upstream ?? config.serve.upstream) !== '') log({ event: 'budget_not_set', perDay })
    await withScope(async (scope) => {
      const { emit, flush, hooks, serve: openEndpoint } = await watchRun(config, log)
      scope.defer(() => {
        flush()
        if (io.signal.aborted) emit({ event: 'stopped', command: 'serve', cause: String(io.signal.reason) })
      })
      const opening = openServer(
        { ...config, serve: { ...config.serve, ...given(args) } },
        { env: io.env, emit, watch: hooks },
        version,
      ).catch((error: unknown) => {
        throw new ConfigurationError([
          { setting: 'serve', message: error instanceof Error ? error.message : String(error) },
        ])
      })
      const server = scope.use(await opening)
      const { provider, feeds, sources } = server
      const views = { provider, feeds, sources, kind: 'server' } as const
      scope.use(await openEndpoint(views, config.serve.opsPort, 'serve.opsPort'))
      emit({ event: 'started', command: `serve on ${server.url}` })
      if (!io.signal.aborted) await once(io.signal, 'abort')
    })
    return exitCodes.ok
  },
}

const printNewKey = (name: string, io: Io): number => {
  if (!/^[\w.-]{1,64}$/.test(name))
    throw new UsageError(
      'the name of a key must be 1 to 64 letters, digits, dots, hyphens or underscores, such as soc-playbooks',
    )
  const key = newKey()
  const entry = { name, hash: hashKey(key), plan: { name: 'team', inFlight: 1, credits: 10_000, perSecond: 10 } }
  io.stdout.write(`key (not shown again):    ${key}\nentry for serve.keysFile: ${JSON.stringify(entry)}\n`)
  return exitCodes.ok
}

const given = ({
  values,
}: Arguments): { host?: string; port?: number; data?: string; state?: string; upstream?: string } => {
  const { host, port, data, state, upstream } = values
  if (port !== undefined && !(typeof port === 'string' && /^\d{1,5}$/.test(port) && Number(port) <= 65_535))
    throw new UsageError('--port must be a number from 0 to 65535')
  if (typeof upstream === 'string' && !/^https?:\/\//.test(upstream)) throw new UsageError('--upstream must be a URL')
  return {
    ...(typeof host === 'string' ? { host } : {}),
    ...(typeof port === 'string' ? { port: Number(port) } : {}),
    ...(typeof data === 'string' ? { data } : {}),
    ...(typeof state === 'string' ? { state } : {}),
    ...(typeof upstream === 'string' ? { upstream } : {}),
  }
}
