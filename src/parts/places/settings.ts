// Settings of the databases for country and network.
import { Type } from '@sinclair/typebox'
import { settingsAt } from '../../config/added-settings.js'

export const placesSettings = settingsAt(
  'intel.geo',
  Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    maxItems: 8,
    description:
      'Database files in the MaxMind format (.mmdb; MaxMind, DB-IP, IPinfo) with the country and network (AS) of an address; no lookup is needed. Full annotations, alerts and rules get `country` and `as`. The first file with a value wins; a changed file is used within seconds.',
  }),
)
