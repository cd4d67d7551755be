// A stand-in chat server for the demo: accepts webhook messages and stores them with their arrival times.
import type { AddressInfo } from 'node:net'
import { parseObject } from '../../base/json-object.js'
import { http } from '../../base/node-http.js'

type Chat = {
  readonly url: string
  readonly messages: readonly { readonly at: number; readonly text: string }[]
  readonly close: () => Promise<void>
}

const maxBytes = 65_536

export const openChat = async (): Promise<Chat> => {
  const messages: { readonly at: number; readonly text: string }[] = []
  const server = http.createServer((request, response) => {
    const parts: Buffer[] = []
    let size = 0
    request.on('data', (part: Buffer) => {
      if ((size += part.length) > maxBytes) request.destroy()
      else parts.push(part)
    })
    request.on('end', () => {
      const text = parseObject(Buffer.concat(parts))?.text
      if (typeof text === 'string') messages.push({ at: Date.now(), text })
      response.end('ok')
    })
  })
  await new Promise<void>((ready, fail) => {
    server.once('error', fail)
    server.listen(0, '127.0.0.1', ready)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    messages,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}
