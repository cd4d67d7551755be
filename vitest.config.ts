import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** Every temporary folder of a run is inside this one, and goes with it. */
const scratch = mkdtempSync(join(tmpdir(), 'tw-tests-'))
process.env['TMPDIR'] = scratch
process.once('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))

/** Brokers and other Java programs live for minutes: what Java's second compiler would save there costs more than it saves. */
process.env['_JAVA_OPTIONS'] ??= '-XX:TieredStopAtLevel=1'

/** They end what hangs and are no part of any verdict, so they are for a machine with much else to do. */
const limits = { testTimeout: 900_000, hookTimeout: 900_000, expect: { poll: { timeout: 600_000 } } }

/** No unit test waits for another process, so one that takes minutes hangs. */
const ofUnits = { testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: { timeout: 60_000 } } }

/**
 * One broker for all files, started only when one of them is run. More files at once than there are processors: most of the time they wait for
 * sessions to end and groups to form.
 */
const onBroker = {
  globalSetup: ['test/support/build-setup.ts', 'test/support/broker-setup.ts'],
  setupFiles: ['test/support/plain-kafkajs.ts'],
  isolate: false,
  maxWorkers: 4,
}

/** The built program as a process. */
const ofProgram = {
  globalSetup: ['test/support/build-setup.ts'],
  isolate: false,
  maxWorkers: 3,
  sequence: { groupOrder: 0 },
}

export default defineConfig({
  test: {
    reporters: ['default'],
    projects: [
      // In one process: no other program, no broker, no browser. Modules are loaded once for all files, which halves the time.
      {
        test: {
          ...limits,
          ...ofUnits,
          name: 'unit',
          include: ['test/unit/**/*.test.ts', 'test/contract/**/*.test.ts', 'test/architecture.test.ts'],
          isolate: false,
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      // The built program as a process, without a broker.
      {
        test: {
          ...limits,
          ...ofProgram,
          name: 'program',
          include: ['test/program/*.test.ts'],
        },
      },
      // The Kafka side under faults, in virtual time, each run in a process of its own.
      {
        test: {
          ...limits,
          name: 'simulation',
          include: ['test/simulation/*.test.ts'],
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      // One file for each promise, on a real broker.
      {
        test: {
          ...limits,
          ...onBroker,
          name: 'integration',
          include: ['test/integration/*.test.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      // For `npm run test:matrix`: what takes long, and is proved by the simulation or by unit tests as well.
      {
        test: {
          ...limits,
          name: 'simulation-long',
          include: ['test/simulation/long/*.test.ts'],
        },
      },
      {
        test: {
          ...limits,
          ...ofProgram,
          name: 'program-long',
          include: ['test/program/long/*.test.ts'],
        },
      },
      {
        test: {
          ...limits,
          ...onBroker,
          name: 'integration-long',
          include: ['test/integration/long/*.test.ts'],
          sequence: { groupOrder: 2 },
        },
      },
      // What takes large downloads, for `npm run test:matrix`: three brokers that are restarted one after the other, and tools that are
      // fetched once (helm, hadolint, promtool, sigma-cli, medallion, Apicurio, confluent-kafka, Chromium, OpenSearch, rsyslog, buildah).
      {
        test: {
          ...limits,
          name: 'matrix',
          include: ['test/cluster/**/*.test.ts', 'test/tools/**/*.test.ts'],
          globalSetup: ['test/support/build-setup.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
