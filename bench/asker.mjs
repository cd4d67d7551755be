// One client of the bulk bench, in its own process like a worker: asks the gateway about its share of the addresses at once.
import { openReader } from '../dist/app/open-app.js'
import { openIndicatorLookup } from '../dist/app/open-indicator-lookup.js'
import { load } from '../dist/config/load.js'

const { baseUrl, apiKey, from, to } = JSON.parse(process.argv[2] ?? '{}')
const { config } = load({
  values: { memory: { path: 'none' }, intel: { service: { baseUrl, apiKey } } },
  env: {},
  readFile: () => '',
})
const { decide } = openReader(config)
const { lookup, close } = await openIndicatorLookup(config, decide, { env: {} })
const ask = { role: 'destination', action: 'allowed', evidence: 'field' }
const addressOf = (n) => `45.${1 + (n >> 12)}.${1 + ((n >> 6) & 63)}.${1 + (n & 63)}`
const found = await Promise.all(
  Array.from({ length: to - from }, (_, n) => lookup({ type: 'ip', value: addressOf(from + n) }, ask)),
)
await close()
process.send({ known: found.filter(({ status }) => status === 'known').length })
process.disconnect()
