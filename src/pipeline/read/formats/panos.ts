// Reads the comma-separated logs of PAN-OS, all types, by the places its documentation gives.
import type { Role } from '../../../domain/sighting.js'
import { readMail, readUrl } from '../value.js'
import { readLater } from '../reader.js'
import { csv } from '../csv.js'
import { place, type Format } from './format.js'

const start =
  /(?:^|[\s:])\d{0,12},\d{4}[/-]\d{2}[/-]\d{2}[ T]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z?,[^,]{0,32},(TRAFFIC|THREAT|URL|DATA|WILDFIRE|DECRYPTION|TUNNEL|SCTP|GTP|SYSTEM|CONFIG|GLOBALPROTECT|USERID|USER-ID|HIPMATCH|HIP-MATCH|AUTHENTICATION|CORRELATION|IPTAG|AUDIT),/i

type Places = readonly (readonly [number, Role])[]
const flow: Places = [
  [7, 'source'],
  [8, 'destination'],
  [9, 'translated'],
  [10, 'translated'],
]
const others: Readonly<Record<string, Places>> = {
  GLOBALPROTECT: [
    [15, 'source'],
    [16, 'source'],
    [17, 'translated'],
    [18, 'translated'],
  ],
  USERID: [[8, 'source']],
  'USER-ID': [[8, 'source']],
  HIPMATCH: [
    [11, 'source'],
    [28, 'source'],
  ],
  'HIP-MATCH': [[11, 'source']],
  AUTHENTICATION: [[8, 'source']],
  CONFIG: [[7, 'source']],
  CORRELATION: [[7, 'source']],
  IPTAG: [[8, 'source']],
  SYSTEM: [],
  AUDIT: [],
}
const flowTypes = new Set(['TRAFFIC', 'THREAT', 'URL', 'DATA', 'WILDFIRE', 'DECRYPTION', 'TUNNEL', 'SCTP', 'GTP'])

export const readPanos: Format = (reader, line) => {
  if (!line.whole.includes(',2')) return false
  const match = start.exec(line.whole.length > 400 ? line.whole.slice(0, 400) : line.whole)
  if (!match) return false
  const from = line.whole.indexOf(',', match.index)
  const fields = csv(`0${line.whole.slice(from)}`, 128)
  const type = (match[1] ?? '').toUpperCase()
  const isFlow = flowTypes.has(type)
  for (const [at, role] of isFlow ? flow : (others[type] ?? [])) place(reader, line, fields[at], role)
  if (!isFlow) {
    for (const at of type === 'SYSTEM' ? [14, 15] : [12, 13]) {
      readMail(fields[at] ?? '', line.field, reader.sightings)
      readLater(reader, fields[at] ?? '', line.field)
      if (type === 'SYSTEM') reader.action.seeText(fields[at] ?? '')
    }
    return true
  }
  readMail(fields[12] ?? '', line.field, reader.sightings)
  readMail(fields[13] ?? '', line.field, reader.sightings)
  reader.action.see(1, 'action', fields[30] ?? '')
  if (type === 'THREAT' || type === 'URL') {
    const misc = fields[31] ?? ''
    // A URL, or the name of a file.
    if (type === 'URL' || fields[4]?.toLowerCase() === 'url' || misc.includes('/'))
      readUrl(misc, line.field, reader.sightings)
    else readLater(reader, misc, line.field)
    for (const extra of fields.slice(44, 56))
      if (extra.includes('://') || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(extra)) readUrl(extra, line.field, reader.sightings)
  }
  return true
}
