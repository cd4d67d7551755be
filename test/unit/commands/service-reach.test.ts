// A systemd service with a user of its own starts only from folders that every user can enter.
import { describe, expect, it } from 'vitest'
import { reachProblem } from '../../../src/commands/init/service-reach.js'

const program = [{ path: '/srv/alice/.nvm/bin/node', remedy: 'install Node.js for every user' }]
const modes =
  (closed: Readonly<Record<string, number>>) =>
  (path: string): number =>
    closed[path] ?? 0o755

describe('what keeps a service from its files', () => {
  it('is nothing where every user can enter the folders and read the files', () => {
    expect(reachProblem('/srv/lists/bad.txt', program, modes({ '/srv/lists/bad.txt': 0o644 }))).toBeUndefined()
  })

  it.each([0o700, 0o750])('is the outermost folder that others cannot enter, with mode %o', (mode) => {
    const closed = modes({ '/srv/alice': mode, '/srv/alice/.nvm': 0o700 })
    expect(reachProblem(undefined, program, closed)).toBe(
      'the service runs as a separate user, which cannot enter /srv/alice: install Node.js for every user, or open it with chmod o+x /srv/alice',
    )
  })

  it('is a list that others cannot read', () => {
    expect(reachProblem('/srv/my lists/bad.txt', program, modes({ '/srv/my lists/bad.txt': 0o640 }))).toBe(
      "the service runs as a separate user, which cannot read /srv/my lists/bad.txt: chmod o+r '/srv/my lists/bad.txt'",
    )
  })

  it.each(['/tmp/bad.txt', '/var/tmp/lists/bad.txt'])('is a temporary folder, as of %s', (path) => {
    expect(reachProblem(path, program, modes({}))).toBe(
      `the service has a private temporary folder and does not see ${path}: put the list into a folder such as /etc/threatweave`,
    )
  })
})
