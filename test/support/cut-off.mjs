// Put before a program with --import: SIGUSR2 cuts it off from the ports in the query of this file's address, as a network that fails, and the next one ends that.
import { Socket } from 'node:net'

const ports = new Set(new URL(import.meta.url).searchParams.get('ports').split(',').map(Number))
const sockets = new Set()
let isCut = false

const { connect, write } = Socket.prototype
const portOf = (args) => {
  const [first] = args.flat()
  return typeof first === 'object' && first !== null ? Number(first.port) : Number(first)
}
Socket.prototype.connect = function (...args) {
  if (!ports.has(portOf(args))) return connect.apply(this, args)
  sockets.add(this)
  this.once('close', () => sockets.delete(this))
  return connect.apply(this, args)
}
// What is written goes nowhere: nobody is told, as where packets are dropped.
Socket.prototype.write = function (...args) {
  return isCut && sockets.has(this) ? true : write.apply(this, args)
}
process.on('SIGUSR2', () => {
  isCut = !isCut
  if (!isCut) for (const socket of sockets) socket.destroy()
})
