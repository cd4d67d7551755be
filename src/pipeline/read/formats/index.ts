// The positional formats, in the order they are tried.
import { readAccessLog } from './access-log.js'
import { readAsa } from './asa.js'
import { readDhcp } from './dhcp.js'
import { readDnsQuery } from './dns-query.js'
import { readFilterlog } from './filterlog.js'
import type { Format } from './format.js'
import { readNetfilter } from './netfilter.js'
import { readPanos } from './panos.js'
import { readSquid } from './squid.js'
import { readW3c } from './w3c.js'

export const formats: readonly Format[] = [
  readAsa,
  readFilterlog,
  readNetfilter,
  readPanos,
  readSquid,
  readW3c,
  readAccessLog,
  readDnsQuery,
  readDhcp,
]
