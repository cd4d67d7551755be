// The built program, loaded once: runs the command lines that it is sent, one after the other, and sends back what each printed.
import { Readable, Writable } from 'node:stream'
import { commands } from '../../dist/commands/commands.js'
import { parseCommand } from '../../dist/commands/parse-command.js'
import { reportFailure } from '../../dist/commands/report-failure.js'

const collect = () => {
  const chunks = []
  const stream = new Writable({
    write: (chunk, _, done) => {
      chunks.push(chunk)
      done()
    },
  })
  return { stream, text: () => Buffer.concat(chunks).toString() }
}

const run = async ({ id, args, env }) => {
  const [stdout, stderr] = [collect(), collect()]
  const { signal } = new AbortController()
  const code = await parseCommand(commands, args)
    .then((command) =>
      command.run({ env, stdin: Readable.from([]), stdout: stdout.stream, stderr: stderr.stream, signal }),
    )
    .catch((error) => reportFailure(error, stderr.stream))
  process.send({ id, code, stdout: stdout.text(), stderr: stderr.text() })
}

let last = Promise.resolve()
process.on('message', (line) => {
  last = last.then(() => run(line))
})
process.once('disconnect', () => process.exit())
