// Downloads jars with Maven once, into a cache folder outside the repository.
import { access, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { Io } from '../../terminal/command.js'
import { countDownloads } from './downloads.js'
import { answers, run } from './run.js'
import { showFetch } from './show-fetch.js'

export type Jars = {
  /** Shown in the progress line, for example `Kafka 4.3.1`. */
  readonly name: string
  /** `group:artifact:version`. */
  readonly artifacts: readonly string[]
  /** Approximate size of the download. */
  readonly megabytes: number
}

export type Environment = Readonly<Record<string, string | undefined>>

export const cacheFolder = (env: Environment, name: string): string =>
  join(env.XDG_CACHE_HOME ?? join(env.HOME ?? env.USERPROFILE ?? '.', '.cache'), 'threatweave', name)

/** Returns the class path of the jars in `home`, downloading them if needed, or the reason why it cannot. */
export const fetchJars = async (
  jars: Jars,
  home: string,
  stderr?: Io['stderr'],
): Promise<{ readonly classPath: string } | { readonly missing: string }> => {
  if (!(await answers('java', ['-version']))) return { missing: 'Java was not found' }
  if (await present(join(home, 'lib', 'complete'))) return { classPath: await classPathOf(home) }
  if (!(await answers('mvn', ['-version']))) return { missing: 'Maven (mvn) was not found' }
  const failure = await download(jars, home, stderr)
  return failure === undefined
    ? { classPath: await classPathOf(home) }
    : { missing: `Maven could not fetch ${jars.name}: ${failure}` }
}

const classPathOf = async (home: string): Promise<string> =>
  (await readdir(join(home, 'lib')))
    .filter((name) => name.endsWith('.jar'))
    .map((name) => join(home, 'lib', name))
    .join(delimiter)

const pomOf = ({ artifacts }: Jars): string => `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>threatweave</groupId><artifactId>jars</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
${artifacts.map(dependencyOf).join('\n')}
  </dependencies>
</project>
`

const dependencyOf = (artifact: string): string => {
  const [group = '', name = '', version = ''] = artifact.split(':')
  return `    <dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version></dependency>`
}

/** The plugins that Maven downloads on its first run. */
const mavenMegabytes = 10

/** Downloads into a temporary folder and renames it when complete, so an interrupted download is never used. */
const download = async (jars: Jars, home: string, stderr: Io['stderr'] | undefined): Promise<string | undefined> => {
  const { name, megabytes } = jars
  await mkdir(home, { recursive: true })
  const fresh = await mkdtemp(join(home, 'lib-'))
  await writeFile(join(fresh, 'pom.xml'), pomOf(jars))
  const downloads = countDownloads()
  stderr?.write(
    `Fetching ${name} with Maven, once: about ${megabytes} MB, and ${mavenMegabytes} more if Maven is new here, into ${home}\n`,
  )
  const args = ['-B', 'dependency:copy-dependencies', '-DoutputDirectory=.']
  const fetched = run('mvn', args, { cwd: fresh, heard: downloads.read })
  const result = await showFetch(
    stderr,
    `fetching ${name}`,
    fetched,
    () => `${downloads.files()} files, ${downloads.megabytes().toFixed(1)} MB, `,
  )
  if (result.code !== 0) {
    await rm(fresh, { recursive: true, force: true })
    return failureIn(result.output)
  }
  await writeFile(join(fresh, 'complete'), '')
  await moveInto(join(home, 'lib'), fresh)
  return undefined
}

/** Keeps an existing complete download, because another process may be running from it. */
const moveInto = async (lib: string, fresh: string): Promise<void> => {
  const moved = await rename(fresh, lib).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Error && 'code' in error && (error.code === 'ENOTEMPTY' || error.code === 'EEXIST'))
        return false
      throw error
    },
  )
  if (moved) return
  if (await present(join(lib, 'complete'))) return rm(fresh, { recursive: true, force: true })
  await rm(lib, { recursive: true, force: true })
  await rename(fresh, lib)
}

/** Maven's first error lines, or else the end of its output. */
const failureIn = (output: string): string => {
  const lines = output.trim().split('\n')
  const errors = lines.filter((line) => line.startsWith('[ERROR]')).map((line) => line.slice('[ERROR] '.length))
  return (errors.length > 0 ? errors.slice(0, 3) : lines.slice(-3)).join(' ') || 'mvn failed'
}

const present = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
