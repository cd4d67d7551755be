// The `feeds` command: shows the feeds with entries, age, next fetch and problems.
import { openPlaces } from '../app/open-places.js'
import { readFeedUse, type CountedUse } from '../app/read-feed-use.js'
import type { Config } from '../config/schema.js'
import { feedsFolder } from '../config/memory-folder.js'
import { loadConfig } from '../app/load-config.js'
import { configOption } from '../config/load-config.js'
import { starterLists } from '../config/starter-file.js'
import { openFeeds } from '../feeds/open-feeds.js'
import { describeSkipped, skippedIn } from '../domain/skipped.js'
import { discoverTaxii } from '../feeds/discover-taxii.js'
import { readAccess } from '../feeds/fetch-feed.js'
import { placeOf, type FeedStatus } from '../feeds/status.js'
import { printable } from '../domain/control-characters.js'
import type { Emit } from '../telemetry/event.js'
import { createDownload } from '../provider/download.js'
import { exitCodes, UsageError, type Arguments, type Command, type Io } from '../terminal/command.js'
import { createProgress, duration } from '../terminal/progress.js'
import { renderTable, type Column } from '../terminal/table.js'
import { write, writeJson } from '../terminal/write-lines.js'

export const feeds: Command = {
  summary: 'show the feeds: entries, age, next fetch, last error',
  help: `Usage: threatweave feeds [options]
       threatweave feeds discover [options] URL
       threatweave feeds starter [--json]

Loads every feed of the configuration as a run would, fetches those whose time has come, and shows for each how many addresses and
names it holds, how much was skipped and why, how old it is, when it is fetched next, and what went wrong last. A feed that is
in use and holds no entry is "empty". Where a run of the same configuration answers at ops.port, a second table says what it has
seen of each feed since its start: entries, events, events that the safeguard held back, alerts, alerts that only this feed
caused, and how many of the distinct public addresses it lists. The databases of intel.geo follow, with what they are and how long ago they were built. Of feeds that are read page by page it also shows how many objects and pages were read.

  starter    lists well-known public lists that need no account: what each is good for, and on which terms it may be used;
             \`threatweave init\` asks about each and writes those that you agree to into a configuration
  discover   lists the API roots of a TAXII 2.1 server and their collections, with the address that \`taxii\` of a feed takes

  -c, --config FILE   the configuration
      --json          print one JSON object per feed and database, or per collection

Of discover alone:
      --headers-file FILE   headers to send, one a line, such as Authorization: Basic BASE64
      --client-cert FILE    a client certificate in PEM, and
      --client-key FILE     its private key
      --allow-http          ask over plain HTTP

Examples:
  threatweave feeds -c threatweave.yaml
  threatweave feeds discover --headers-file login.txt https://taxii.example.com/taxii2/

Exit codes: 0 every feed is in use as it is published, or a collection may be read, 1 not so, 64 wrong usage, 78 wrong configuration.
`,
  options: {
    ...configOption,
    json: { type: 'boolean' },
    'headers-file': { type: 'string', takes: 'file' },
    'client-cert': { type: 'string', takes: 'file' },
    'client-key': { type: 'string', takes: 'file' },
    'allow-http': { type: 'boolean' },
  },
  takesArguments: [['discover', 'starter'], []],
  run: async (args, io) => {
    const [verb, ...rest] = args.positionals
    if (verb === 'discover') return discover(rest, args, io)
    if (verb !== undefined && (verb !== 'starter' || rest.length > 0))
      throw new UsageError('use `threatweave feeds`, `threatweave feeds discover URL` or `threatweave feeds starter`')
    const misplaced = discoverOptions.find((name) => args.values[name] !== undefined)
    if (misplaced !== undefined) throw new UsageError(`--${misplaced} is for \`feeds discover\` alone`)
    if (verb === 'starter') return showStarter(args.values.json === true, io)
    const config = loadConfig(args, io)
    const fetching = { folder: feedsFolder(config, io.env), download: createDownload(io.env) }
    const progress = createProgress(io.stderr, { label: 'reading' })
    const emit: Emit = (event) => {
      if (event.event === 'feed_page_fetched')
        progress.update(event.objects, `${event.feed}: ${event.objects} objects, ${event.pages} pages`)
    }
    const opened = await openFeeds(config.feeds, { pollMs: 0, fetching, emit, startWaitMs: Infinity })
    progress.end()
    await opened.close()
    const all = opened.status()
    const isJson = args.values.json === true
    const use = all.length === 0 ? undefined : await readFeedUse(config)
    if (isJson)
      for (const status of all)
        await writeJson(io.stdout, `${JSON.stringify({ ...shown(status), ...use?.get(status.name) })}\n`)
    else if (all.length === 0) await write(io.stdout, 'no feeds are configured\n')
    else
      await write(io.stdout, renderTable(columns, all.map(rowOf)) + all.map(skippedLine).join('') + usedTable(all, use))
    await showDatabases(config, isJson, io)
    return all.every(({ state, fetch }) => (state === 'loaded' || state === 'empty') && fetch?.error === undefined)
      ? exitCodes.ok
      : exitCodes.failure
  },
}

