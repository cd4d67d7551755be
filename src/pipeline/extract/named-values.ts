// Reads every named value in an event's text, for names that were not noted when the event was first read.
import type { Names, Noted } from '../../domain/sighting.js'
import { decode, decodeLimits } from '../decode.js'
import { createExtract, extractLimits } from './extract.js'
import type { FormatSpec } from './formats.js'

type NamedValues = (bytes: Buffer) => Noted['values']

const everyName: Names = { has: () => true }

/** Reads the event once more. */
export const createNamedValues = (formats: readonly FormatSpec[]): NamedValues => {
  const extract = createExtract({ ...extractLimits, formats, names: () => everyName })
  return (bytes) => extract(decode(bytes, decodeLimits)).noted?.values ?? {}
}
