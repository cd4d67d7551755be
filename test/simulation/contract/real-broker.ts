// A real broker as the target of the contract suite, with sockets and real time.
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { frames } from '../wire.js'
import type { Connection, Target } from './client.js'

export const realBroker = (address: string, restart: () => Promise<void>): Target => {
  const id = randomUUID().slice(0, 8)
  return {
    connect: () => connectTo(address),
    wait: (ms) => sleep(ms),
    now: () => Date.now(),
    restart,
    crash: () => Promise.reject(new Error('it is the only one')),
    unique: (name) => `${name}-${id}`,
  }
}

const connectTo = async (address: string): Promise<Connection> => {
  const [host = '', port = ''] = address.split(':')
  const socket = connect(Number(port), host)
  const waiting: { readonly resolve: (message: Buffer) => void; readonly reject: (error: Error) => void }[] = []
  const complete = frames()
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  const fail = (error: Error): void => {
    for (const { reject } of waiting.splice(0)) reject(error)
  }
  socket.on('data', (piece) => {
    for (const message of complete(piece)) waiting.shift()?.resolve(message)
  })
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the broker closed the connection')))
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        socket.write(request)
      }),
    close: () => socket.destroy(),
  }
}
