// Loaded with --import: runs a program with the limits given as JSON in the query of this file's URL.
import { limits } from '../../dist/program/limits.js'

for (const [group, changes] of Object.entries(JSON.parse(new URL(import.meta.url).searchParams.get('limits'))))
  if (typeof changes === 'object') Object.assign(limits[group], changes)
  else limits[group] = changes
