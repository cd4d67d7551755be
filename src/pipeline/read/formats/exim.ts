// Tells from an Exim line who the host in brackets is: `<=` came from it, `=>` went to it; the rest is read as pairs.
import { place, type Format } from './format.js'

const peer = /\bH=[^\s[]{0,255}(?: \([^()]{0,255}\))? \[([\da-fA-F.:]{3,45})\]/
const way = / (<=|=>|->|\*\*|==|rejected) /

/** Two searches, one after the other: as one expression, every arrow would look at every host behind it. */
export const readExim: Format = (reader, line) => {
  if (!line.whole.includes('H=')) return false
  const text = line.whole.slice(0, 1200)
  const host = peer.exec(text)
  const arrow = host && way.exec(text.slice(Math.max(0, host.index - 410), host.index))?.[1]
  if (host && arrow) place(reader, line, host[1], arrow === '<=' || arrow === 'rejected' ? 'source' : 'destination')
  return false
}
