// The line with somebody counting beside it, chunk by chunk.
import type { Annotation } from '../domain/annotation.js'
import type { SeenEvent, Tally } from '../telemetry/tally.js'
import type { Recent } from './recent.js'

type Line<In, Out> = (chunk: readonly In[], behind: boolean) => readonly Out[] | Promise<readonly Out[]>

export const watchLine = <In, Out extends SeenEvent & { readonly annotation: Annotation }>(
  line: Line<In, Out>,
  { tally, recent, now }: { readonly tally: Tally; readonly recent: Recent; readonly now: () => number },
): Line<In, Out> => {
  const note = (events: readonly Out[], began: number): readonly Out[] => {
    tally.chunkLeft(events, now() - began)
    for (const event of events) if (event.verdict === 'malicious') recent.see(event.annotation)
    return events
  }
  return (chunk, behind) => {
    const began = now()
    tally.chunkRead(chunk.length)
    const left = line(chunk, behind)
    return left instanceof Promise ? left.then((events) => note(events, began)) : note(left, began)
  }
}
