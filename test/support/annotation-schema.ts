// Validates annotations against schemas/annotation.schema.json.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Ajv, type SchemaObject } from 'ajv'
import { expect } from 'vitest'

export const readSchema = (name: string): SchemaObject =>
  JSON.parse(readFileSync(resolve(import.meta.dirname, `../../schemas/${name}.schema.json`), 'utf8')) as SchemaObject

const validate = new Ajv({ allErrors: true }).compile(readSchema('annotation'))

export const expectValidAnnotation = (annotation: unknown): void => {
  validate(annotation)
  expect(validate.errors ?? []).toEqual([])
}
