// The positional formats, in the order they are tried.
import { readAccessLog } from './access-log.js'
import { readAsa } from './asa.js'
import { readCsvRow } from './csv-row.js'
import { readDhcp } from './dhcp.js'
import { readDnsQuery } from './dns-query.js'
import { readEnvoy } from './envoy.js'
import { readExim } from './exim.js'
import { readFilterlog } from './filterlog.js'
import type { Format } from './format.js'
import { readIronport } from './ironport.js'
import { readLoadBalancer } from './load-balancer.js'
import { readMnemonic } from './mnemonic.js'
import { readNetscaler } from './netscaler.js'
import { readNetfilter } from './netfilter.js'
import { readOracleNet } from './oracle-net.js'
import { readPanos } from './panos.js'
import { readRelay } from './relay.js'
import { readSquid } from './squid.js'
import { readW3c } from './w3c.js'

export const formats: readonly Format[] = [
  readAsa,
  readFilterlog,
  readNetfilter,
  readMnemonic,
  readExim,
  readIronport,
  readRelay,
  readNetscaler,
  readPanos,
  readLoadBalancer,
  readEnvoy,
  readSquid,
  readW3c,
  readAccessLog,
  readDnsQuery,
  readDhcp,
  readOracleNet,
  readCsvRow,
]
