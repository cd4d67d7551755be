// The places part: country and network of an address, from local databases.
import type { Part } from '../../app/part.js'
import { placesSettings } from './settings.js'

export const places: Part = {
  name: 'places',
  settings: [placesSettings],
  problems: async (config) => {
    const files = placesSettings.of(config) ?? []
    return files.length === 0 ? [] : (await import('./open-geo.js')).geoProblems(files)
  },
  places: (config, options) => {
    const files = placesSettings.of(config) ?? []
    if (files.length === 0) return undefined
    const { documentation } = config.gate
    return import('./open-geo.js').then(({ openGeo }) => openGeo(files, { ...options, documentation }))
  },
}
