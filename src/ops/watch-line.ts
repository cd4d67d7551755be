// The line with somebody counting beside it, chunk by chunk.
import type { Annotation } from '../domain/annotation.js'
import type { SeenEvent, Tally } from '../telemetry/tally.js'
import type { Recent } from './recent.js'

type Line<In, Out, Wait> = (
  chunk: readonly In[],
  use: (event: Out, place: number) => void,
  wait?: Wait,
) => boolean | Promise<boolean>

export const watchLine =
  <In, Out extends SeenEvent & { readonly annotation: Annotation }, Wait>(
    line: Line<In, Out, Wait>,
    { tally, recent, now }: { readonly tally: Tally; readonly recent: Recent; readonly now: () => number },
  ): Line<In, Out, Wait> =>
  (chunk, use, wait) => {
    const began = now()
    tally.chunkRead(chunk.length)
    const watched = (event: Out, place: number): void => {
      tally.eventLeft(event)
      if (event.verdict === 'malicious') recent.see(event.annotation)
      use(event, place)
    }
    const note = (isThrough: boolean): boolean => {
      tally.chunkLeft(now() - began)
      return isThrough
    }
    const through = line(chunk, watched, wait)
    return through instanceof Promise ? through.then(note) : note(through)
  }
