// Forms as clients send them: URL-encoded as a rule, multipart by some.
import type { FastifyRequest } from 'fastify'

type Done = (error: Error | null, form?: unknown) => void

const maxFields = 32

/** A field that is given twice becomes a list, which no parameter takes. */
const formOf = (fields: Iterable<readonly [string, string]>): Record<string, unknown> => {
  const form = new Map<string, unknown>()
  for (const [name, value] of fields) {
    if (form.size >= maxFields) break
    form.set(name, form.has(name) ? [form.get(name), value] : value)
  }
  return Object.fromEntries(form)
}

export const readForm = (_: FastifyRequest, body: string | Buffer, done: Done): void =>
  done(null, formOf(new URLSearchParams(body.toString())))

/** Text fields only; whoever sends a file has mistaken us for somebody else. */
export const readMultipart = (request: FastifyRequest, body: string | Buffer, done: Done): void => {
  const boundary = /;\s{0,8}boundary="?([^\s";]{1,70})/i.exec(request.headers['content-type'] ?? '')?.[1]
  if (boundary === undefined) {
    done(Object.assign(new Error('the form names no boundary'), { statusCode: 400 }))
    return
  }
  const parts = body.toString().split(`--${boundary}`).slice(1, -1)
  done(null, formOf(parts.map(fieldOf).filter((field) => field !== undefined)))
}

const fieldOf = (part: string): readonly [string, string] | undefined => {
  const end = part.indexOf('\r\n\r\n')
  const head = part.slice(0, Math.max(end, 0))
  const name = /;\s{0,8}name="([^"\r\n]{1,64})"/i.exec(head)?.[1]
  if (name === undefined || /;\s{0,8}filename=/i.test(head)) return undefined
  return [name, part.slice(end + 4).replace(/\r\n$/, '')]
}
