// A relay in front of a local server that can delay answers, to demonstrate a slow lookup service.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type SlowLink = {
  readonly url: string
  /** Delays all following answers by this time. */
  readonly delay: (ms: number) => void
  readonly close: () => Promise<void>
}

export const openSlowLink = async (server: string): Promise<SlowLink> => {
  const { hostname, port } = new URL(server)
  let delayMs = 0
  const sockets = new Set<Socket>()
  const relay = createServer((near) => {
    const far = connect(Number(port), hostname)
    let sent: Promise<unknown> = Promise.resolve()
    near.pipe(far)
    far.on('data', (data: Buffer) => {
      const due = Date.now() + delayMs
      sent = sent
        .then(() => sleep(Math.max(0, due - Date.now()), undefined, { ref: false }))
        .then(() => near.write(data))
    })
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.once('close', () => sockets.delete(socket))
    }
    near.once('close', () => far.destroy())
    far.once('close', () => void sent.then(() => near.destroy()))
  })
  await new Promise<void>((ready, fail) => {
    relay.once('error', fail)
    relay.listen(0, '127.0.0.1', ready)
  })
  return {
    url: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    delay: (ms) => void (delayMs = ms),
    close: () =>
      new Promise((closed) => {
        relay.close(() => closed())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
