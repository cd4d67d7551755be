// Builds the counting of sightings and its retro alerts from the configuration, with the same judgement as the pipeline.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { createRetroAlert, createRetroSummary, type RetroAlert } from '../alerts/retro-alert.js'
import type { Config } from '../config/schema.js'
import type { Clock } from '../base/clock.js'
import type { Decide } from '../domain/decision.js'
import { judge } from '../domain/judge.js'
import type { Feeds } from '../feeds/open-feeds.js'
import type { AlertOut } from '../kafka/alert-record.js'
import type { OpenCounting } from '../kafka/count-sightings.js'
import { countPartitions, type CountedPartitions } from '../sightings/count-partitions.js'
import { createRetro, type Retro } from '../sightings/retro.js'
import type { Emit } from '../telemetry/event.js'
import { tableOf } from './open-table.js'

/** `opened` is called with what has to be told about changes of feeds and answers. */
export const openCounting =
  (
    config: Config,
    { decide, feeds }: { readonly decide: Decide; readonly feeds: Feeds },
    { clock, random, emit }: { readonly clock: Clock; readonly random: () => number; readonly emit: Emit },
    opened: (retro: Retro, counts: CountedPartitions) => void,
    raised: (alert: RetroAlert) => void,
  ): OpenCounting =>
  (write) => {
    const table = tableOf(config)
    const counts = countPartitions({
      seed: Math.floor(random() * 0x1_0000_0000),
      judge: (finding, sighting) => judge(finding, sighting, table, clock.now()),
    })
    const retro = createRetro({
      partitions: counts.all,
      match: (indicator) => feeds.match(indicator),
      judge: (finding, sighting) => judge(finding, sighting, table, clock.now()),
      askedFor: ({ type, value }) => {
        const decision = decide({ type, value, field: '', role: 'other', evidence: 'field' })
        return decision.decision === 'lookup' ? decision.ask : undefined
      },
      write: async (partition, { hits, summarised }) => {
        const now = clock.now()
        const alerts = hits.map((hit) => createRetroAlert(hit, now))
        if (summarised.length > 0) alerts.push(createRetroSummary(summarised, now))
        const about = [...hits, ...summarised.filter((hit) => hit.partition === partition)]
        const written = await write(
          partition,
          alerts.map(toRecord),
          about.map(({ indicator }) => indicator),
        )
        // It is tried again until it is written.
        if (written === 'written') for (const alert of alerts) raised(alert)
        return written
      },
      turn: () => nextTurn(),
      pause: (ms) => sleep(ms, undefined, { ref: false }),
      emit,
    })
    opened(retro, counts)
    return { counts, retro, feeds: feeds.digest }
  }

const toRecord = (alert: RetroAlert): AlertOut => ({
  key: alert.threat_match_value ?? alert.rule.id,
  value: Buffer.from(JSON.stringify(alert)),
})
