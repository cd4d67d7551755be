// Numbers indicators from 0 on, in a hash table over typed arrays without an object per indicator.
import { formatAddress, readAddress } from '../domain/address.js'
import type { Indicator } from '../domain/indicator.js'

export type IndicatorIndex = {
  readonly size: () => number
  readonly bytes: () => number
  /** The number of an indicator, or -1. */
  readonly find: (indicator: Indicator) => number
  /** Gives a new indicator the next number. */
  readonly add: (indicator: Indicator) => number
  readonly at: (number: number) => Indicator
}

const four = 0
const six = 1
const name = 2

/** The `seed` keeps senders of events from choosing names that collide. */
export const createIndicatorIndex = (seed: number): IndicatorIndex => {
  /** An IPv4 address, or the position of the text of any other indicator. */
  let keys = new Uint32Array(256)
  let kinds = new Uint8Array(256)
  /** 0, or a number plus one. */
  let slots = new Uint32Array(512)
  let text = new Uint8Array(0)
  let textEnd = 0
  let size = 0

  const hashText = (value: string): number => {
    let hash = seed
    for (let at = 0; at < value.length; at++) hash = Math.imul(hash ^ value.charCodeAt(at), 0x0100_0193)
    return mix(hash)
  }
  const textAt = (number: number): string => {
    const from = keys[number] ?? 0
    return Buffer.from(text.buffer, from + 1, text[from] ?? 0).toString('latin1')
  }
  const isText = (number: number, value: string): boolean => {
    const from = keys[number] ?? 0
    if (text[from] !== value.length) return false
    for (let at = 0; at < value.length; at++) if (text[from + 1 + at] !== value.charCodeAt(at)) return false
    return true
  }

  /** The slot of the indicator, or the empty slot for it. */
  const slotOf = (value: string, address: number | undefined): number => {
    const mask = slots.length - 1
    let slot = (address === undefined ? hashText(value) : mix(address ^ seed)) & mask
    for (let held = slots[slot] ?? 0; held !== 0; held = slots[slot] ?? 0) {
      const isFour = kinds[held - 1] === four
      if (address === undefined ? !isFour && isText(held - 1, value) : isFour && keys[held - 1] === address) break
      slot = (slot + 1) & mask
    }
    return slot
  }

  const grow = (): void => {
    if (size === keys.length) {
      const length = Math.ceil(size * 1.5)
      keys = larger(keys, new Uint32Array(length))
      kinds = larger(kinds, new Uint8Array(length))
    }
    if ((size + 1) * 4 <= slots.length * 3) return
    slots = new Uint32Array(slots.length * 2)
    const mask = slots.length - 1
    for (let number = 0; number < size; number++) {
      let slot = (kinds[number] === four ? mix((keys[number] ?? 0) ^ seed) : hashText(textAt(number))) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = number + 1
    }
  }

  const addText = (value: string): number => {
    const at = textEnd
    textEnd += value.length + 1
    if (textEnd > text.length) text = larger(text, new Uint8Array(Math.max(4096, Math.ceil(textEnd * 1.5))))
    text[at] = value.length
    for (let i = 0; i < value.length; i++) text[at + 1 + i] = value.charCodeAt(i)
    return at
  }

  return {
    size: () => size,
    bytes: () => keys.byteLength + kinds.byteLength + slots.byteLength + text.byteLength,
    find: ({ type, value }) => (slots[slotOf(value, addressOf(type, value))] ?? 0) - 1,
    add: ({ type, value }) => {
      grow()
      const address = addressOf(type, value)
      slots[slotOf(value, address)] = size + 1
      keys[size] = address ?? addText(value)
      kinds[size] = address === undefined ? (type === 'ip' ? six : name) : four
      return size++
    },
    at: (number) => {
      const kind = kinds[number]
      if (kind === four) return { type: 'ip', value: formatAddress(keys[number] ?? 0) }
      return { type: kind === six ? 'ip' : 'domain', value: textAt(number) }
    },
  }
}

const addressOf = (type: Indicator['type'], value: string): number | undefined => {
  const address = type === 'ip' ? readAddress(value) : undefined
  return typeof address === 'number' ? address : undefined
}

const larger = <Values extends Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer>>(
  from: Values,
  to: Values,
): Values => {
  to.set(from)
  return to
}

const mix = (hash: number): number => {
  const once = Math.imul(hash ^ (hash >>> 16), 0x45d9_f3b)
  return (once ^ (once >>> 15)) >>> 0
}
