// Multipart forms as clients write them, and those that nobody should send.
import type { FastifyRequest } from 'fastify'
import { describe, expect, it } from 'vitest'
import { readMultipart } from '../../../src/server/read-form.js'

const field = (name: string, value: string, more = ''): string =>
  `Content-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`
const bodyOf = (parts: readonly string[], boundary = 'xyz'): string =>
  `${parts.map((part) => `--${boundary}\r\n${part}`).join('')}--${boundary}--\r\n`
const read = (body: string | Buffer, type = 'multipart/form-data; boundary=xyz'): Promise<unknown> =>
  readMultipart({ headers: { 'content-type': type } } as FastifyRequest, Buffer.from(body))

describe('a multipart form', () => {
  it.each<[string, string, string, unknown]>([
    ['one field', bodyOf([field('query', 'example.com')]), 'xyz', { query: 'example.com' }],
    ['two fields', bodyOf([field('query', 'a'), field('page', '2')]), 'xyz', { query: 'a', page: '2' }],
    ['a boundary in quotes', bodyOf([field('query', 'a')], 'x y'), '"x y"', { query: 'a' }],
    ['letters beyond ASCII', bodyOf([field('query', 'grüße.example')]), 'xyz', { query: 'grüße.example' }],
    ['a file beside a field', bodyOf([field('f', 'x', '; filename="a"'), field('query', 'a')]), 'xyz', { query: 'a' }],
    ['a field that is given twice', bodyOf([field('query', 'a'), field('query', 'b')]), 'xyz', { query: ['a', 'b'] }],
    ['the name of a prototype', bodyOf([field('__proto__', 'a')]), 'xyz', Object.fromEntries([['__proto__', 'a']])],
  ])('with %s is read', async (_, body, boundary, form) => {
    expect(await read(body, `multipart/form-data; boundary=${boundary}`)).toEqual(form)
  })

  it('of a client that Node has is read', async () => {
    const form = new FormData()
    form.set('query', 'https://example.com/?a=b&c=d')
    const sent = new Response(form)
    const body = Buffer.from(await sent.arrayBuffer())
    expect(await read(body, sent.headers.get('content-type') ?? '')).toEqual({ query: 'https://example.com/?a=b&c=d' })
  })

  it('keeps at most 32 fields', async () => {
    const many = Array.from({ length: 700 }, (_, place) => field(`f${place}`, 'x'))
    expect(Object.keys((await read(bodyOf(many))) as object)).toHaveLength(32)
  })

  it.each([
    ['no boundary', bodyOf([field('query', 'a')]), 'multipart/form-data'],
    ['another boundary', bodyOf([field('query', 'a')]), 'multipart/form-data; boundary=other'],
    ['no end', `--xyz\r\n${field('query', 'a')}`, 'multipart/form-data; boundary=xyz'],
    ['nothing in it', '', 'multipart/form-data; boundary=xyz'],
    ['bytes that are no form', 'x'.repeat(60_000), 'multipart/form-data; boundary=xyz'],
  ])('with %s is refused with 400', async (_, body, type) => {
    await expect(read(body, type)).rejects.toMatchObject({ statusCode: 400 })
  })
})
