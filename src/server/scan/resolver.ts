// DNS for the scanner: addresses to connect to, and records to report.
import { Resolver as NodeResolver } from 'node:dns/promises'

export type DnsRecords = {
  readonly ipv4: readonly string[]
  readonly ipv6: readonly string[]
  readonly cname: readonly string[]
  readonly mx: readonly string[]
  readonly ns: readonly string[]
  readonly soa: readonly string[]
  readonly txt: readonly string[]
}

export type Resolver = {
  /** `undefined` when there is no such name. */
  readonly records: (host: string) => Promise<DnsRecords | undefined>
  /** Resolved for every connection. */
  readonly addresses: (host: string) => Promise<readonly string[]>
}

const maxRecords = 32
const maxText = 512

export const createResolver = (timeoutMs: number): Resolver => {
  const resolver = new NodeResolver({ timeout: timeoutMs, tries: 2 })
  /** A missing record type is an empty list; only a missing name is reported. */
  const ask = async <T>(query: Promise<T[]>): Promise<{ rows: readonly T[]; isMissing: boolean }> => {
    try {
      return { rows: (await query).slice(0, maxRecords), isMissing: false }
    } catch (error) {
      return { rows: [], isMissing: (error as NodeJS.ErrnoException).code === 'ENOTFOUND' }
    }
  }
  return {
    records: async (host) => {
      const [ipv4, ipv6, cname, mx, ns, txt, soa] = await Promise.all([
        ask(resolver.resolve4(host)),
        ask(resolver.resolve6(host)),
        ask(resolver.resolveCname(host)),
        ask(resolver.resolveMx(host)),
        ask(resolver.resolveNs(host)),
        ask(resolver.resolveTxt(host)),
        ask(resolver.resolveSoa(host).then((record) => [record])),
      ])
      if (ipv4.isMissing && ipv6.isMissing) return undefined
      return {
        ipv4: ipv4.rows,
        ipv6: ipv6.rows,
        cname: cname.rows,
        mx: mx.rows.map(({ exchange }) => exchange),
        ns: ns.rows,
        soa: soa.rows.map(({ nsname, hostmaster, serial }) => `${nsname} ${hostmaster} ${serial}`),
        txt: txt.rows.map((parts) => parts.join('').slice(0, maxText)),
      }
    },
    addresses: async (host) => {
      const [ipv4, ipv6] = await Promise.all([ask(resolver.resolve4(host)), ask(resolver.resolve6(host))])
      return [...ipv4.rows, ...ipv6.rows]
    },
  }
}
