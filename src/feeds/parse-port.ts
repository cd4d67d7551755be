// Parses a port from 1 to 65535 written in plain digits.
export const parsePort = (text = ''): number | undefined =>
  /^[1-9]\d{0,4}$/.test(text) && Number(text) < 65_536 ? Number(text) : undefined
