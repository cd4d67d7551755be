// The lookup service as the innermost source of findings: addresses one way, names another.
import type { Source } from '../domain/lookup.js'
import type { Emit } from '../telemetry/event.js'
import { createAskDomain, type DomainSettings } from './ask-domain.js'
import { createAskIp, type AddressSettings } from './ask-ip.js'
import type { Client } from './call.js'
import { createScanStore } from './scan-store.js'
import { createStepScan } from './scan.js'
import type { Wire } from './transmit.js'

export type SourceSettings = {
  readonly ip: AddressSettings
  readonly domain: DomainSettings & {
    readonly scan: 'off' | 'private' | 'public'
    readonly scanPollMs: number
    /** The folder where started scans are written down. */
    readonly scanFolder: string
  }
}

export const serviceSource = (client: Client, settings: SourceSettings, now: () => number, emit: Emit): Source => {
  const wire: Wire = { client, now, emit }
  const askIp = createAskIp(wire, settings.ip)
  const askDomain = createAskDomain(wire, settings.domain, scanOf(wire, settings.domain))
  return ({ type, value }, _, call) => (type === 'ip' ? askIp(value, call) : askDomain(value, call))
}

const scanOf = (wire: Wire, { scan, scanPollMs, scanFolder, maxAgeDays }: SourceSettings['domain']) =>
  scan === 'off'
    ? undefined
    : createStepScan(
        wire,
        { visibility: scan, pollMs: scanPollMs, againAfterMs: maxAgeDays * 86_400_000 },
        createScanStore(scanFolder),
      )
