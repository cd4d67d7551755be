// Loaded with NODE_OPTIONS: writes `running` or the exit code to a file per process id, so it is known without the parent process.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = process.env.RECORD_EXITS_IN
if (folder !== undefined) {
  const record = (state) => writeFileSync(join(folder, String(process.pid)), String(state))
  record('running')
  process.once('exit', record)
}
