// Writes the table of log formats in docs/formats.md from the examples of the formats. Needs dist/.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(import.meta.dirname, '..')
const page = join(root, 'docs/formats.md')
const block = /(<!-- formats: [^\n]*-->\n)[^]*(<!-- end of formats -->)/

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\t', ' ')

const takenOf = (examples) => {
  const roles = new Set(examples.flatMap(({ found }) => found.map(({ role }) => role)))
  const actions = new Set(examples.map(({ action }) => action).filter((action) => action !== 'unknown'))
  return [...roles, ...(actions.size > 0 ? [`action (${[...actions].join(', ')})`] : [])].join(', ')
}

const rowOf = ([id, examples]) => {
  const kinds = examples.flatMap(({ variant }) => variant ?? []).join(', ')
  return `| \`${id}\` | ${kinds} | ${takenOf(examples)} | \`${cell(examples[0].example)}\` |`
}

/** `described`: the result of `describeFormats`. */
export const withFormatsTable = (text, described) => {
  const byId = new Map()
  for (const one of described) byId.set(one.id, [...(byId.get(one.id) ?? []), one])
  const rows = [...byId].map(rowOf)
  const table = ['| format | kinds of line | what is taken | an example |', '| --- | --- | --- | --- |', ...rows]
  return text.replace(block, (_, begin, end) => `${begin}\n${table.join('\n')}\n\n${end}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { describeFormats } = await import('../dist/app/describe-formats.js')
  writeFileSync(page, withFormatsTable(readFileSync(page, 'utf8'), describeFormats([])))
}
