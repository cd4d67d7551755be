// What is printed to be pasted begins as the program was started.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startedAs } from '../../../src/terminal/started-as.js'

describe('how the program was started', () => {
  it('is node and the path from here in a clone', () => {
    expect(startedAs(join(process.cwd(), 'dist/cli.js'))).toBe('node dist/cli.js')
  })

  it('is node and the whole path from elsewhere, quoted where a shell needs it', () => {
    expect(startedAs('/opt/threatweave/dist/cli.js')).toBe('node /opt/threatweave/dist/cli.js')
    expect(startedAs('/opt/my programs/dist/cli.js')).toBe("node '/opt/my programs/dist/cli.js'")
  })

  it('is its name where it is installed', () => {
    expect(startedAs('/usr/local/bin/threatweave')).toBe('threatweave')
  })
})
