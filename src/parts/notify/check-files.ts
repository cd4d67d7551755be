// How `check FILE` recognises and checks sink files and silence files.
import { readFileSync } from 'node:fs'
import type { FileOfPart } from '../../app/part.js'
import { readSilenceFile, silencesSchema } from './silence-file.js'
import { readSinkFile, sinkSchema } from './sink-file.js'

const sink: FileOfPart = {
  kind: 'sink',
  names: new Set(Object.keys(sinkSchema.properties)),
  certain: [],
  check: (path) => {
    const read = readSinkFile({ name: path, text: readFileSync(path, 'utf8') })
    if ('problems' in read) return { what: 'a sink', problems: read.problems, notes: [] }
    const { id } = read.sink
    const note = `has no url or urlFile: it is for files that say use: ${id}`
    return { what: `sink ${id}`, problems: [], notes: read.hasUrl ? [] : [note] }
  },
}

const silences: FileOfPart = {
  kind: 'file of silences',
  names: new Set(Object.keys(silencesSchema.properties)),
  certain: ['silences'],
  check: (path) => {
    const read = readSilenceFile({ name: path, text: readFileSync(path, 'utf8') })
    if ('problems' in read) return { what: 'silences', problems: read.problems, notes: [] }
    const { length } = read.silences
    return { what: `${length} silence${length === 1 ? '' : 's'}`, problems: [], notes: [] }
  },
}

export const files: readonly FileOfPart[] = [sink, silences]