const showDatabases = async (config: Config, isJson: boolean, io: Io): Promise<void> => {
  const geo = await openPlaces(config, { pollMs: 0 })
  if (!geo) return
  await geo.close()
  const all = geo.status()
  if (isJson)
    for (const { file, state, type, built } of all)
      await writeJson(io.stdout, `${JSON.stringify({ database: file, state, type, built: timeOf(built) })}\n`)
  else {
    const rows = all.map(({ file, state, type, built }) => [file, state, type, ageOf(Date.now() - built)])
    await write(io.stdout, `\n${renderTable(databaseColumns, rows)}`)
  }
}

const databaseColumns: readonly Column[] = [
  { title: 'database', max: 80 },
  { title: 'state' },
  { title: 'is', max: 40 },
  { title: 'age', align: 'right' },
]

const showStarter = async (isJson: boolean, io: Io): Promise<number> => {
  for (const { feed, about, licence, terms } of starterLists())
    if (isJson) await writeJson(io.stdout, `${JSON.stringify({ ...feed, about, licence, terms })}\n`)
    else {
      const every = `every ${duration((feed.refreshMinutes ?? 60) * 60_000)}`
      await write(
        io.stdout,
        `${feed.name}\n  ${about}\n  licence: ${licence}\n  terms:   ${terms}\n  fetched: ${every} from ${feed.url ?? ''}\n`,
      )
    }
  return exitCodes.ok
}

const discoverOptions = ['headers-file', 'client-cert', 'client-key', 'allow-http'] as const

const discover = async (urls: readonly string[], { values }: Arguments, io: Io): Promise<number> => {
  const [url, ...more] = urls
  if (url === undefined || more.length > 0 || !URL.canParse(url))
    throw new UsageError('give one address, such as https://taxii.example.com/taxii2/')
  const text = (name: (typeof discoverOptions)[number]): string | undefined =>
    typeof values[name] === 'string' ? values[name] : undefined
  const files = {
    headersFile: text('headers-file'),
    clientCertFile: text('client-cert'),
    clientKeyFile: text('client-key'),
  }
  const access = readAccess(Object.fromEntries(Object.entries(files).filter(([, file]) => file !== undefined)))
  if ('problem' in access) throw new UsageError(access.problem)
  const found = await discoverTaxii(createDownload(io.env), url, {
    ...access,
    allowHttp: values['allow-http'] === true,
    signal: io.signal,
  })
  if ('refused' in found) {
    await write(io.stderr, `${url} ${found.refused}\n`)
    return exitCodes.failure
  }
  for (const { address, collections, problem } of found) {
    if (values.json === true)
      for (const { address: taxii, title, isReadable } of collections)
        await writeJson(io.stdout, `${JSON.stringify({ api_root: address, taxii, title, can_read: isReadable })}\n`)
    else {
      const rows = collections.map((one) => [one.isReadable ? 'yes' : 'no', printable(one.title), one.address])
      await write(io.stdout, `${address}\n${rows.length > 0 ? renderTable(collectionColumns, rows) : ''}`)
    }
    if (problem !== undefined) await write(io.stderr, `${address} ${problem}\n`)
  }
  return found.some(({ collections }) => collections.some(({ isReadable }) => isReadable))
    ? exitCodes.ok
    : exitCodes.failure
}

