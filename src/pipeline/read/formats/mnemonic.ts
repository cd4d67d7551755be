// Tells from the name of a Huawei or H3C message (`%%01POLICY/6/POLICYDENY`) what was done; the rest is read as pairs or text.
import type { Format } from './format.js'

const mnemonic = /%%\d{2}\w{1,32}\/\d\/(?:\w{0,64}?_)?(?:POLICY)?(PERMIT|DENY|DROP|BLOCK|ALLOW|PASS)(?:_|\b)/

export const readMnemonic: Format = (reader, line) => {
  if (!line.whole.includes('%%')) return false
  const verb = mnemonic.exec(line.whole.length > 400 ? line.whole.slice(0, 400) : line.whole)?.[1]
  if (verb !== undefined) reader.action.see(3, 'mnemonic', verb)
  return false
}
