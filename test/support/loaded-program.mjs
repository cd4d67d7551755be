// The built program, loaded once: runs the command lines it receives and sends back their output and exit codes.
import { Readable, Writable } from 'node:stream'
import { commands } from '../../dist/commands/commands.js'
import { parseCommand } from '../../dist/commands/parse-command.js'
import { reportFailure } from '../../dist/commands/report-failure.js'

const running = new Map()

const run = async ({ id, args, env }) => {
  const stop = new AbortController()
  running.set(id, stop)
  const sending = (name) =>
    new Writable({
      write: (chunk, _, done) => {
        process.send({ id, [name]: chunk })
        done()
      },
    })
  const [stdout, stderr] = [sending('stdout'), sending('stderr')]
  const code = await parseCommand(commands, args)
    .then((command) => command.run({ env, stdin: Readable.from([]), stdout, stderr, signal: stop.signal }))
    .catch((error) => reportFailure(error, stderr))
  running.delete(id)
  process.send({ id, code })
}

process.on('message', ({ stop, ...line }) => {
  if (stop === undefined) void run(line)
  else running.get(line.id)?.abort(stop)
})
process.once('disconnect', () => process.exit())
