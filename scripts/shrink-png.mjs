// Reduces a screenshot to a palette of 256 colours, which takes a third of the bytes and looks the same.
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Takes a PNG with 8 bits per channel, with or without alpha, and treats it as opaque. */
export const shrinkPng = (png) => {
  const { width, height, pixels } = decode(png)
  const counts = new Map()
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1)
  const palette = [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, 256)
    .map(([pixel]) => pixel)
  const places = new Map(palette.map((pixel, place) => [pixel, place]))
  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const pixel = pixels[y * width + x]
      if (!places.has(pixel)) places.set(pixel, nearest(palette, pixel))
      rows[y * (width + 1) + x + 1] = places.get(pixel)
    }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 3, 0, 0, 0], 8)
  const colours = Buffer.from(palette.flatMap((pixel) => [pixel >> 16, (pixel >> 8) & 255, pixel & 255]))
  const chunks = [
    chunk('IHDR', head),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND'),
  ]
  return Buffer.concat([signature, ...chunks])
}

const chunk = (type, data = Buffer.alloc(0)) => {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}

const nearest = (palette, pixel) => {
  const distance = (other) =>
    [16, 8, 0].reduce((sum, shift) => sum + (((pixel >> shift) & 255) - ((other >> shift) & 255)) ** 2, 0)
  let best = 0
  for (let place = 1; place < palette.length; place++)
    if (distance(palette[place]) < distance(palette[best])) best = place
  return best
}

const decode = (png) => {
  const parts = []
  let head
  for (let at = signature.length; at < png.length;) {
    const length = png.readUInt32BE(at)
    const type = png.toString('latin1', at + 4, at + 8)
    const data = png.subarray(at + 8, at + 8 + length)
    if (type === 'IHDR') head = data
    if (type === 'IDAT') parts.push(data)
    at += length + 12
  }
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)]
  const channels = { 2: 3, 6: 4 }[head[9]]
  if (head[8] !== 8 || channels === undefined) throw new Error(`cannot read a PNG of colour type ${head[9]}`)
  const stride = width * channels
  const raw = inflateSync(Buffer.concat(parts))
  const bytes = Buffer.alloc(stride * height)
  for (let y = 0; y < height; y++) unfilter(raw, bytes, y, stride, channels)
  const pixels = Array.from({ length: width * height }, (_, nth) => bytes.readUIntBE(nth * channels, 3))
  return { width, height, pixels }
}

/** Each row is stored as differences from the bytes to the left and above. */
const unfilter = (raw, bytes, y, stride, channels) => {
  const filter = raw[y * (stride + 1)]
  for (let x = 0; x < stride; x++) {
    const left = x < channels ? 0 : bytes[y * stride + x - channels]
    const above = y === 0 ? 0 : bytes[(y - 1) * stride + x]
    const corner = x < channels || y === 0 ? 0 : bytes[(y - 1) * stride + x - channels]
    const guess = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter]
    bytes[y * stride + x] = raw[y * (stride + 1) + 1 + x] + guess
  }
}

const paeth = (left, above, corner) => {
  const sum = left + above - corner
  const [a, b, c] = [Math.abs(sum - left), Math.abs(sum - above), Math.abs(sum - corner)]
  return a <= b && a <= c ? left : b <= c ? above : corner
}
