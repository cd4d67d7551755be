// Characters that act instead of being seen: they steer a terminal, end a line, or hide and reorder text. Events, answers and feeds are hostile, so all that is shown passes here.

/** C0, DEL and C1; bidirectional, zero-width and other format characters; halves of a surrogate pair; separators of lines and paragraphs. */
const controls = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u2065]+/gu

/** `by` gets each run of them and says what is shown instead. */
export const replaceControls = (text: string, by: (run: string) => string): string => text.replace(controls, by)

/** A question mark for each, so that positions in the text stay. */
export const printable = (text: string): string => replaceControls(text, (run) => '?'.repeat(run.length))

/** As escapes that show which they are, `\u001b`. */
export const escapeControls = (text: string): string =>
  replaceControls(text, (run) => Array.from({ length: run.length }, (_, at) => escapeOf(run.charCodeAt(at))).join(''))

/** The same for lines of JSON, which keep their value: what may be between its tokens stays, but for the carriage return, which overwrites a line. */
export const escapeJsonControls = (json: string): string =>
  replaceControls(json, (run) =>
    run.replace(/[^\t\n\r]/g, (unit) => escapeOf(unit.charCodeAt(0))).replaceAll('\r', ' '),
  )

const escapeOf = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`
