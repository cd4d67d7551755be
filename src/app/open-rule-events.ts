// Rebuilds the input of rules from written events: reads the original again, as it was before annotation.
import { ruleEventOf } from '../alerts/annotated-event.js'
import type { RuleEvent } from '../alerts/event-field.js'
import { accepted } from '../config/load-config.js'
import type { Config } from '../config/schema.js'
import type { AnyObject } from '../base/json-object.js'
import { createNamedValues } from '../pipeline/extract/named-values.js'
import { openReader } from './open-app.js'
import type { ReadingFiles } from './load-files.js'

type RuleEvents = (written: AnyObject, annotation: AnyObject) => RuleEvent

/** Loads the files if `given` is absent. */
export const openRuleEvents = (config: Config, given?: ReadingFiles): RuleEvents => {
  const { decode, extract, files } = accepted(openReader(config, given ? { files: given } : {}))
  const named = createNamedValues(files.formats)
  const { key } = config.output
  return (written, { read_as }) => {
    const event = decode(originalOf(written, key, read_as !== undefined))
    return ruleEventOf({ event, extraction: extract(event) }, named)
  }
}

/** Input that is no JSON object was wrapped: text is in `message`, bytes that are not UTF-8 in `original_base64`. */
export const originalOf = (written: AnyObject, key: string, isWrapped: boolean): Buffer => {
  const { message, original_base64: base64 } = written
  if (isWrapped && typeof base64 === 'string') return Buffer.from(base64, 'base64')
  if (isWrapped && typeof message === 'string') return Buffer.from(message)
  return Buffer.from(JSON.stringify({ ...written, [key]: undefined }))
}
