// Wraps a pipeline to count its events and to show malicious ones on the status page.
import type { Annotation } from '../domain/annotation.js'
import type { CountedEvent, Counters } from '../telemetry/counters.js'

type ChunkFunction<In, Out, Wait> = (
  chunk: readonly In[],
  use: (event: Out, place: number) => void,
  wait?: Wait,
) => boolean | Promise<boolean>

export const observePipeline =
  <In, Out extends CountedEvent & { readonly annotation: Annotation }, Wait>(
    pipeline: ChunkFunction<In, Out, Wait>,
    {
      counters,
      see,
      now,
    }: {
      readonly counters: Counters
      /** Called with each malicious event. */
      readonly see: (annotation: Annotation) => void
      readonly now: () => number
    },
  ): ChunkFunction<In, Out, Wait> =>
  (chunk, use, wait) => {
    const startedAt = now()
    counters.chunkRead(chunk.length)
    const counted = (event: Out, place: number): void => {
      counters.eventAnnotated(event)
      if (event.verdict === 'malicious') see(event.annotation)
      use(event, place)
    }
    const finish = (isDone: boolean): boolean => {
      counters.chunkAnnotated(now() - startedAt)
      return isDone
    }
    const done = pipeline(chunk, counted, wait)
    return done instanceof Promise ? done.then(finish) : finish(done)
  }
