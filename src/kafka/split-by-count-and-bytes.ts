// Parts of a list, in order, each bounded in count and bytes; an item that alone is larger is a part of its own.
export const splitByCountAndBytes = <T>(
  items: readonly T[],
  sizeOf: (item: T) => number,
  max: { readonly count: number; readonly bytes: number },
): readonly (readonly T[])[] => {
  const parts: T[][] = []
  let part: T[] = []
  let bytes = 0
  for (const item of items) {
    const size = sizeOf(item)
    if (part.length > 0 && (part.length >= max.count || bytes + size > max.bytes)) {
      parts.push(part)
      part = []
      bytes = 0
    }
    part.push(item)
    bytes += size
  }
  if (part.length > 0) parts.push(part)
  return parts
}
