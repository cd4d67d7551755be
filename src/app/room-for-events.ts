// How Node is started where events go through: with more space for new objects than it gives by itself, and no more than is of use.

/**
 * With 16 MB, as Node 20 has it, events on their way are copied again and again until the broker has them; with 64, and what Node 24 takes by
 * itself, a process is 60 MB larger and no faster.
 */
export const roomForEvents = '--max-semi-space-size=32'

/**
 * The C library keeps memory for each thread by itself, tens of megabytes that only one of them uses. And once it was given back a large buffer it
 * takes others of that size from memory that it rarely returns: with feeds that change, a hundred megabytes of holes. Only glibc reads these.
 */
export const leanMalloc = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072' } as const
