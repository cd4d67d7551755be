// The demo without a broker, and the recording in docs/images; runs with a broker are compared in test/integration/demo.test.ts and test/tools/package.test.ts.
import { expect, it } from 'vitest'
import { recordedLines } from '../../scripts/record-demo.mjs'
import { runCli } from '../support/cli.js'
import { missingFrom, recording } from '../support/recording.js'

it('shows the first alert without a broker, as it is recorded', async () => {
  const { stdout, code } = await runCli(['demo', '--no-kafka'])
  expect(code).toBe(0)
  expect(missingFrom(stdout, '2  ')).toEqual([
    expect.stringMatching(/^Kafka at /),
    expect.stringMatching(/^1 {2}An alert, .+ after the broker was up$/),
  ])
  expect(stdout).toMatch(/^1 {2}An alert, one of \d+$/m)
  expect(stdout).not.toMatch(/pending|deadline/)
})

it('is recorded with an alert, a late one with its correction, and one about the past, each within a minute', () => {
  const lines = recordedLines(recording)
  const seconds = lines
    .flatMap((line) => /^\d .*?([\d.]+) s after the broker was up$/.exec(line)?.[1] ?? [])
    .map(Number)
  expect(seconds).toHaveLength(3)
  expect(Math.max(...seconds)).toBeLessThan(60)
  expect(lines.filter((line) => / UTC {2}HIGH {2}/.test(line))).toHaveLength(3)
  expect(lines.some((line) => /^ {2}\+[\d.]+ s {2}correction .*malicious$/.test(line))).toBe(true)
})

it('is recorded in a small image that stands still for those who want that', () => {
  expect(Buffer.byteLength(recording)).toBeLessThan(200_000)
  expect(recording).toContain('@media (prefers-reduced-motion:reduce)')
  // Nothing of the machine that recorded it, and nothing that an image may not load.
  expect(recording).not.toMatch(/\/(?:home|root|Users|work|tmp)\/|<script|href=/)
})
