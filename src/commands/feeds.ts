// The `feeds` command: which feeds are in use, what they hold, how old they are, when they are fetched next, and what went wrong.
import { feedsFolder } from '../config/memory-folder.js'
import { configOption, loadConfig } from '../config/load-config.js'
import { openFeeds } from '../feeds/open-feeds.js'
import { describeSkipped, skippedIn } from '../domain/skipped.js'
import { placeOf, type FeedStatus } from '../feeds/status.js'
import { createDownload } from '../provider/download.js'
import { exitCodes, type Command } from '../terminal/command.js'
import { renderTable, type Column } from '../terminal/table.js'
import { write, writeJson } from '../terminal/write-lines.js'

export const feeds: Command = {
  summary: 'show the feeds: entries, age, next fetch, last error',
  help: `Usage: threatweave feeds [options]

Loads every feed of the configuration as a run would, fetches those whose time has come, and shows for each how many addresses and
names it holds, how much was skipped and why, how old it is, when it is fetched next, and what went wrong last. A feed that is
in use and holds no entry is "empty".

  -c, --config FILE   the configuration
      --json          print one JSON object per feed

Example:
  threatweave feeds -c threatweave.yaml

Exit codes: 0 every feed is in use as it is published, 1 some are not, 64 wrong usage, 78 wrong configuration.
`,
  options: { ...configOption, json: { type: 'boolean' } },
  run: async (args, io) => {
    const config = loadConfig(args, io)
    const fetching = { folder: feedsFolder(config, io.env), download: createDownload(io.env) }
    const opened = await openFeeds(config.feeds, { pollMs: 0, fetching })
    await opened.close()
    const all = opened.status()
    const isJson = args.values.json === true
    if (isJson) for (const status of all) await writeJson(io.stdout, `${JSON.stringify(shown(status))}\n`)
    else if (all.length === 0) await write(io.stdout, 'no feeds are configured\n')
    else await write(io.stdout, renderTable(columns, all.map(rowOf)) + all.map(skippedLine).join(''))
    return all.every(({ state, fetch }) => (state === 'loaded' || state === 'empty') && fetch?.error === undefined)
      ? exitCodes.ok
      : exitCodes.failure
  },
}

const columns: readonly Column[] = [
  { title: 'feed', max: 40 },
  { title: 'state' },
  { title: 'addresses', align: 'right' },
  { title: 'names', align: 'right' },
  { title: 'skipped', align: 'right' },
  { title: 'age', align: 'right' },
  { title: 'next fetch' },
  { title: 'last error', max: 200 },
]

const skippedLine = ({ name, skipped }: FeedStatus): string =>
  skippedIn(skipped) > 0 ? `${name}: ${skippedIn(skipped)} skipped: ${describeSkipped(skipped)}\n` : ''

const errorOf = ({ problem, fetch }: FeedStatus): string =>
  fetch?.error ?? (problem ? `${placeOf(problem)}: ${problem.message}` : '')

const rowOf = (status: FeedStatus): string[] => [
  status.name,
  status.state,
  String(status.addresses),
  String(status.names),
  String(skippedIn(status.skipped)),
  status.modified === undefined ? '' : ageOf(Date.now() - status.modified),
  status.fetch ? timeOf(status.fetch.nextAt) : '',
  errorOf(status),
]

const shown = (status: FeedStatus): object => ({
  feed: status.name,
  state: status.state,
  addresses: status.addresses,
  names: status.names,
  skipped: status.skipped,
  ...(status.modified !== undefined && { modified: timeOf(status.modified) }),
  ...(status.fetch && { from: status.fetch.from, next_fetch: timeOf(status.fetch.nextAt) }),
  ...(errorOf(status) !== '' && { error: errorOf(status) }),
})

const timeOf = (moment: number): string => new Date(moment).toISOString().slice(0, 19) + 'Z'

const ageOf = (ms: number): string => {
  const minutes = Math.max(0, Math.round(ms / 60_000))
  if (minutes < 120) return `${minutes} min`
  return minutes < 2880 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1440)} d`
}
