// Where a Kafka to run comes from: a Docker engine that answers, else Java with the jars that Maven fetches into a cache.
import { spawn } from 'node:child_process'
import { access, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

export const kafkaVersion = '4.3.1'
export const dockerImage = `apache/kafka:${kafkaVersion}`

export type Distribution =
  | { readonly how: 'docker' }
  | { readonly how: 'java'; readonly classPath: string }
  | { readonly how: 'missing'; readonly missing: string }

export type Provision = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly say: (line: string) => void
  /** Only this one, for those who must run Java programs beside the broker. */
  readonly only?: 'java' | undefined
}

export const provision = async ({ env, say, only }: Provision): Promise<Distribution> => {
  if (only === undefined && (await answers('docker', ['version', '--format', '{{.Server.Version}}'])))
    return { how: 'docker' }
  const java = await answers('java', ['-version'])
  const home = cacheFolder(env)
  if (java && (await present(join(home, 'lib', 'complete')))) return { how: 'java', classPath: await classPathOf(home) }
  const maven = java && (await answers('mvn', ['-version']))
  if (!maven)
    return {
      how: 'missing',
      missing: `no Kafka can be started: Docker does not answer, ${java ? 'and Maven (mvn) was not found' : 'and Java was not found'}; set KAFKA_BROKERS to a broker, start Docker, or install Java 17 and Maven`,
    }
  const failure = await download(home, say)
  return failure === undefined
    ? { how: 'java', classPath: await classPathOf(home) }
    : { how: 'missing', missing: `no Kafka can be started: Maven could not fetch Kafka ${kafkaVersion}: ${failure}` }
}

export const cacheFolder = (env: Readonly<Record<string, string | undefined>>): string =>
  join(env.XDG_CACHE_HOME ?? join(env.HOME ?? env.USERPROFILE ?? '.', '.cache'), 'threatweave', `kafka-${kafkaVersion}`)

const classPathOf = async (home: string): Promise<string> =>
  (await readdir(join(home, 'lib')))
    .filter((name) => name.endsWith('.jar'))
    .map((name) => join(home, 'lib', name))
    .join(delimiter)

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>threatweave</groupId><artifactId>broker</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${kafkaVersion}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
`

/** Into a folder of its own that is renamed when it is whole: a download cut off is never taken for a Kafka. */
const download = async (home: string, say: (line: string) => void): Promise<string | undefined> => {
  const began = Date.now()
  const fresh = join(home, `lib-${process.pid}`)
  await mkdir(fresh, { recursive: true })
  await writeFile(join(fresh, 'pom.xml'), pom)
  const timer = setInterval(() => {
    void readdir(fresh).then(
      (names) => {
        say(
          `fetching Kafka ${kafkaVersion} with Maven, once: ${names.length - 1} of about 46 files, ${Math.round((Date.now() - began) / 1000)} s`,
        )
      },
      () => undefined,
    )
  }, 2_000)
  say(`fetching Kafka ${kafkaVersion} with Maven, once: about 45 MB into ${home}`)
  const result = await run('mvn', ['-B', '-q', 'dependency:copy-dependencies', '-DoutputDirectory=.'], fresh)
  clearInterval(timer)
  if (result.code !== 0) {
    await rm(fresh, { recursive: true, force: true })
    return result.output.trim().split('\n').slice(0, 3).join(' ') || 'mvn failed'
  }
  await writeFile(join(fresh, 'complete'), '')
  await rm(join(home, 'lib'), { recursive: true, force: true })
  await rename(fresh, join(home, 'lib'))
  return undefined
}

const present = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

const answers = async (command: string, args: readonly string[]): Promise<boolean> =>
  (await run(command, args)).code === 0

export const run = (
  command: string,
  args: readonly string[],
  cwd?: string,
): Promise<{ readonly code: number; readonly output: string }> =>
  new Promise((resolve) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const keep = (data: Buffer): void => {
      output = (output + data.toString()).slice(-8_192)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.once('error', (error) => {
      resolve({ code: -1, output: error.message })
    })
    child.once('close', (code) => {
      resolve({ code: code ?? -1, output })
    })
  })
