// Generates shared verdicts by number, identical for processes that append them and those that fill a topic.
import { findingOf } from './verdicts.mjs'

const operations = ['ip/malicious-info', 'ip/suspicious_info']

export const addressOf = (n) => `${20 + (n >> 20)}.${(n >> 12) & 255}.${(n >> 5) & 127}.${1 + (n & 31)}`
export const indicatorOf = (n) => ({ type: 'ip', value: addressOf(n) })
export const sharedFinding = (n) => ({ ...findingOf(indicatorOf(n)), operations })
