// The gateways of an execution: each takes part in the election and makes as many calls as it may.
import type { Cluster } from '../broker/cluster.js'
import { createFleet, type Fleet } from '../fleet.js'
import type { Network } from '../network.js'
import type { Process, World } from '../world.js'
import type { Clock } from '../../../src/base/clock.js'
import type { joinElection } from '../../../src/election/join-election.js'
import type { Election } from '../../../src/election/election.js'
import type { KafkaSettings } from '../../../src/kafka/settings.js'
import type { createAdmission, AdmissionSettings } from '../../../src/lookup/admission/admission.js'
import type { CountingProvider } from './provider.js'
import { callMs, type GatewaysScenario } from './scenario.js'

/** Loaded only after the world's globals are installed. */
export type GatewaysProgram = {
  readonly joinElection: typeof joinElection
  readonly createAdmission: typeof createAdmission
  readonly admissionLimits: Omit<AdmissionSettings, 'inFlight' | 'perHour' | 'perDay' | 'perRun'>
  readonly systemClock: Clock
}

export type Gateways = {
  readonly fleet: Fleet
  /** The number of the calling gateway, or 0. */
  readonly caller: () => number
}

type Parts = {
  readonly world: World
  readonly cluster: Cluster
  readonly network: Network
  readonly provider: CountingProvider
  readonly program: GatewaysProgram
  /** Called when a gateway ends unexpectedly. */
  readonly failed: (error: unknown) => void
}

export const gatewaysTopic = 'gateways'
const sessionMs = 6_000

export const createGateways = (scenario: GatewaysScenario, parts: Parts): Gateways => {
  const { world, cluster, network, failed } = parts
  const settings = settingsOf(cluster, network)
  const elections = new Map<number, Election>()
  const fleet = createFleet(world, {
    size: scenario.gateways,
    name: 'g',
    main: async (self, nth, signal) => {
      const election = joinAs(nth, settings, scenario, parts)
      elections.set(nth, election)
      const asking = askOn(self, election, scenario, parts, signal)
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      await election.close()
      await asking
    },
    exited: (_process, _nth, exit) => {
      if (exit.how === 'failed' || exit.how === 'crashed') failed(exit.error)
    },
  })
  for (let nth = 0; nth < scenario.gateways; nth++) world.after(100 * nth, () => fleet.launch(nth))
  return {
    fleet,
    caller: () => {
      const calls = [...Array(scenario.gateways).keys()].find(
        (nth) => fleet.processOf(nth)?.isAlive === true && elections.get(nth)?.role().kind === 'calls',
      )
      return calls ?? 0
    },
  }
}

const joinAs = (
  nth: number,
  settings: KafkaSettings,
  { perDay }: GatewaysScenario,
  { world, program }: Parts,
): Election =>
  program.joinElection(settings, {
    address: `http://gateway-${nth}:8787`,
    sessionMs,
    callMs,
    budget: { perHour: 0, perDay },
    clock: program.systemClock,
    emit: (event) => world.log(JSON.stringify(event)),
  })

/** More lookups than calls, so that one is always waiting. */
const askOn = async (
  self: Process,
  election: Election,
  { concurrency }: GatewaysScenario,
  { program, provider }: Parts,
  signal: AbortSignal,
): Promise<void> => {
  const admission = program.createAdmission(
    {
      ...program.admissionLimits,
      callTimeoutMs: callMs,
      inFlight: concurrency,
      perHour: 0,
      perDay: 0,
      perRun: 0,
    },
    program.systemClock,
    () => undefined,
    undefined,
    election.permit,
  )
  let asked = 0
  const ask = async (): Promise<void> => {
    while (!signal.aborted) {
      const key = `${self.label} ${asked++}`
      const found = await admission.run(key, { role: 'destination', action: 'allowed' }, (send) =>
        send(() => provider.call(self)),
      )
      if (found.status === 'unknown') await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
  await Promise.all(Array.from({ length: concurrency + 2 }, ask))
}

const settingsOf = (cluster: Cluster, network: Network): KafkaSettings => ({
  brokers: [...cluster.addresses],
  clientId: 'threatweave',
  groupId: 'threatweave',
  input: { topics: [], pattern: '', start: 'earliest' },
  output: { topic: '', partitionBy: 'input', compression: 'none' },
  deadLetterTopic: '',
  gatewaysTopic,
  verdictsKey: 'a key that nobody else has, of 40 letters',
  delivery: 'at-least-once',
  transactionalIdPrefix: 'threatweave',
  tls: { enabled: false, caFile: '', certificateFile: '', keyFile: '', keyPassphrase: '', serverName: '' },
  sasl: { mechanism: 'none', username: '', password: '', tokenFile: '' },
  sockets: network.socketFactory as unknown as KafkaSettings['sockets'],
  limits: {
    chunkEvents: 1,
    chunkBytes: 1,
    sendBytes: 1,
    chunkDeadlineMs: 1,
    drainMs: 1,
    behindEvents: 1,
    sessionTimeoutMs: sessionMs,
    concurrentPartitions: 1,
    pendingEvents: 1,
    refreshMs: 1,
  },
})
