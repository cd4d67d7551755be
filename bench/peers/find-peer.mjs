// Finds Redpanda Connect, or builds it once with Go: from PEER_BIN, the PATH, or the cache of earlier builds.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const wanted = '4.105.0'
const module = 'github.com/redpanda-data/connect/v4'

const versionOf = (path) => {
  const { status, stdout = '', stderr = '' } = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 30_000 })
  if (status !== 0) return undefined
  return /\d+\.\d+\.\d+/.exec(stdout + stderr)?.[0] ?? 'of an unknown version'
}

const build = (folder, path) => {
  if (spawnSync('go', ['version']).status !== 0)
    return `Go is not installed. Install it, or download Redpanda Connect from https://github.com/redpanda-data/connect/releases and set PEER_BIN`
  console.error(
    `  building Redpanda Connect ${wanted} in ${folder}, once; this takes minutes and downloads its modules`,
  )
  mkdirSync(folder, { recursive: true })
  copyFileSync(new URL('main.go', import.meta.url), join(folder, 'main.go'))
  const steps = [
    ...(existsSync(join(folder, 'go.mod')) ? [] : [['mod', 'init', 'peer']]),
    ['get', `${module}@v${wanted}`],
    ['mod', 'tidy'],
    ['build', '-ldflags', '-s -w', '-o', path, '.'],
  ]
  for (const step of steps) {
    const { status, stderr } = spawnSync('go', step, { cwd: folder, encoding: 'utf8' })
    if (status !== 0) return `\`go ${step.join(' ')}\` failed in ${folder}: ${stderr.trim().split('\n').at(-1)}`
  }
  return undefined
}

/** Returns its path and version, or the reason for its absence. */
export const findPeer = (env = process.env) => {
  if (env.PEER_BIN) {
    const version = versionOf(env.PEER_BIN)
    return version ? { path: env.PEER_BIN, version } : { missing: `${env.PEER_BIN} (PEER_BIN) does not run` }
  }
  const installed = versionOf('redpanda-connect')
  if (installed) return { path: 'redpanda-connect', version: installed }
  const folder = join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'threatweave', `redpanda-connect-${wanted}`)
  const path = join(folder, 'redpanda-connect')
  const failure = existsSync(path) ? undefined : build(folder, path)
  return failure === undefined ? { path, version: wanted } : { missing: failure }
}
