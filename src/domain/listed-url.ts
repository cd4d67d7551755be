// Extracts the host of a listed URL, because events show and lookups use the host.

/** Of `https://bad.example.com:8080/x` and `bad.example.com/x`: `bad.example.com`. */
const hostOfUrl = (url: string): string => {
  const scheme = url.indexOf('://')
  const from = scheme < 0 ? 0 : scheme + 3
  const length = url.slice(from).search(/[:/?]/)
  return length < 0 ? url.slice(from) : url.slice(from, from + length)
}

/** The address or name of an indicator in an annotation or alert. */
export const hostOf = (type: unknown, value: string): string => (type === 'url' ? hostOfUrl(value) : value)
