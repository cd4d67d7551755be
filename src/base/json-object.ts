// JSON objects out of anything: what is none is undefined.

export type AnyObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is AnyObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const parseObject = (bytes: Buffer): AnyObject | undefined => {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8', bytes[0] === 0xef ? 3 : 0))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
