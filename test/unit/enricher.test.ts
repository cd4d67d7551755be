// The library as it is called: what it takes and what it refuses.
import { describe, expect, it } from 'vitest'
import { createEnricher, enrichTransform, type EnricherOptions } from '../../src/index.js'
import { someFeed } from '../support/cli.js'

const settings = { feeds: [{ name: 'mine', path: someFeed }] }

describe('createEnricher', () => {
  it('takes text and bytes, and refuses anything else with a word on what to do', async () => {
    const enricher = await createEnricher({ settings })
    const text = '{"src_ip":"198.51.100.7"}'
    expect((await enricher.enrich(text, 'x')).bytes).toEqual((await enricher.enrich(Buffer.from(text), 'x')).bytes)
    for (const wrong of [undefined, null, 5, {}])
      await expect(enricher.enrich(wrong as string)).rejects.toThrow('JSON.stringify')
    await enricher.close()
  })

  it('refuses events after it was closed, and may be closed twice', async () => {
    const enricher = await createEnricher({ settings })
    await enricher.close()
    await enricher.close()
    await expect(enricher.enrich('{}')).rejects.toThrow('closed')
  })

  it('refuses settings with neither key nor feeds, which could know nothing', async () => {
    await expect(createEnricher()).rejects.toThrow('intel.service.apiKey and feeds are both empty')
    await expect(enrichTransform().toArray()).rejects.toThrow('intel.service.apiKey and feeds are both empty')
  })

  it('refuses an option that it does not know', async () => {
    await expect(createEnricher({ feeds: [] } as EnricherOptions)).rejects.toThrow('"feeds" is not an option')
    const stream = enrichTransform({ bogus: 1 } as EnricherOptions)
    await expect(stream.toArray()).rejects.toThrow('"bogus" is not an option')
  })
})
