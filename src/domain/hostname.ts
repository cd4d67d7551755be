// Host names in their normal form.

/** A domain name that others may stand below; a single label counts. */
export const isSuffix = (text: string): boolean =>
  /^(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/i.test(text.replace(/^\./, ''))
