// A sink that tests can kill: stores every body in a file before answering. Usage: node sink-process.mjs PORT FILE
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [port, file] = process.argv.slice(2)
createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (part) => (body += part))
  request.on('end', () => {
    appendFileSync(file, `${body}\n`)
    response.end('ok')
  })
}).listen(Number(port), '127.0.0.1', () => console.log('ready'))
