// Opens the sighting counts and their retro alerts from the configuration, with the same judgement as the pipeline.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { createRetroAlert, createRetroSummary, type RetroAlert } from '../alerts/retro-alert.js'
import type { RetroMatch } from '../alerts/retro-rule.js'
import type { Alerts } from '../alerts/open-alerts.js'
import type { Config } from '../config/schema.js'
import type { AlertOut } from '../delivery/compose.js'
import type { Clock } from '../base/clock.js'
import { parseAddress } from '../domain/address.js'
import type { Decide } from '../domain/decision.js'
import type { Known } from '../domain/finding.js'
import type { GeoSource } from '../domain/geo.js'
import type { Indicator } from '../domain/indicator.js'
import { isInsideReason } from '../domain/inside-host.js'
import { judge } from '../domain/judge.js'
import type { JudgementTable } from '../domain/judgement-table.js'
import { anyPort, unknownPort } from '../domain/seen-port.js'
import type { Feeds } from '../feeds/open-feeds.js'
import { countPartitions } from '../follow-up/count-partitions.js'
import type { Counting } from '../follow-up/count-sightings.js'
import { createRetro, type Retro, type RetroConnections } from '../follow-up/retro.js'
import type { Emit } from '../telemetry/event.js'

type Tools = { readonly clock: Clock; readonly random: () => number; readonly emit: Emit }

export const createCounting = (
  config: Config,
  table: JudgementTable,
  { clock, random, emit }: Tools,
): Pick<Counting, 'counts'> & { readonly retro: Retro<RetroMatch> } => {
  const judgeNow: Parameters<typeof createRetro>[0]['judge'] = (finding, sighting) =>
    judge(finding, sighting, table, clock.now())
  const counts = countPartitions({ seed: Math.floor(random() * 0x1_0000_0000), judge: judgeNow })
  const retro = createRetro<RetroMatch>({
    partitions: counts.all,
    judge: judgeNow,
    turn: () => nextTurn(),
    pause: (ms) => sleep(ms, undefined, { ref: false }),
    emit,
    now: () => clock.now(),
    standsMs: config.memory.freshSeconds.malicious * 1000,
  })
  return { counts, retro }
}

/** Whether the gate currently counts a host as internal. A peer on the sightings topic may be forged, so it is checked again. */
export const insideBy =
  (decide: Decide): Counting['isInside'] =>
  (host) => {
    const type = parseAddress(host) === undefined ? 'domain' : 'ip'
    const decision = decide({ type, value: host, field: '', role: 'destination', evidence: 'field' })
    if (decision.decision !== 'skip') return false
    return isInsideReason(decision.reason) || decision.reason === 'internal_name'
  }

/** Calls `raised` for every written alert. */
export const startRetro = (
  retro: Retro<RetroMatch>,
  { decide, feeds, geo }: { readonly decide: Decide; readonly feeds: Feeds; readonly geo?: GeoSource | undefined },
  ruleFor: Alerts['retroMatch'],
  { now }: Clock,
  raised: (alert: RetroAlert) => void,
): void => {
  const askedFor: RetroConnections['askedFor'] = ({ type, value }) => {
    const decision = decide({ type, value, field: '', role: 'other', evidence: 'field' })
    return decision.decision === 'lookup' ? decision.ask : undefined
  }
  const withGeo = <About extends { readonly indicator: Indicator }>(about: About) => ({
    ...about,
    geo: geo?.of(about.indicator),
  })
  retro.start({
    match: (sighting, ports) => {
      const matchAt = (port: number): Known | undefined => feeds.match(sighting, now(), { port })
      const listed = matchAt(sighting.role === 'answer' ? anyPort : unknownPort)
      if (partialIn(listed) === 0) return listed
      // Of several ports, use the one that matches the most listings exactly.
      return ports.map(matchAt).reduce((best, other) => (partialIn(other) < partialIn(best) ? other : best), listed)
    },
    askedFor,
    ruleFor: (about) => ruleFor(withGeo(about)),
    write: async (counted, { hits, summarised }) => {
      const alerts = hits.map((hit) => createRetroAlert(withGeo(hit), now()))
      for (const rule of new Map(summarised.map(({ match }) => [match.rule.id, match.rule])).values()) {
        const ofRule = summarised.filter(({ match }) => match.rule.id === rule.id)
        alerts.push(createRetroSummary(rule, ofRule, now()))
      }
      const about = [...hits, ...summarised.filter((hit) => hit.counted === counted)]
      const written = await counted.writeAlerts(
        alerts.map(toRecord),
        about.map(({ indicator }) => indicator),
      )
      // A failed write is retried until it succeeds.
      if (written === 'written') for (const alert of alerts) raised(alert)
      return written
    },
  })
}

const partialIn = (found: Known | undefined): number =>
  found?.facts.listings?.filter(({ isPartial }) => isPartial === true).length ?? 0

const toRecord = (alert: RetroAlert): AlertOut => ({
  key: alert.threat_match_value ?? alert.rule.id,
  value: Buffer.from(JSON.stringify(alert)),
})
