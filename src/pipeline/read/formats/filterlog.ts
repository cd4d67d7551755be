// Reads the packet filter's log of pfSense and OPNsense: comma-separated, one layout for each version of IP.
import { place, type Format } from './format.js'

const start =
  /^\d{0,6},[^,]{0,64},[^,]{0,256},[^,]{0,64},[^,]{1,64},[a-z-]{1,32},(?:pass|block|reject|match|nat|rdr|binat|scrub|synproxy-drop|unkn\(\d+\)),(?:in|out),[46],/

export const readFilterlog: Format = (reader, line) => {
  if (!line.body.includes(',') || !start.test(line.body)) return false
  const fields = line.body.split(',', 24)
  reader.action.see(1, 'action', fields[6] ?? '')
  const [from, to] = fields[8] === '4' ? [fields[18], fields[19]] : [fields[15], fields[16]]
  place(reader, line, from, 'source')
  place(reader, line, to, 'destination')
  return true
}
