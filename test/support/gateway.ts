// A gateway in front of a provider on loopback, with settings of the test.
import { bundledProfile } from '../../src/app/open-profile.js'
import { systemClock } from '../../src/base/clock.js'
import { shippedTable } from '../../src/domain/judgement-table.js'
import { createClient } from '../../src/provider/client.js'
import { openGateway, type Gateway } from '../../src/server/gateway/gateway.js'
import { ignoreTelemetry } from '../../src/telemetry/event.js'
import { admissionSettings, cooldownSettings, memorySettings, retrySettings } from './lookup.js'

type GatewaySettings = Parameters<typeof openGateway>[0]

export const gatewayKey = 'The-gateways-own-key-9876543210'

export type GatewayOver = {
  readonly now?: () => number
  readonly admit?: Partial<GatewaySettings['admit']>
}

export const gatewayOf =
  (upstream: string, { now = Date.now, admit }: GatewayOver = {}) =>
  (folder: string): Promise<Gateway> => {
    const client = createClient(
      {
        baseUrl: upstream,
        apiKey: gatewayKey,
        profile: bundledProfile(),
        concurrency: 1,
        allowHttp: false,
        connectTimeoutMs: 2_000,
        headersTimeoutMs: 2_000,
        bodyTimeoutMs: 2_000,
        maxAnswerBytes: 1_048_576,
        maxAnswerDepth: 32,
      },
      { env: {}, now },
    )
    return openGateway(
      {
        admit: { ...admissionSettings, ...admit, retry: { ...retrySettings, times: 0 } },
        memory: { ...memorySettings, maxBytes: 10_000_000, cooldown: cooldownSettings },
      },
      {
        client,
        table: shippedTable,
        clock: { ...systemClock, now },
        random: Math.random,
        folder,
        emit: ignoreTelemetry,
      },
    )
  }
