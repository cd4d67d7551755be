// Loaded into processes by NODE_OPTIONS: each has a file named after its process id with `running` or its exit code, which nobody could tell once its parent is gone.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = process.env.RECORD_EXITS_IN
if (folder !== undefined) {
  const record = (state) => writeFileSync(join(folder, String(process.pid)), String(state))
  record('running')
  process.once('exit', record)
}
