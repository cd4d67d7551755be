// Settings of the schema registry that are refused before anything starts.
import { describe, expect, it } from 'vitest'
import { loadAny } from '../../../../src/app/load-config.js'
import type { Config } from '../../../../src/config/schema.js'
import { registryProblems } from '../../../../src/parts/binary-topics/settings.js'

const settings = (text: string): Config => {
  const loaded = loadAny({ file: { name: 'c.yaml', text }, env: {}, readFile: () => '' })
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  return loaded.config
}
const fine = 'brokers: [localhost:9092], output: { topic: out }, deadLetterTopic: dead'

describe('settings of the registry', () => {
  it.each([
    'input: { topics: [in], format: { in: registry } }, registry: { url: http://127.0.0.1:8081 }',
    'input: { topics: [in], format: otlp_proto }, registry: { url: http://r.example, allowHttp: true }',
  ])('are accepted with %s', (more) => {
    expect(registryProblems(settings(`kafka: { ${fine}, ${more} }`))).toEqual([])
  })

  it.each([
    ['reads by schemas without a registry', 'input: { topics: [in], format: registry }', 'kafka.registry.url'],
    [
      'asks a registry in the clear',
      'input: { topics: [in] }, registry: { url: http://r.example }',
      'kafka.registry.url',
    ],
    [
      'asks a registry in the clear whose name looks like this machine',
      'input: { topics: [in] }, registry: { url: http://127.r.example }',
      'kafka.registry.url',
    ],
    [
      'has a password in an address',
      'input: { topics: [in] }, registry: { url: https://a:b@r.example }',
      'kafka.registry.url',
    ],
    [
      'has a name without a password',
      'input: { topics: [in] }, registry: { url: https://r.example, username: u }',
      'kafka.registry.password',
    ],
    [
      'has two logins',
      'input: { topics: [in] }, registry: { url: https://r.example, username: u, password: p, token: t }',
      'kafka.registry.token',
    ],
    [
      'has half a certificate',
      'input: { topics: [in] }, registry: { url: https://r.example, keyFile: k }',
      'kafka.registry.keyFile',
    ],
  ])('are refused when a service %s', (_what, more, setting) => {
    const found = registryProblems(settings(`kafka: { ${fine}, ${more} }`)).map((problem) => problem.setting)
    // Half a certificate is refused as a setting and as a file that is not there.
    expect([...new Set(found)].slice(0, 1)).toEqual([setting])
  })
})