const collectionColumns: readonly Column[] = [
  { title: 'may read' },
  { title: 'collection', max: 60 },
  { title: 'taxii', max: 300 },
]

const columns: readonly Column[] = [
  { title: 'feed', max: 40 },
  { title: 'state' },
  { title: 'addresses', align: 'right' },
  { title: 'with port', align: 'right' },
  { title: 'names', align: 'right' },
  { title: 'URLs', align: 'right' },
  { title: 'skipped', align: 'right' },
  { title: 'age', align: 'right' },
  { title: 'newest entry', align: 'right' },
  { title: 'next fetch' },
  { title: 'last error', max: 200 },
]

const skippedLine = ({ name, skipped, fetch }: FeedStatus): string =>
  (fetch?.read
    ? `${name}: ${fetch.read.objects} objects in ${fetch.read.pages} pages, up to ${fetch.read.cursor ?? 'no cursor'}\n`
    : '') + (skippedIn(skipped) > 0 ? `${name}: ${skippedIn(skipped)} skipped: ${describeSkipped(skipped)}\n` : '')

const usedColumns: readonly Column[] = [
  { title: 'since the start', max: 40 },
  { title: 'entries seen', align: 'right' },
  { title: 'events', align: 'right' },
  { title: 'held back', align: 'right' },
  { title: 'alerts', align: 'right' },
  { title: 'of it alone', align: 'right' },
  { title: 'lists of what is seen', align: 'right' },
]

/** The counts of a running process with this configuration, if one answers. */
const usedTable = (all: readonly FeedStatus[], use: CountedUse | undefined): string => {
  if (!use) return ''
  const rows = all.map(({ name }) => {
    const { entries_seen, events, events_held_back, alerts, only_alerts, listed_ratio } = use.get(name) ?? {}
    const counts = [entries_seen, events, events_held_back, alerts, only_alerts].map((count = 0) => String(count))
    return [name, ...counts, `${((listed_ratio ?? 0) * 100).toFixed(1)} %`]
  })
  return `\n${renderTable(usedColumns, rows)}`
}

const errorOf = ({ problem, fetch }: FeedStatus): string =>
  fetch?.error ?? (problem ? `${placeOf(problem)}: ${problem.message}` : '')

const rowOf = (status: FeedStatus): string[] => [
  status.name,
  status.state,
  String(status.addresses),
  String(status.endpoints),
  String(status.names),
  String(status.urls),
  String(skippedIn(status.skipped)),
  status.modified === undefined ? '' : ageOf(Date.now() - status.modified),
  status.newestEntry === undefined ? '' : ageOf(Date.now() - status.newestEntry),
  status.fetch ? timeOf(status.fetch.nextAt) : '',
  errorOf(status),
]

const shown = (status: FeedStatus): object => ({
  feed: status.name,
  state: status.state,
  addresses: status.addresses,
  endpoints: status.endpoints,
  names: status.names,
  urls: status.urls,
  skipped: status.skipped,
  ...(status.modified !== undefined && { modified: timeOf(status.modified) }),
  ...(status.newestEntry !== undefined && { newest_entry: timeOf(status.newestEntry) }),
  ...(status.fetch && { from: status.fetch.from, next_fetch: timeOf(status.fetch.nextAt) }),
  ...(status.fetch?.read && { read: status.fetch.read }),
  ...(errorOf(status) !== '' && { error: errorOf(status) }),
})

const timeOf = (moment: number): string => new Date(moment).toISOString().slice(0, 19) + 'Z'

const ageOf = (ms: number): string => {
  const minutes = Math.max(0, Math.round(ms / 60_000))
  if (minutes < 120) return `${minutes} min`
  return minutes < 2880 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1440)} d`
}
