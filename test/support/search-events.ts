// Annotated events of every kind, and the bundled rules that match them.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Alert } from '../../src/alerts/alert.js'
import { openApp } from '../../src/app/open-app.js'
import { openAlerting } from '../../src/app/open-alerting.js'
import { loadAny } from '../../src/app/load-config.js'
import type { Detail } from '../../src/domain/annotation.js'
import { flags } from '../../src/domain/flag.js'
import { allOf, eventsIn, type EventOut } from '../../src/pipeline/pipeline.js'
import { startScriptedService, testKey, type Asked } from './scripted-service.js'

const examples = resolve(import.meta.dirname, '../../examples')

export type Annotated = {
  readonly events: readonly EventOut[]
  readonly alerts: readonly Alert[]
  /** Rule id → origins of the matching events, sorted. */
  readonly fired: ReadonlyMap<string, readonly string[]>
  /** The subset whose alert names the deciding indicator; a query over flat fields finds these. */
  readonly decided: ReadonlyMap<string, readonly string[]>
}

/**
 * Annotates `count` sample and generated events with a feed, a service and geo databases; every ninth as in a replay, with the `ecs` layer.
 * `rules` are added to the bundled ones.
 */
export const annotateMixed = async (
  count: number,
  detail: Detail,
  rules: readonly string[] = [],
): Promise<Annotated> => {
  const service = await startScriptedService(answer)
  const loaded = loadAny({
    values: {
      feeds: [{ name: 'sample', path: resolve(examples, 'feeds/sample-feed.csv') }],
      gate: { documentation: true },
      memory: { path: 'none' },
      admit: { perDay: 'unlimited' },
      alerts: { rules: [...rules], suppressSeconds: 0 },
      output: { detail },
      intel: {
        service: { baseUrl: service.baseUrl, apiKey: testKey },
        geo: ['sample-city.mmdb', 'sample-asn.mmdb'].map((file) => resolve(examples, 'intel/places', file)),
      },
    },
    env: {},
    readFile: (path) => readFileSync(path, 'utf8'),
  })
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  const { config } = loaded
  const live = await openApp(config, { mode: 'complete', env: {} })
  const layered = { ...config, output: { ...config.output, layers: ['ecs' as const] } }
  const replay = await openApp(layered, {
    mode: 'complete',
    env: {},
    replay: { id: 'week-of-monday', isAnnotated: false },
  })
  const alerting = await openAlerting(config, {})
  if ('problems' in live || 'problems' in replay || 'problems' in alerting) throw new Error('refused to start')

  const sample = readFileSync(resolve(examples, 'logs/firewall.log'), 'utf8').trim().split('\n')
  const texts = [...sample, ...Array.from({ length: count - sample.length }, (_, place) => madeEvent(place))]
  const given = texts.map((text, place) => ({ bytes: Buffer.from(text), origin: String(place) }))
  const events: EventOut[] = []
  for (let from = 0; from < count; from += 500) {
    const chunk = given.slice(from, from + 500)
    const isReplayed = ({ origin }: { origin: string }): boolean => Number(origin) % 9 === 7
    events.push(
      ...(await allOf(
        live.pipeline,
        chunk.filter((one) => !isReplayed(one)),
      )),
      ...(await allOf(replay.pipeline, chunk.filter(isReplayed))),
    )
  }
  const alerts = alerting.raise(events)
  const deciding = new Map(eventsIn(events).map(({ origin, annotation }) => [origin, annotation.value]))
  const originsByRule = (some: readonly Alert[]): ReadonlyMap<string, readonly string[]> => {
    const origins = new Map<string, string[]>()
    for (const { rule, threatweave } of some)
      origins.set(rule.id, [...(origins.get(rule.id) ?? []), threatweave.origin].sort())
    return origins
  }
  await Promise.all([live.close(), replay.close(), alerting.close(), service.close()])
  return {
    events,
    alerts,
    fired: originsByRule(alerts),
    decided: originsByRule(
      alerts.filter(({ threat_match_value: value, threatweave }) => deciding.get(threatweave.origin) === value),
    ),
  }
}

const hosts = ['critical', 'dangerous', 'moderate', 'low', 'safe']
const actions = ['allowed', 'blocked', 'Accept', 'DENY', undefined]
const names = [...hosts.map((host) => `${host}.example.com`), 'c2.botnet.example.org', 'new.example.net']

const madeEvent = (place: number): string => {
  const far = `198.51.100.${1 + (place % 250)}`
  const near = `10.0.${place % 7}.${1 + (place % 200)}`
  const action = actions[place % actions.length]
  const ends = Math.floor(place / 3) % 2 === 0 ? { src_ip: far, dest_ip: near } : { src_ip: near, dest_ip: far }
  const name = names[Math.floor(place / 11) % names.length]
  switch (place % 11) {
    case 0:
      return JSON.stringify({ sequence: place, src_ip: near, dns: { question: { name } }, action })
    case 1:
      return `<134>action=${action ?? 'none'} src=${far} dst=${near}`
    case 2:
      return JSON.stringify({ sequence: place, source: { ip: near }, url: { full: `https://${name ?? ''}/a` }, action })
    case 3:
      // Fields that resemble our annotation must not raise an alert in a search engine.
      return JSON.stringify({ ...ends, action, threatweave: { verdict: 'malicious', is_tor: true, score: 'high' } })
    case 4:
      return JSON.stringify({ ...ends, action, 'threatweave.verdict': 'malicious', 'threatweave.is_scanner': true })
    case 5:
      return JSON.stringify({ sequence: place, message: `nothing to see here, ${place}` })
    case 6: {
      const list = Array.from({ length: place % 2 === 0 ? 80 : 20 }, (_, more) => `198.51.100.${1 + more}`)
      return JSON.stringify({ ...ends, action, message: list.join(' ') })
    }
    case 7:
      return JSON.stringify({ src_ip: `2001:db8::bad:${place % 3}`, dest_ip: near, action })
    default:
      return JSON.stringify({ sequence: place, ...ends, action })
  }
}

/** Each bit of an address's last part sets one property of the answer. */
const answer = ({ path, query }: Asked): unknown => {
  const { ip } = query
  if (ip === undefined) {
    const row = (host: string, id: number): object => ({
      scan_id: id,
      url: `https://${host}.example.com/`,
      score: host,
      reg_dtime: new Date().toISOString().slice(0, 19).replace('T', ' '),
      issue: [],
    })
    return { status: 200, message: 'api success', data: { count: hosts.length, reports: hosts.map(row) } }
  }
  const bits = Number(ip.split('.').at(-1))
  if (Number.isNaN(bits) || bits % 31 === 0) return { status: 404, message: 'no data' }
  const has = (bit: number): boolean => (bits & (1 << bit)) !== 0
  return path.includes('suspicious')
    ? {
        ip,
        issues: {
          ...Object.fromEntries(flags.map((flag) => [flag, false])),
          is_tor: has(1),
          is_scanner: has(2),
          is_vpn: has(3),
          is_anonymous_vpn: has(3),
          is_hosting: has(5),
        },
        score: { inbound: has(6) ? 'Moderate' : 'Low', outbound: has(7) ? 'Dangerous' : 'Safe' },
        status: 200,
      }
    : {
        ip,
        is_malicious: bits % 5 === 0,
        is_vpn: has(3),
        is_anonymous_vpn: has(3),
        can_remote_access: has(4),
        scanning_record: { count: has(0) || has(2) ? 1 : 0, data: [] },
        status: 200,
      }
}
