// The `serve` command: the lookup service for others, on local intelligence.
import { once } from 'node:events'
import { openServer } from '../app/open-server.js'
import { hashKey, newKey } from '../server/keys.js'
import { createLogger } from '../telemetry/logger.js'
import { exitCodes, UsageError, type Arguments, type Command, type Io } from '../terminal/command.js'
import { configOption, loadConfig } from '../config/load-config.js'
import { ConfigurationError } from '../config/problem.js'
import { version } from '../terminal/version.js'
import { watchRun } from '../app/watch-run.js'

export const serve: Command = {
  summary: 'answer the eighteen operations of the lookup service over HTTP, from intelligence of your own',
  help: `Usage: threatweave serve [options]

Answers the same eighteen operations as the provider, with the same bodies, errors and x-api-key header, from local
intelligence: feeds, MaxMind databases, address lists, banner and exploit indexes, domain reports and scans. What no source
covers has no verdict; it is never called clean.

With --upstream it is a gateway: what is not known here is asked at the provider with the key of intel.service.apiKey, once for all
callers, with one memory, one limit and one budget. Callers that can wait say so with the header x-threatweave-urgency: replay.
GET /status says what was spent and what waits; health and metrics are on serve.opsPort of ops.host.

Options:
      --host HOST       where to listen (default: serve.host, 127.0.0.1)
      --port N          which port, 0 for any (default: serve.port, 8787)
      --data DIR        the folder of local intelligence (default: serve.data)
      --upstream URL    ask this provider for what is not known here (default: serve.upstream, nobody)
      --state DIR       the folder for scans, credits and remembered answers (default: serve.state)
      --new-key NAME    print a new key and its entry for serve.keysFile, and end
  -c, --config FILE     the configuration to run with (default: THREATWEAVE_CONFIG, or built-in defaults)
  -h, --help            this text

Callers need a key: one in THREATWEAVE_SERVE_API_KEY for a quick start, many in the file of serve.keysFile.

Example:
  THREATWEAVE_SERVE_API_KEY=change-me-please threatweave serve --data examples/intel &
  curl -H 'x-api-key: change-me-please' 'http://127.0.0.1:8787/v1/ip/malicious-info?ip=198.51.100.60'
`,
  options: {
    ...configOption,
    host: { type: 'string' },
    port: { type: 'string' },
    data: { type: 'string' },
    state: { type: 'string' },
    upstream: { type: 'string' },
    'new-key': { type: 'string' },
  },
  run: async (args, io) => {
    const name = args.values['new-key']
    if (typeof name === 'string') return printNewKey(name, io)
    const config = loadConfig(args, io)
    const pretty = config.log.format === 'auto' ? io.stderr.isTTY === true : config.log.format === 'pretty'
    const log = createLogger(io.stderr, { level: config.log.level, pretty, clock: Date.now })
    const { emit, flush, hooks, serve: openEndpoint } = await watchRun(config, log)
    const service = await openServer(
      { ...config, serve: { ...config.serve, ...given(args) } },
      { env: io.env, emit, watch: hooks },
      version,
    ).catch((error: unknown) => {
      throw new ConfigurationError([
        { setting: 'serve', message: error instanceof Error ? error.message : String(error) },
      ])
    })
    const { opsPort } = config.serve
    const ops = await openEndpoint({ provider: service.provider, kind: 'server' }, opsPort, 'serve.opsPort').catch(
      async (error: unknown) => {
        await service.close()
        throw error
      },
    )
    emit({ event: 'started', command: `serve on ${service.url}` })
    if (!io.signal.aborted) await once(io.signal, 'abort')
    await Promise.all([service.close(), ops.close()])
    flush()
    emit({ event: 'stopped', command: 'serve', cause: String(io.signal.reason) })
    return exitCodes.ok
  },
}

const printNewKey = (name: string, io: Io): number => {
  if (!/^[\w.-]{1,64}$/.test(name)) throw new UsageError('the name of a key is a short word such as soc-playbooks')
  const key = newKey()
  const entry = { name, hash: hashKey(key), plan: { name: 'team', inFlight: 1, credits: 10_000, perSecond: 10 } }
  io.stdout.write(`key, shown only now:      ${key}\nentry for serve.keysFile: ${JSON.stringify(entry)}\n`)
  return exitCodes.ok
}

const given = ({
  values,
}: Arguments): { host?: string; port?: number; data?: string; state?: string; upstream?: string } => {
  const { host, port, data, state, upstream } = values
  if (port !== undefined && !(typeof port === 'string' && /^\d{1,5}$/.test(port) && Number(port) <= 65_535))
    throw new UsageError('--port takes a number from 0 to 65535')
  if (typeof upstream === 'string' && !/^https?:\/\//.test(upstream)) throw new UsageError('--upstream takes a URL')
  return {
    ...(typeof host === 'string' ? { host } : {}),
    ...(typeof port === 'string' ? { port: Number(port) } : {}),
    ...(typeof data === 'string' ? { data } : {}),
    ...(typeof state === 'string' ? { state } : {}),
    ...(typeof upstream === 'string' ? { upstream } : {}),
  }
}
