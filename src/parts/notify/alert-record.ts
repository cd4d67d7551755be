// Parses a record of the alerts topic. The record is untrusted, so its size and depth are limited.
import type { AnyObject } from '../../base/json-object.js'
import { parseBody } from '../../provider/parse-body.js'
import { createRedact } from '../../provider/redact.js'
import { ruleLevels, type RuleLevel } from '../../alerts/sigma/rule.js'
import { memberAt } from './template.js'

export type AlertRecord = {
  readonly whole: AnyObject
  readonly id: string
  readonly groupId: string
  readonly level: RuleLevel
  /** Event time, in epoch milliseconds. */
  readonly at: number
}

/** The largest alert that `run` writes. */
const maxBytes = 262_144
const maxDepth = 16
const maxTextLength = 65_536
const nothing = createRedact('')

export const readAlert = (value: Buffer | null): AlertRecord | { readonly problem: string } => {
  if (!value) return { problem: 'has no value' }
  if (value.length > maxBytes) return { problem: `is larger than ${maxBytes} bytes` }
  const parsed = parseBody(value, maxDepth, nothing)
  if ('problem' in parsed) return parsed
  const whole = parsed.body
  const text = (path: string): string | undefined => {
    const found = memberAt(whole, path.split('.'))
    return typeof found === 'string' && found.length <= maxTextLength ? found : undefined
  }
  const id = text('threatweave.alert_id')
  const groupId = text('threatweave.group_id')
  if (!isHash(id) || !isHash(groupId)) return { problem: 'has no threatweave.alert_id and threatweave.group_id' }
  const level = ruleLevels.find((one) => one === text('threatweave.level'))
  if (level === undefined) return { problem: 'has no threatweave.level' }
  const at = Date.parse(text('@timestamp') ?? '')
  if (Number.isNaN(at)) return { problem: 'has no @timestamp' }
  for (const path of ['message', 'rule.id', 'rule.name'])
    if (text(path) === undefined) return { problem: `has no ${path}` }
  return { whole, id, groupId, level, at }
}

const isHash = (text: string | undefined): text is string => text !== undefined && /^[0-9a-f]{32}$/.test(text)
