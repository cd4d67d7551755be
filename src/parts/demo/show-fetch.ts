// Shows the progress of a slow download: a live line on a terminal, otherwise a line every ten seconds.
import type { Io } from '../../terminal/command.js'
import { createProgress } from '../../terminal/progress.js'

/** Shows progress until `done` settles; `note` adds details to the line. */
export const showFetch = async <Result>(
  stderr: Io['stderr'] | undefined,
  label: string,
  done: Promise<Result>,
  note: () => string = () => '',
): Promise<Result> => {
  if (!stderr) return done
  const began = Date.now()
  const progress = createProgress(stderr, { label })
  const draw = (): void => progress.update(0, `${note()}${Math.round((Date.now() - began) / 1000)} s`)
  draw()
  const timer = setInterval(draw, 200)
  try {
    return await done
  } finally {
    clearInterval(timer)
    progress.end()
  }
}
