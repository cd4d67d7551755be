// Clips text to a number of bytes, with an ellipsis.

/** Size of the text as ASCII JSON. */
const sizeOf = (text: string): number => {
  let size = text.length + 2
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || code > 0x7e) size += 5
    else if (code === 0x22 || code === 0x5c) size++
  }
  return size
}

/** The text if its JSON fits, else its beginning and an ellipsis. */
export const clip = (text: string, bytes: number): string => {
  // One character is at most six bytes of JSON.
  if (text.length * 6 + 2 <= bytes) return text
  if (text.length <= bytes && sizeOf(text) <= bytes) return text
  let end = Math.min(text.length, bytes)
  let clipped: string
  do {
    end = Math.floor(end * 0.9)
    // Never splits a surrogate pair.
    if ((text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end--
    clipped = `${text.slice(0, end)}…`
  } while (sizeOf(clipped) > bytes)
  return clipped
}
