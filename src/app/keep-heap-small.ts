// Keeps a heap near what it uses: what events leave behind goes soon, and bounded caches do not become several times their size in memory.
import { constants, PerformanceObserver } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'

/** Below, V8 knows best: collecting a small heap more often would only cost processor time. */
const largeBytes = 67_108_864
/** How much a heap may grow before it is collected again; V8 lets it become up to four times of what was left. */
const growthBytes = 41_943_040
/** What a very large heap may grow by in any case, because a collection takes longer the more there is. */
const leastPercent = 30

/**
 * While a backlog waits for its first answers, its events outlive the space for new objects, and V8 remembers where such objects are made: from
 * then on it makes them among the old ones, where only a full collection finds them. So it is told not to.
 *
 * How much a heap may grow V8 reads with every full collection, and what is used right behind one is in use. It limits nothing.
 */
export const keepHeapSmall = (): void => {
  setFlagsFromString('--no-allocation-site-pretenuring')
  new PerformanceObserver((list) => {
    const collections = list.getEntries() as unknown as readonly { readonly detail: { readonly kind: number } }[]
    if (!collections.some(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR)) return
    const used = getHeapStatistics().used_heap_size
    // 0 leaves it to V8.
    const percent = used < largeBytes ? 0 : Math.max(leastPercent, Math.round((100 * growthBytes) / used))
    setFlagsFromString(`--heap-growing-percent=${percent}`)
  }).observe({ entryTypes: ['gc'] })
}
