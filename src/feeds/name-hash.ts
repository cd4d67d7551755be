// The hash that the tables of names and of URLs share, taken in one character at a time.

export const step = (hash: number, code: number): number => Math.imul(hash ^ code, 0x01000193) ^ (hash >>> 15)

export const finish = (hash: number): number => {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return (twice ^ (twice >>> 16)) >>> 0
}
