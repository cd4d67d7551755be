// Finds a way to run Kafka: Docker, else Java with jars that Maven downloads.
import type { Io } from '../../terminal/command.js'
import { cacheFolder, fetchJars, type Environment, type Jars } from './fetch-jars.js'
import { answers, run } from './run.js'
import { showFetch } from './show-fetch.js'

/** KAFKA_VERSION selects another release, for example the oldest supported one. */
const versionOf = ({ KAFKA_VERSION: given = '' }: Environment): string => (given === '' ? '4.3.1' : given)

export type Distribution =
  | { readonly how: 'docker'; readonly image: string }
  | { readonly how: 'java'; readonly classPath: string }
  | { readonly how: 'missing'; readonly missing: string }

export type Provision = {
  readonly env: Environment
  /** Shows download progress; omit it for silence. */
  readonly stderr?: Io['stderr'] | undefined
  /** Restricts the search to this kind, for callers that run Java programs next to the broker. */
  readonly only?: 'java' | undefined
}

const jarsOf = (version: string): Jars => ({
  name: `Kafka ${version}`,
  artifacts: [`org.apache.kafka:kafka_2.13:${version}`, 'org.slf4j:slf4j-simple:1.7.36'],
  megabytes: 45,
})

export const provision = async ({ env, stderr, only }: Provision): Promise<Distribution> => {
  const version = versionOf(env)
  if (only === undefined && (await answers('docker', ['version', '--format', '{{.Server.Version}}'])))
    return image(`apache/kafka:${version}`, stderr)
  const fetched = await fetchJars(jarsOf(version), cacheFolder(env, `kafka-${version}`), stderr)
  if ('classPath' in fetched) return { how: 'java', classPath: fetched.classPath }
  return {
    how: 'missing',
    missing: `no Kafka can be started: Docker does not answer, and ${fetched.missing}; set KAFKA_BROKERS to a broker, start Docker, or install Java 17 and Maven`,
  }
}

/** Pulls the image if it is missing; `docker run` would pull it without showing progress. */
const image = async (name: string, stderr: Provision['stderr']): Promise<Distribution> => {
  if (await answers('docker', ['image', 'inspect', name])) return { how: 'docker', image: name }
  const pulled = await showFetch(stderr, `fetching ${name} with Docker, once`, run('docker', ['pull', '--quiet', name]))
  return pulled.code === 0
    ? { how: 'docker', image: name }
    : { how: 'missing', missing: `Docker could not fetch ${name}: ${pulled.output.trim().split('\n').at(-1) ?? ''}` }
}
