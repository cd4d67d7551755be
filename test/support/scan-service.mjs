// The lookup service as a separate process that may scan one port on loopback; settings, key and port come from argv.
import { bundledProfile } from '../../dist/app/open-profile.js'
import { createAnswerReader } from '../../dist/provider/answer-reader.js'
import { startServer } from '../../dist/server/start-server.js'

const { settings, port } = JSON.parse(process.argv[2])
const records = { ipv4: ['127.0.0.1'], ipv6: [], cname: [], mx: [], ns: [], soa: [], txt: [] }
const service = await startServer(settings, {
  reader: createAnswerReader(bundledProfile()),
  now: Date.now,
  emit: () => undefined,
  version: '0.0.0',
  feeds: [],
  resolver: { records: () => Promise.resolve(records), addresses: () => Promise.resolve(records.ipv4) },
  mayConnect: (address, wanted) => address === '127.0.0.1' && wanted === port,
})
process.stdout.write(`${service.url}\n`)
