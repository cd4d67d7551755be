// Tells from an Exim line who the host in brackets is: `<=` came from it, `=>` went to it; the rest is read as pairs.
import { place, type Format } from './format.js'

const peer = / (<=|=>|->|\*\*|==|rejected) .{0,400}?\bH=[^\s[]{0,255}(?: \([^()]{0,255}\))? \[([\da-fA-F.:]{3,45})\]/

export const readExim: Format = (reader, line) => {
  if (!line.whole.includes('H=')) return false
  const match = peer.exec(line.whole.length > 1200 ? line.whole.slice(0, 1200) : line.whole)
  if (match) place(reader, line, match[2], match[1] === '<=' || match[1] === 'rejected' ? 'source' : 'destination')
  return false
}
