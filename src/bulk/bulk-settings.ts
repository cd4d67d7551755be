// How a gateway is asked for a bulk connection: the header that offers and requests it, its target, and how indicators are to be asked about.

/** With an answer: bulk is offered. With a request for a connection: the settings below. */
export const bulkHeader = 'x-threatweave-bulk'
/** The target of CONNECT has to look like a host and a port. */
export const bulkTarget = 'bulk:1'

/** Without scans: the asker makes them one by one and writes them down. */
export type BulkSettings = {
  readonly ip: { readonly escalate: boolean }
  readonly domain: { readonly maxAgeDays: number; readonly report: (typeof reports)[number] }
}

const reports = ['never', 'suspicious', 'always'] as const

export const writeBulkSettings = ({ ip, domain }: BulkSettings): string =>
  new URLSearchParams({
    escalate: String(ip.escalate),
    report: domain.report,
    maxAgeDays: String(domain.maxAgeDays),
  }).toString()

/** Undefined where they cannot be read. */
export const readBulkSettings = (text: string): BulkSettings | undefined => {
  const given = new URLSearchParams(text)
  const report = reports.find((each) => each === given.get('report'))
  const maxAgeDays = Number(given.get('maxAgeDays') ?? NaN)
  if (report === undefined || !(maxAgeDays >= 0)) return undefined
  return { ip: { escalate: given.get('escalate') === 'true' }, domain: { maxAgeDays, report } }
}
