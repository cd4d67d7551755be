// Keeps a large heap near what it uses: bounded caches should not become several times their size in resident memory.
import { constants, PerformanceObserver } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'

/** Below, V8 knows best: collecting a small heap more often would only cost processor time. */
const largeBytes = 67_108_864
/** By default V8 lets the heap grow to four times of what was left by the last collection, and empties a page only where little is left on it. */
const large = ['--heap-growing-percent=30', '--optimize-for-size']
const usual = ['--heap-growing-percent=0', '--no-optimize-for-size']

/** V8 reads the options with every full collection, and what is used right behind one is in use. They limit nothing. */
export const keepHeapSmall = (): void => {
  new PerformanceObserver((list) => {
    const collections = list.getEntries() as unknown as readonly { readonly detail: { readonly kind: number } }[]
    if (!collections.some(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR)) return
    const isLarge = getHeapStatistics().used_heap_size > largeBytes
    for (const option of isLarge ? large : usual) setFlagsFromString(option)
  }).observe({ entryTypes: ['gc'] })
}
