// Starts the broker shared by all integration tests.
import type { TestProject } from 'vitest/node'
import { startBroker } from '../../src/parts/demo/broker.js'

export default async (project: TestProject): Promise<() => Promise<void>> => {
  const broker = await startBroker({
    env: process.env,
    secure: true,
    stderr: process.stderr,
  })
  // Fails instead of skipping: a passing run without these tests would mislead.
  if ('missing' in broker) throw new Error(broker.missing)
  const { how, plain, secure, classPath } = broker
  project.provide('broker', {
    how,
    plain,
    ...(secure ? { secure } : {}),
    ...(classPath === undefined ? {} : { classPath }),
  })
  return broker.stop
}
