// Run it with `node examples/library/enrich.mjs`: one event, then a stream of them.
import { Readable } from 'node:stream'
import { createEnricher, enrichTransform } from 'threatweave'

const settings = {
  feeds: [{ name: 'sample', path: new URL('../feeds/sample-feed.csv', import.meta.url).pathname }],
  gate: { documentation: true }, // the sample uses documentation addresses
}

const enricher = await createEnricher({ settings })
const { annotation, bytes } = await enricher.enrich('{"src_ip":"198.51.100.60","dest_ip":"10.0.0.5","action":"allowed"}')
console.log(annotation.verdict, annotation.summary)
console.log(bytes.toString())
await enricher.close()

const lines = Readable.from(['action=deny src=203.0.113.66 dst=10.0.0.9\n', 'action=accept src=10.0.0.9 dst=203.0.113.99\n'])
for await (const chunk of lines.pipe(enrichTransform({ settings }))) process.stdout.write(chunk)
