// Promise: the demo shows an alert, a late verdict and a retro alert as the recording in the README does, and leaves no topic behind.
import { expect, inject, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { client } from '../support/kafka.js'
import { missingFrom } from '../support/recording.js'

it('the demo prints what is recorded, and leaves no topic behind on brokers that are not its own', async () => {
  const { stdout, code } = await runCli(['demo'], { env: { KAFKA_BROKERS: inject('broker').plain } })
  expect(missingFrom(stdout)).toEqual([])
  expect(code).toBe(0)
  // An event that left before its answer is shown with what followed.
  expect(stdout).toMatch(/is unknown: (?:deadline|pending).*\n.* late alert .*\n.* correction .* malicious\n/)
  const admin = client().admin()
  await admin.connect()
  await expect
    .poll(async () => (await admin.listTopics()).filter((topic) => topic.startsWith('threatweave-demo-')))
    .toEqual([])
  await admin.disconnect()
})
