// Keeps a large heap near what it uses: bounded caches should not become several times their size in resident memory.
import { getHeapStatistics, setFlagsFromString } from 'node:v8'

const lookEveryMs = 1_000
/** Below, V8 knows best: collecting a small heap more often would only cost processor time. */
const largeBytes = 67_108_864
/** By default V8 lets the heap grow to four times of what was left by the last collection. */
const growingPercent = 40

/** V8 reads the option at the end of every collection, so that it can be set while running. It limits nothing. */
export const keepHeapSmall = (): void => {
  setInterval(() => {
    const isLarge = getHeapStatistics().used_heap_size > largeBytes
    setFlagsFromString(`--heap-growing-percent=${isLarge ? growingPercent : 0}`)
  }, lookEveryMs).unref()
}
