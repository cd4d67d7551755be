// A process that looks up many indicators over one memory path and prints each answer; tests kill it.
import { systemClock } from '../../src/base/clock.js'
import type { Finding } from '../../src/domain/finding.js'
import { openJournal } from '../../src/lookup/memory/journal.js'
import { indicators } from '../../src/lookup/question.js'
import { ask, indicator } from './lookup.js'
import { createStack } from './stacks.js'

const [path = '', url = '', count = '0', ending = 'exit'] = process.argv.slice(2)
const say = (text: string): void => void process.stdout.write(`${text}\n`)

const stack = createStack(
  (asked, _ask, call) => call(async () => (await (await fetch(`${url}/${asked.value}`)).json()) as Finding),
  systemClock,
  { keep: (asked, finding) => journal.append(asked, finding) },
)
const journal = await openJournal({ path, maxBytes: 1_048_576 }, indicators, {
  restore: (asked, finding) => stack.memory.restore(asked, finding, Date.now()),
  emit: () => undefined,
})
for (let nth = 0; nth < Number(count); nth++) {
  const { status } = await stack.lookup(indicator(nth), ask)
  say(`${nth} ${status}`)
}
say('done')
if (ending === 'exit') await journal.close()
else setInterval(() => undefined, 1000)
