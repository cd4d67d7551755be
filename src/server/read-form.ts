// Reads forms of requests, URL-encoded or multipart.
import type { FastifyRequest } from 'fastify'

const maxFields = 32

type Fields = Iterable<readonly [name: string, value: unknown]>

/** A repeated field becomes a list, which no parameter accepts. */
const formOf = (fields: Fields): Readonly<Record<string, unknown>> => {
  const form = new Map<string, unknown>()
  for (const [name, value] of fields) {
    if (form.size >= maxFields) break
    form.set(name, form.has(name) ? [form.get(name), value] : value)
  }
  return Object.fromEntries(form)
}

type Form = Promise<ReturnType<typeof formOf>>

export const readForm = (_: FastifyRequest, body: string): Form => Promise.resolve(formOf(new URLSearchParams(body)))

/** Uses the parser of Node; keeps text fields and ignores files. */
export const readMultipart = async ({ headers }: FastifyRequest, body: Buffer): Form => {
  try {
    const response = new Response(body, { headers: { 'content-type': headers['content-type'] ?? '' } })
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- discouraged for servers because it holds the whole body, which `maxBodyBytes` bounds here
    const form = await response.formData()
    return formOf([...form].filter(([, value]) => typeof value === 'string'))
  } catch (error) {
    throw Object.assign(new Error('the form cannot be read', { cause: error }), { statusCode: 400 })
  }
}
