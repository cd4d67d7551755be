// Replaces control characters, which can steer a terminal, end a line, or hide and reorder text. All displayed text passes here, because events, answers and feeds are untrusted.

/** C0, DEL and C1; bidirectional, zero-width and other format characters; halves of a surrogate pair; separators of lines and paragraphs. */
const controls = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u2065]+/gu

/** `by` returns the replacement for each run of control characters. */
export const replaceControls = (text: string, by: (run: string) => string): string => text.replace(controls, by)

/** Replaces each with a question mark, which preserves positions. */
export const printable = (text: string): string => replaceControls(text, (run) => '?'.repeat(run.length))

/** Replaces each with its escape, such as `\u001b`. */
export const escapeControls = (text: string): string =>
  replaceControls(text, (run) => Array.from({ length: run.length }, (_, at) => escapeOf(run.charCodeAt(at))).join(''))

/** Escapes a line of JSON without changing its value: whitespace between tokens stays, except carriage returns, which overwrite a line. */
export const escapeJsonControls = (json: string): string =>
  replaceControls(json, (run) =>
    run.replace(/[^\t\n\r]/g, (unit) => escapeOf(unit.charCodeAt(0))).replaceAll('\r', ' '),
  )

const escapeOf = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`
