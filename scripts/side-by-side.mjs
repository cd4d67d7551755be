// Runs commands in parallel; shows the last one live and the others at their end; fails if any fails.
import { spawn } from 'node:child_process'

const commands = process.argv.slice(2)
const began = Date.now()

const run = (command, isLast) =>
  new Promise((done) => {
    const child = spawn(command, {
      shell: true,
      stdio: ['ignore', isLast ? 'inherit' : 'pipe', isLast ? 'inherit' : 'pipe'],
    })
    const said = []
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => said.push(data))
    child.once('close', (code) => {
      const seconds = Math.round((Date.now() - began) / 1000)
      process.stderr.write(`${Buffer.concat(said)}${command}: ${code === 0 ? 'passed' : 'FAILED'} after ${seconds} s\n`)
      done(code === 0)
    })
  })

const passed = await Promise.all(commands.map((command, place) => run(command, place === commands.length - 1)))
process.exitCode = passed.every(Boolean) ? 0 : 1
