// The demo recording in docs/images, and the part of its text that every run prints.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { recordedLines } from '../../scripts/record-demo.mjs'
import { root } from './cli.js'

export const recording = readFileSync(join(root, 'docs/images/demo.svg'), 'utf8')

/** Removes differences between runs: times, ports, offsets, and counts that depend on the machine's speed. */
const steady = (line: string): string =>
  line
    .replace(/threatweave-demo-[0-9a-f]+/g, 'firewall')
    .replace(/node \S*dist\/cli\.js/, 'node dist/cli.js')
    .replace(/127\.0\.0\.1:\d+/g, 'ADDRESS')
    .replace(/^\d{4}-\d\d-\d\d [\d:]+ UTC/, 'TIME')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/\d+\.\d s/g, 'SECONDS')
    .replace(/took \d+ calls/, 'took CALLS')
    .replace(/firewall(?:\/\d+\/\d+|\.log:\d+)/, 'ORIGIN')
    .replace(/ \(late\)$/, '')
    .replace(/is unknown: (?:pending|deadline)/, 'is unknown: WAITING')

/** Lines that only some runs print: other matching hosts, and the number of corrected events. */
const isSometimes = (line: string): boolean => /^ {2}hosts |left before the answer/.test(line)

/** Returns expected lines that the demo did not print, up to the heading that begins with `until`. */
export const missingFrom = (printed: string, until?: string): readonly string[] => {
  const lines = recordedLines(recording)
  const end = until === undefined ? lines.length : lines.findIndex((line) => line.startsWith(until))
  const found = new Set(printed.split('\n').map(steady))
  return lines.slice(1, end).filter((line) => !isSometimes(line) && !found.has(steady(line)))
}
