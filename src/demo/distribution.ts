// Finds a Kafka to run: Docker, else Java with jars fetched by Maven.
import { cacheFolder, fetchJars, type Environment, type Jars } from './fetch-jars.js'
import { answers } from './run.js'

const kafkaVersion = '4.3.1'
export const dockerImage = `apache/kafka:${kafkaVersion}`

export type Distribution =
  | { readonly how: 'docker' }
  | { readonly how: 'java'; readonly classPath: string }
  | { readonly how: 'missing'; readonly missing: string }

export type Provision = {
  readonly env: Environment
  readonly say: (line: string) => void
  /** Only this one, for those who must run Java programs next to the broker. */
  readonly only?: 'java' | undefined
}

const jars: Jars = {
  name: `Kafka ${kafkaVersion}`,
  artifacts: [`org.apache.kafka:kafka_2.13:${kafkaVersion}`, 'org.slf4j:slf4j-simple:1.7.36'],
  megabytes: 45,
}

export const provision = async ({ env, say, only }: Provision): Promise<Distribution> => {
  if (only === undefined && (await answers('docker', ['version', '--format', '{{.Server.Version}}'])))
    return { how: 'docker' }
  const fetched = await fetchJars(jars, cacheFolder(env, `kafka-${kafkaVersion}`), say)
  if ('classPath' in fetched) return { how: 'java', classPath: fetched.classPath }
  return {
    how: 'missing',
    missing: `no Kafka can be started: Docker does not answer, and ${fetched.missing}; set KAFKA_BROKERS to a broker, start Docker, or install Java 17 and Maven`,
  }
}
