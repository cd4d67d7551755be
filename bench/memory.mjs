// Checks that memory stays flat while two million events pass through the pipeline.
import { samples } from './samples.mjs'
import { openWarmPipeline } from './open-warm-pipeline.mjs'

const total = 2_000_000
const chunkSize = 500
const reports = 10

const mb = (bytes) => `${(bytes / 1_048_576).toFixed(0).padStart(5)} MB`

export const run = async () => {
  const { json, text } = samples()
  const { events, indicators, pipeline, close } = await openWarmPipeline(json)
  const all = [...events, ...text]
  console.log(`  ${all.length} events in turn, JSON and text, ${indicators.length} distinct indicators in memory`)
  let done = 0
  let bytesOut = 0
  for (let report = 1; report <= reports; report++) {
    while (done < (total / reports) * report) {
      // A buffer of its own for each event, as a broker's client hands them over.
      const chunk = Array.from({ length: chunkSize }, () => ({
        bytes: Buffer.from(all[done % all.length]),
        origin: `firewall/3/${++done}`,
      }))
      await pipeline(chunk, (one) => void (bytesOut += one.bytes().length))
    }
    const { rss, heapUsed, external } = process.memoryUsage()
    console.log(
      `  ${String(done).padStart(8)} events: resident ${mb(rss)}, heap ${mb(heapUsed)}, buffers ${mb(external)}`,
    )
  }
  console.log(`  ${mb(bytesOut).trim()} written`)
  await close()
}
