// Settings of the databases that know where an address is.
import { Type } from '@sinclair/typebox'
import { settingsAt } from '../../config/added-settings.js'

export const placesSettings = settingsAt(
  'intel.geo',
  Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    maxItems: 8,
    description:
      'Database files in the MaxMind format (.mmdb; MaxMind, DB-IP, IPinfo) that say country and network (AS) of an address; nobody is asked for it. Full annotations, alerts and rules get `country` and `as`. The first file that has a member wins; a changed file is used within seconds.',
  }),
)
