// Memory settings of processes that handle events: a larger young generation, and less memory that the C library keeps.

/**
 * With 16 MB, the default of Node 20, events in flight are copied repeatedly until the broker has them. With 64 MB, or the default of Node
 * 24, a process needs 60 MB more and is no faster.
 */
export const roomForEvents = '--max-semi-space-size=32'

/**
 * glibc keeps a memory arena per thread, tens of megabytes that only that thread can use. After a large buffer is freed, it also serves
 * later buffers of that size from the heap, which rarely shrinks: changing feeds left a hundred megabytes of holes. Only glibc reads these
 * variables.
 */
export const leanMalloc = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072' } as const
