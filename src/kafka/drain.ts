// The end of a run: what is in progress is finished within a limit, and closing connections is not waited for without one.

/** False where the limit came first. */
export const drained = async (stop: () => Promise<void>, limitMs: number): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs)
  })
  try {
    return await Promise.race([stop().then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}

/** The process is about to end. */
const closeMs = 1_000

export const closeAll = async (closings: readonly Promise<void>[]): Promise<void> => {
  await drained(() => Promise.allSettled(closings).then(() => undefined), closeMs)
}
