// Messages from notify itself, shaped like alerts so that every sink can show them: omitted alerts, heartbeats and tests.
import { createHash } from 'node:crypto'
import { ruleLevels, type RuleLevel } from '../../alerts/sigma/rule.js'
import type { AlertRecord } from './alert-record.js'

type Notice = {
  readonly name: string
  readonly message: string
  readonly level: RuleLevel
  /** Identifies the notice; its alert id is a hash of this. */
  readonly key: string
  readonly count: number
  readonly now: number
}

const notice = ({ name, message, level, key, count, now }: Notice): AlertRecord => {
  const id = createHash('sha256').update(key).digest('hex').slice(0, 32)
  return {
    id,
    groupId: id,
    level,
    at: now,
    whole: {
      '@timestamp': new Date(now).toISOString(),
      message: `${name}: ${message}`,
      event: {
        kind: 'alert',
        category: ['threat'],
        type: ['indicator'],
        dataset: 'threatweave.alerts',
        id,
        severity: ruleLevels.indexOf(level) + 1,
      },
      rule: { id: 'threatweave-notify', name, ruleset: 'threatweave' },
      threatweave: {
        schema_version: 1,
        alert_id: id,
        group_id: id,
        level,
        origin: 'threatweave notify',
        count,
        status: 'skipped',
        verdict: 'unknown',
        direction: 'unknown',
        action: 'unknown',
        summary: message,
        matched: [],
      },
    },
  }
}

/** Alerts that one summary message replaces. */
export type LeftOut = {
  readonly alerts: number
  readonly worst: RuleLevel
  /** Those omitted because of their age. */
  readonly tooOld: number
  /** Partition and offset of the first one. */
  readonly first: string
}

export const moreAlerts = (sink: string, { alerts, worst, tooOld, first }: LeftOut, now: number): AlertRecord =>
  notice({
    name: `${alerts} more alert${alerts === 1 ? '' : 's'}`,
    message: `the worst is ${worst}${tooOld === 0 ? '' : `; ${tooOld} came too late to be sent`}. They begin at ${first} of the alerts topic`,
    level: worst,
    key: `more ${sink} ${first}`,
    count: alerts,
    now,
  })

export const heartbeat = (sink: string, now: number): AlertRecord =>
  notice({
    name: 'Heartbeat',
    message: `threatweave notify is alive and can reach ${sink}`,
    level: 'informational',
    key: `heartbeat ${sink} ${now}`,
    count: 0,
    now,
  })

/** Looks like an alert from `run`; the addresses are reserved for documentation. */
export const sampleAlert = (sink: string, now: number): AlertRecord => {
  const sample = notice({
    name: 'Test of threatweave notify',
    message: '203.0.113.99 is malicious: listed in sample-feed as 203.0.113.99 (c2)',
    level: 'high',
    key: `test ${sink} ${now}`,
    count: 1,
    now,
  })
  const at = new Date(now).toISOString()
  const { threatweave, event } = sample.whole as Readonly<Record<string, Readonly<Record<string, unknown>>>>
  return {
    ...sample,
    whole: {
      ...sample.whole,
      event: { ...event, original: `${at} edge-fw-1 connection from 10.0.0.31 to 203.0.113.99:443 allowed (a test)` },
      source: { ip: '10.0.0.31', port: 51022 },
      destination: { ip: '203.0.113.99', port: 443 },
      observer: { name: 'edge-fw-1' },
      related: { ip: ['10.0.0.31', '203.0.113.99'] },
      threatweave: {
        ...threatweave,
        status: 'complete',
        verdict: 'malicious',
        type: 'ip',
        value: '203.0.113.99',
        direction: 'outbound',
        action: 'allowed',
        categories: ['c2'],
        peer: '10.0.0.31',
      },
    },
  }
}
