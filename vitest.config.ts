import { defineConfig } from 'vitest/config'

/** All time limits are for machines with other work to do: they end what hangs, and no verdict is about them. */
const limits = { testTimeout: 120_000, hookTimeout: 300_000 }

export default defineConfig({
  test: {
    reporters: ['default'],
    projects: [
      // In this process alone: no other program, no broker, no browser.
      {
        test: {
          ...limits,
          name: 'unit',
          include: ['test/unit/**/*.test.ts', 'test/contract/**/*.test.ts', 'test/architecture.test.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      // Tools that are fetched once: helm, hadolint, promtool, sigma-cli, Chromium, OpenSearch.
      {
        test: {
          ...limits,
          name: 'tools',
          include: ['test/tools/**/*.test.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      // The built program as a process, without a broker.
      {
        test: {
          ...limits,
          name: 'program',
          include: ['test/program/**/*.test.ts'],
          globalSetup: ['test/support/build-setup.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      // On a real broker, one for all files, started only when one of them is run.
      {
        test: {
          ...limits,
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/support/build-setup.ts', 'test/support/broker-setup.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
