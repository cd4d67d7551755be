// The provider of the benches, in its own process: answers after `delayMs` or never, and reports its calls.
import { createServer } from 'node:http'

const { delayMs = 0, hangs = false } = JSON.parse(process.argv[2] ?? '{}')
let calls = 0
let inFlight = 0
let mostInFlight = 0
/** From the first call to the start of the last: the concurrency of a caller that always has work. */
let began = 0
let changedAt = 0
let filled = 0
let meanInFlight = 0

const count = (change) => {
  const now = performance.now()
  if (calls === 1 && change > 0) began = changedAt = now
  filled += inFlight * (now - changedAt)
  changedAt = now
  if (change > 0 && now > began) meanInFlight = filled / (now - began)
  inFlight += change
  mostInFlight = Math.max(mostInFlight, inFlight)
}

/** One address in forty is malicious. */
const answerAbout = (ip) => {
  const isBad = Number(ip.split('.')[2]) % 40 === 0
  return {
    ip,
    is_malicious: isBad,
    can_remote_access: isBad,
    is_vpn: false,
    is_anonymous_vpn: false,
    score: { inbound: isBad ? 'Critical' : 'Safe', outbound: 'Safe' },
    status: 200,
  }
}

const server = createServer((request, response) => {
  calls++
  count(1)
  response.on('close', () => count(-1))
  if (hangs) return
  const ip = new URL(request.url, 'http://localhost').searchParams.get('ip') ?? ''
  const answer = () => response.setHeader('content-type', 'application/json').end(JSON.stringify(answerAbout(ip)))
  if (delayMs > 0) setTimeout(answer, delayMs)
  else answer()
})
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}` }))
process.on('message', () => process.send({ calls, mostInFlight, meanInFlight }))
process.on('disconnect', () => process.exit(0))
