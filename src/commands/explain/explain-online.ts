// `explain VALUE --online`: fetches alert context from the lookup service and prints it.
import { providerClient } from '../../app/provider-client.js'
import { systemClock } from '../../base/clock.js'
import type { Config } from '../../config/schema.js'
import { parseAddress } from '../../domain/address.js'
import { contextOperations } from '../../domain/alert-context.js'
import { escapeJsonControls, printable } from '../../domain/control-characters.js'
import { parseHostname } from '../../domain/hostname.js'
import type { Indicator } from '../../domain/indicator.js'
import { createAskContext } from '../../provider/ask-context.js'
import type { TelemetryEvent } from '../../telemetry/event.js'
import { exitCodes, UsageError, type Io } from '../../terminal/command.js'

type Asked = { readonly indicator: Indicator; readonly isVulnerability: boolean }

/** Calls the operations of alerts.context, or all of them if it has none; each call is paid. */
export const explainOnline = async (
  values: readonly string[],
  config: Config,
  io: Io,
  isJson: boolean,
): Promise<number> => {
  if (values.length === 0) throw new UsageError('--online needs an address, a name or a CVE id')
  const asked = values.map(askedOf)
  const client = providerClient(config, io)
  const configured = config.alerts.context.operations
  const usual = configured.length > 0 ? configured : contextOperations
  const askOf = ({ isVulnerability }: Asked) =>
    createAskContext({
      client,
      operations: isVulnerability ? ['exploit/search'] : usual,
      mayCall: () => !io.signal.aborted,
      clock: systemClock,
      emit: (event) => sayFailure(event, io),
    })
  let code: number = exitCodes.ok
  try {
    for (const one of asked) {
      const { indicator } = one
      const context = await askOf(one)(indicator, one.isVulnerability ? [indicator.value] : [])
      if (!context) {
        io.stderr.write(`threatweave: there is no answer about ${printable(indicator.value)}\n`)
        code = exitCodes.failure
        continue
      }
      const about = { value: indicator.value, ...context }
      io.stdout.write(
        isJson ? `${escapeJsonControls(JSON.stringify(about))}\n` : `${shown(JSON.stringify(about, null, 2))}\n`,
      )
    }
  } finally {
    await client.close()
  }
  return code
}

const askedOf = (value: string): Asked => {
  if (/^CVE-\d{4}-\d{4,7}$/i.test(value))
    return { indicator: { type: 'domain', value: value.toUpperCase() }, isVulnerability: true }
  const address = parseAddress(value)
  if (address !== undefined) return { indicator: { type: 'ip', value: address }, isVulnerability: false }
  const name = parseHostname(value)
  if (name === undefined)
    throw new UsageError(`--online needs an address, a name or a CVE id, not ${JSON.stringify(value)}`)
  return { indicator: { type: 'domain', value: name }, isVulnerability: false }
}

const shown = (text: string): string => text.split('\n').map(printable).join('\n')

const sayFailure = (event: TelemetryEvent, io: Io): void => {
  if (event.event !== 'provider_call_failed') return
  io.stderr.write(`threatweave: ${event.operation} failed: ${event.reason}, ${printable(event.detail)}\n`)
}
