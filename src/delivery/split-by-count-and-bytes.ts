// Parts of a list, in order, each bounded in count and bytes; an item that alone is larger is a part of its own.
export const splitByCountAndBytes = <T>(
  items: readonly T[],
  sizeOf: (item: T) => number,
  max: { readonly count: number; readonly bytes: number },
  countOf: (item: T) => number = one,
): readonly (readonly T[])[] => {
  const parts: T[][] = []
  let part: T[] = []
  let bytes = 0
  let count = 0
  for (const item of items) {
    const size = sizeOf(item)
    const weight = countOf(item)
    if (part.length > 0 && (count + weight > max.count || bytes + size > max.bytes)) {
      parts.push(part)
      part = []
      bytes = 0
      count = 0
    }
    part.push(item)
    bytes += size
    count += weight
  }
  if (part.length > 0) parts.push(part)
  return parts
}

const one = (): number => 1
