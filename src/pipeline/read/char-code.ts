// What kind of character a code stands for, as far as ASCII goes.

export const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39
export const isLetter = (code: number): boolean => (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)
export const isWord = (code: number): boolean => isDigit(code) || isLetter(code) || code === 0x5f
