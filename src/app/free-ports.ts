// Checks that ports are free before slow steps such as loading feeds.
import { createServer } from 'node:net'

type PortProblem = { readonly port: number; readonly error: NodeJS.ErrnoException }

/** Returns the first port that cannot be used. Port 0 always can. */
export const firstPortInUse = async (host: string, ports: readonly number[]): Promise<PortProblem | undefined> => {
  for (const port of ports.filter((one) => one !== 0)) {
    const error = await tryPort(host, port)
    if (error) return { port, error }
  }
  return undefined
}

const tryPort = (host: string, port: number): Promise<NodeJS.ErrnoException | undefined> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', resolve)
    server.listen({ host, port, exclusive: true }, () => void server.close(() => resolve(undefined)))
  })
