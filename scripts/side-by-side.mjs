// Runs commands in parallel: shows the last one live, the output of the others when they pass, and failures at the end.
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
      const output = Buffer.concat(said).toString()
      const result = `${command}: ${code === 0 ? 'passed' : 'FAILED'} after ${seconds} s\n`
      process.stderr.write(code === 0 ? output + result : result)
      done(code === 0 ? '' : output + result)
    })
  })

const failures = await Promise.all(commands.map((command, place) => run(command, place === commands.length - 1)))
process.stderr.write(failures.join(''))
process.exitCode = failures.every((failure) => failure === '') ? 0 : 1
