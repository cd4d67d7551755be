// Keeps the heap close to its live size, so that event garbage is collected early and bounded caches stay small in memory.
import { constants, PerformanceObserver } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'

/** Below this, V8's default is better: collecting a small heap more often only costs CPU time. */
const largeBytes = 67_108_864
/** Growth allowed between full collections. By default V8 lets a heap grow up to fourfold. */
const growthBytes = 41_943_040
/** Minimum growth of a very large heap, because its collections take longer. */
const leastPercent = 30

/**
 * While a backlog waits for its first answers, its events survive the young generation. V8 then pretenures such objects: it allocates them
 * in the old generation, where only a full collection frees them. The flag turns this off.
 *
 * V8 reads the growth percentage at every full collection, and the heap in use right after one is live. The percentage does not limit the
 * heap.
 */
export const keepHeapSmall = (): void => {
  setFlagsFromString('--no-allocation-site-pretenuring')
  new PerformanceObserver((list) => {
    const collections = list.getEntries() as unknown as readonly { readonly detail: { readonly kind: number } }[]
    if (!collections.some(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR)) return
    const used = getHeapStatistics().used_heap_size
    // 0 selects V8's default.
    const percent = used < largeBytes ? 0 : Math.max(leastPercent, Math.round((100 * growthBytes) / used))
    setFlagsFromString(`--heap-growing-percent=${percent}`)
  }).observe({ entryTypes: ['gc'] })
}
