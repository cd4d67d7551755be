// A real schema registry on loopback: Apicurio with Confluent's API, from an archive that Maven fetches once.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { run } from '../../scripts/tools.mjs'
import { firstPortInUse } from '../../src/app/free-ports.js'
import { cacheFolder } from '../../src/parts/demo/fetch-jars.js'

const version = '2.6.13.Final'

/** Returns the folder with the program. Rejects without Java or Maven, because a passing run without the registry would mislead. */
const provision = async (): Promise<string> => {
  const home = cacheFolder(process.env, `apicurio-${version}`)
  if (existsSync(join(home, 'complete'))) return home
  const fresh = `${home}-${process.pid}`
  await mkdir(fresh, { recursive: true })
  process.stderr.write(`fetching Apicurio ${version} with Maven, once: about 142 MB, into ${home}\n`)
  const artifact = `io.apicurio:apicurio-registry-app:${version}:tar.gz:all`
  for (const [command, args] of [
    ['mvn', ['-B', '-q', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${fresh}`]],
    ['tar', ['xzf', `${fresh}/apicurio-registry-app-${version}-all.tar.gz`, '-C', fresh]],
  ] as const) {
    const { ok, output } = run(command, [...args])
    if (!ok) throw new Error(`Apicurio cannot be fetched: ${output.slice(-500)}`)
  }
  await rm(`${fresh}/apicurio-registry-app-${version}-all.tar.gz`)
  await writeFile(join(fresh, 'complete'), '')
  await rm(home, { recursive: true, force: true })
  await rename(fresh, home)
  return home
}

const freePort = async (): Promise<number> => {
  for (let port = 18_081; ; port++) if (!(await firstPortInUse('127.0.0.1', [port]))) return port
}

/** Returns its address, including the path of Confluent's API. */
export const startApicurio = async (): Promise<string> => {
  const home = await provision()
  const jar = (await readdir(home)).find((name) => name.endsWith('-runner.jar')) ?? ''
  const port = await freePort()
  const flags = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']
  const child = spawn(
    'java',
    [...flags, `-Dquarkus.http.port=${port}`, '-Dquarkus.http.host=127.0.0.1', '-jar', join(home, jar)],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let output = ''
  child.stdout.on('data', (part: Buffer) => (output = (output + part.toString()).slice(-4_096)))
  child.stderr.on('data', (part: Buffer) => (output = (output + part.toString()).slice(-4_096)))
  const ended = new Promise<void>((done) => child.once('exit', () => done()))
  onTestFinished(async () => {
    child.kill()
    await ended
  })
  const url = `http://127.0.0.1:${port}/apis/ccompat/v7`
  for (;;) {
    if (child.exitCode !== null) throw new Error(`Apicurio ended before it was ready: ${output}`)
    const answers = await fetch(`${url}/subjects`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (answers) return url
    await sleep(200)
  }
}
