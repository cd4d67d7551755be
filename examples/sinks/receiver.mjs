// A receiver for testing a sink: prints every request body. node receiver.mjs [PORT [HOST [SECRET-FILE]]]
// With a secret it accepts only bodies signed with it in the last five minutes, as every receiver of `webhook` should.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [port = '8099', host = '127.0.0.1', secretFile] = process.argv.slice(2)
const secret = secretFile === undefined ? undefined : readFileSync(secretFile, 'utf8').trim()
const maxBytes = 1_048_576
const maxAgeSeconds = 300

const isSigned = (headers, body) => {
  const time = headers['x-threatweave-timestamp'] ?? ''
  if (!(Math.abs(Date.now() / 1000 - Number(time)) <= maxAgeSeconds)) return false
  const mac = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
  const [given, expected] = [headers['x-threatweave-signature'] ?? '', `sha256=${mac}`].map((text) => Buffer.from(text))
  return given.length === expected.length && timingSafeEqual(given, expected)
}

createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (part) => {
    body += part
    if (body.length > maxBytes) request.destroy()
  })
  request.on('end', () => {
    if (secret !== undefined && !isSigned(request.headers, body)) {
      response.writeHead(401).end('not signed with the secret')
      return
    }
    console.log(body)
    response.end('ok')
  })
}).listen(Number(port), host)
