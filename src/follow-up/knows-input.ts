// Whether the sightings topic holds anything about the input topics: a group without offsets that has written there has lost them.
import { readUpTo, type TopicReader } from '../kafka/topic-reader.js'

/** Reads until the first record that is about one of them. */
export const knowsInput = async (
  reader: Pick<TopicReader, 'fetch' | 'offsetsAt'>,
  sightingsTopic: string,
  input: readonly string[],
): Promise<boolean> => {
  let isKnown = false
  for (const [partition, end] of await reader.offsetsAt(sightingsTopic, 'latest'))
    await readUpTo(
      reader,
      { topic: sightingsTopic, partition, end },
      ({ key }) => {
        const name = key?.toString() ?? ''
        isKnown ||= input.some((topic) => name.startsWith(`${topic}/`))
      },
      () => !isKnown,
    )
  return isKnown
}
