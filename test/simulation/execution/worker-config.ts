// The configuration of a scenario's workers, their rule, and their topics.
import type { ClusterOptions } from '../broker/cluster.js'
import type { Scenario } from '../scenario.js'
import type { load } from '../../../src/config/load.js'
import type { Config } from '../../../src/config/schema.js'

export const group = 'simulated'
export const files = { feed: 'feed.txt', rule: 'rule.yml' }

/** Topics whose append times are recorded and whose leaders move. */
export const watchedTopics: readonly string[] = ['output', 'dead', 'alerts', 'corrections', 'sightings', 'input']

export const topicsOf = (scenario: Scenario): NonNullable<ClusterOptions['topics']> => {
  const replicated = { replicationFactor: scenario.brokers }
  return {
    input: { partitions: scenario.partitions, ...replicated },
    output: { partitions: scenario.outputPartitions, ...replicated, configs: { 'max.message.bytes': '16384' } },
    dead: { partitions: 1, ...replicated },
    alerts: { partitions: 2, ...replicated },
    corrections: { partitions: 2, ...replicated },
    sightings: {
      partitions: scenario.partitions,
      ...replicated,
      configs: { 'cleanup.policy': 'compact,delete', 'retention.ms': '1209600000' },
    },
    verdicts: {
      partitions: 1,
      ...replicated,
      configs: { 'message.timestamp.type': 'LogAppendTime', 'retention.ms': '2592000000' },
    },
  }
}

export const ruleOf = ({ suppressSeconds = 0 }: Scenario): string => `title: Malicious
id: 5a1f3c9e-7f6f-4c9e-9a57-0d5a3b1c2d4e
logsource: { category: firewall }
level: high
detection:
  selection: { threatweave.verdict: malicious }
  condition: selection
threatweave:
  suppress: { by: [threatweave.value], seconds: ${suppressSeconds} }
---
title: Malicious Now
id: 6b2f3c9e-7f6f-4c9e-9a57-0d5a3b1c2d4f
logsource: { product: threatweave, service: retro }
level: high
detection:
  selection: { threatweave.verdict: malicious }
  condition: selection
`

const kafkaOf = (scenario: Scenario, brokers: readonly string[]): object => {
  const topic = (name: string, isUsed: boolean): string => (isUsed ? name : '')
  return {
    brokers: [...brokers],
    groupId: group,
    input: { topics: ['input'], batches: scenario.batches, start: 'earliest' },
    output: { topic: 'output', partitionBy: scenario.partitionBy },
    deadLetterTopic: 'dead',
    alertsTopic: topic('alerts', scenario.alerts),
    correctionsTopic: topic('corrections', scenario.corrections),
    sightingsTopic: topic('sightings', scenario.sightings),
    verdictsTopic: topic('verdicts', scenario.verdicts === true),
    delivery: scenario.delivery,
    limits: { sessionTimeoutMs: 6_000 },
  }
}

export const configOf = (scenario: Scenario, brokers: readonly string[], read: typeof load): Config => {
  const loaded = read({
    values: {
      feeds: [{ name: 'listed', path: files.feed }],
      gate: { documentation: true },
      ops: { enabled: false },
      admit: { perDay: scenario.perDay ?? 'unlimited' },
      memory: { path: 'none', maxEntries: 1_000 },
      alerts: { rules: [files.rule], bundled: false, suppressSeconds: 0 },
      enrich: { deadlineMs: scenario.deadlineMs, mode: scenario.mode },
      intel: {
        ip: { operations: { suspicious_info: 'never' } },
        service: { apiKey: 'simulated', baseUrl: 'https://provider.example', concurrency: scenario.concurrency },
      },
      kafka: kafkaOf(scenario, brokers),
    },
    env: {},
    readFile: () => '',
  })
  if ('problems' in loaded)
    throw new Error(loaded.problems.map(({ setting, message }) => `${setting} ${message}`).join('; '))
  return loaded.config
}
