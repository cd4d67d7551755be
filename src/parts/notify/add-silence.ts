// Formats a silence as YAML and appends it to the silences file, leaving the existing text unchanged.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { describeProblem } from '../../config/problem.js'
import { readSilenceFile, type Silence } from './silence-file.js'

/** Values are written as JSON, which is valid YAML, so text from an alert cannot inject YAML. */
export const silenceEntry = ({ id, match, until, reason, by }: Silence): string => {
  const fields = Object.entries(match).map(([field, wanted]) => `      ${field}: ${JSON.stringify(wanted)}\n`)
  return `  - id: ${JSON.stringify(id)}\n    match:\n${fields.join('')}    until: ${JSON.stringify(until)}\n    reason: ${JSON.stringify(reason)}\n    by: ${JSON.stringify(by)}\n`
}

/** Problems of this entry, checked without the rest of the file. */
export const silenceProblems = (silence: Silence): readonly string[] => {
  const read = readSilenceFile({ name: 'this silence', text: `silences:\n${silenceEntry(silence)}` })
  return 'problems' in read
    ? read.problems.map(({ setting, message }) => `${setting.replace(/^silences\.0\.?/, '')} ${message}`)
    : []
}

/** Returns undefined on success, or the reason for failure; the file is then unchanged. */
export const addSilence = (file: string, silence: Silence): string | undefined => {
  const before = textOf(file)
  const start = before.trim() === '' ? 'silences:\n' : before.replace(/^silences: *\[\] *$/m, 'silences:')
  const after = `${start}${start.endsWith('\n') ? '' : '\n'}${silenceEntry(silence)}`
  const count = (text: string): number => {
    const read = readSilenceFile({ name: file, text })
    return 'silences' in read ? read.silences.length : 0
  }
  const read = readSilenceFile({ name: file, text: after })
  if ('problems' in read) return read.problems.map(describeProblem).join('; ')
  if (read.silences.length !== count(before) + 1) return 'the entry cannot be put at its end'
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, after)
  renameSync(draft, file)
  return undefined
}

const textOf = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
