// Bounds the open connections of an HTTP server: silent ones make room for new ones, and no peer has more than its share.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Ends = Pick<Socket, 'remoteAddress' | 'remotePort'>

export const capConnections = (
  server: Pick<Server, 'on'>,
  { total, perPeer = total }: { readonly total: number; readonly perPeer?: number },
): void => {
  /** By their ends: with TLS a request has another socket than its connection. */
  const sockets = new Map<string, Socket>()
  const counts = new Map<string, number>()
  /** Those without a request that is being answered; the one that waits longest is first. */
  const silent = new Map<string, string>()
  const nameOf = ({ remoteAddress = '', remotePort = 0 }: Ends): string => `${remoteAddress} ${remotePort}`

  const leave = (name: string, peer: string): void => {
    if (!sockets.delete(name)) return
    silent.delete(name)
    const left = (counts.get(peer) ?? 1) - 1
    if (left === 0) counts.delete(peer)
    else counts.set(peer, left)
  }
  /** The new one itself, where all others are at work. */
  const dropSilent = (of?: string): void => {
    for (const [name, peer] of silent) {
      if (of !== undefined && peer !== of) continue
      const socket = sockets.get(name)
      leave(name, peer)
      socket?.destroy()
      return
    }
  }

  server.on('connection', (socket: Socket) => {
    const { remoteAddress: peer } = socket
    // A socket of this machine has no ends, and who may open it is for the file system to say.
    if (peer === undefined) return
    const name = nameOf(socket)
    sockets.set(name, socket)
    counts.set(peer, (counts.get(peer) ?? 0) + 1)
    silent.set(name, peer)
    socket.once('close', () => {
      if (sockets.get(name) === socket) leave(name, peer)
    })
    if ((counts.get(peer) ?? 0) > perPeer) dropSilent(peer)
    else if (sockets.size > total) dropSilent()
  })
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const name = nameOf(socket)
    const { remoteAddress: peer } = socket
    silent.delete(name)
    response.once('close', () => {
      if (peer !== undefined && sockets.has(name)) silent.set(name, peer)
    })
  })
  server.on('connect', ({ socket }: IncomingMessage) => void silent.delete(nameOf(socket)))
}
