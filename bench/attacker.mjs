// Attacks the gateway with one key, in its own process so that its CPU time is not counted as the gateway's.
import { connect } from 'node:net'

const { kind, port, apiKey, connections, settings } = JSON.parse(process.argv[2] ?? '{}')
const top = { role: 'destination', action: 'allowed', urgency: 'live' }
const addressOf = (n) => `45.${1 + ((n >> 16) & 127)}.${(n >> 8) & 255}.${n & 255}`
let asked = 0
const question = () => {
  const id = asked++
  return `${JSON.stringify({ id, type: 'ip', value: addressOf(id), ...top })}\n`
}
const many = (count, line) => Array.from({ length: count }, line).join('')

const open = () =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `CONNECT bulk:1 HTTP/1.1\r\nhost: bulk\r\nx-api-key: ${apiKey}\r\nx-threatweave-bulk: ${settings}\r\n\r\n`,
    )
    socket.once('data', (bytes) => {
      if (!String(bytes).startsWith('HTTP/1.1 200')) throw new Error(String(bytes))
      resolve(socket)
    })
  })
/** Writes as fast as the gateway reads. */
const pour = (socket, chunk) => {
  const write = () => {
    while (socket.write(chunk()));
  }
  socket.on('drain', write)
  write()
}

const attacks = {
  again: (socket) => {
    const first = asked
    socket.write(many(100, question))
    pour(socket, () => many(4_000, (_, n) => `${JSON.stringify({ id: first + (n % 100), again: 1_024, ...top })}\n`))
  },
  questions: (socket) => pour(socket, () => many(1_000, question)),
  open: (socket) => {
    socket.write(many(Math.ceil(3_000 / connections), question))
    // Sends a new question for every answer.
    socket.on('data', (bytes) => socket.write(many(String(bytes).split('"finding"').length - 1, question)))
  },
}
for (let nth = 0; nth < connections; nth++) {
  const socket = await open()
  socket.resume()
  socket.on('error', () => undefined)
  attacks[kind](socket)
}
process.send('attacking')
