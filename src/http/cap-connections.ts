// Bounds the open connections of an HTTP server: silent ones make room for new ones, and no peer has more than its share.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export const capConnections = (
  server: Pick<Server, 'on'>,
  { total, perPeer }: { readonly total: number; readonly perPeer: number },
): void => {
  const peers = new Map<Socket, string>()
  const counts = new Map<string, number>()
  /** Those without a request that is being answered; the one that waits longest is first. */
  const silent = new Set<Socket>()

  const leave = (socket: Socket): void => {
    const peer = peers.get(socket)
    if (peer === undefined) return
    peers.delete(socket)
    silent.delete(socket)
    const left = (counts.get(peer) ?? 1) - 1
    if (left === 0) counts.delete(peer)
    else counts.set(peer, left)
  }
  /** The new one itself, where all others are at work. */
  const dropSilent = (of?: string): void => {
    for (const socket of silent) {
      if (of !== undefined && peers.get(socket) !== of) continue
      leave(socket)
      socket.destroy()
      return
    }
  }

  server.on('connection', (socket: Socket) => {
    const peer = socket.remoteAddress ?? ''
    peers.set(socket, peer)
    counts.set(peer, (counts.get(peer) ?? 0) + 1)
    silent.add(socket)
    socket.once('close', () => leave(socket))
    if ((counts.get(peer) ?? 0) > perPeer) dropSilent(peer)
    else if (peers.size > total) dropSilent()
  })
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    silent.delete(socket)
    response.once('close', () => {
      if (peers.has(socket)) silent.add(socket)
    })
  })
}
