import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 120_000,
    // Integration tests share one broker and two cores: files run one after the other within a worker, two workers at most.
    maxWorkers: 2,
    reporters: ['default'],
  },
})
