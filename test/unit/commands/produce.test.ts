// What `produce` refuses before it writes anything.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../../support/cli.js'
import { runCommand } from '../../support/run-command.js'

const log = join(root, 'examples/logs/firewall.log')
/** Nobody listens there. */
const env = { THREATWEAVE_KAFKA_BROKERS: 'localhost:1' }

describe('produce', () => {
  it.each([
    [[log], 'produce takes a file and a topic: threatweave produce firewall.log firewall'],
    [[log, 'a', 'b'], 'produce takes a file and a topic: threatweave produce firewall.log firewall'],
    [[log, 'fire wall'], '"fire wall" is not a valid topic name'],
    [[log, '..'], '".." is not a valid topic name'],
    [
      ['nosuch.log', 'firewall'],
      "cannot read the input nosuch.log: ENOENT: no such file or directory, access 'nosuch.log'",
    ],
    [['--rate', '0', log, 'firewall'], '--rate takes a whole number from 1 on, not "0"'],
    [['--create-topic', 'x', log, 'firewall'], '--create-topic takes a whole number from 1 on, not "x"'],
  ])('refuses %j as a mistake on the command line', async (args, sentence) => {
    expect(await runCommand(['produce', ...args], { env })).toEqual({
      code: 64,
      stdout: '',
      stderr: `threatweave: ${sentence}\n`,
    })
  })

  it('refuses a configuration without brokers, and asks for no topics of `run`', async () => {
    const ran = await runCommand(['produce', log, 'firewall'])
    expect(ran).toMatchObject({ code: 78, stdout: '' })
    expect(ran.stderr).toBe(
      'threatweave: a problem in the configuration:\n  kafka.brokers must name at least one broker, as host:port\n',
    )
  })

  it('fails with a sentence when no broker answers', async () => {
    const ran = await runCommand(['produce', log, 'firewall'], { env })
    expect(ran).toMatchObject({ code: 1, stdout: '' })
    expect(ran.stderr).toMatch(/^threatweave: Kafka cannot be used: .*\n$/)
  })
})
