// Put before a program with --import: runs it with other bounds than its own, given as JSON in the query of this file's address.
import { limits } from '../../dist/program/limits.js'

for (const [group, changes] of Object.entries(JSON.parse(new URL(import.meta.url).searchParams.get('limits'))))
  if (typeof changes === 'object') Object.assign(limits[group], changes)
  else limits[group] = changes
