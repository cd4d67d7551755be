// Removed settings and their replacements.

/** By full path. */
const moved: Readonly<Record<string, string>> = {
  'intel.service.apiKeyHeader': '`key: { header: NAME }` in the file of intel.service.profile',
  'intel.service.paths': '`operations: { ip/malicious-info: { path: … } }` in the file of intel.service.profile',
  'intel.ip.escalate': '`operations: { suspicious_info: unclean }` (true, the default) or `never` (false) in intel.ip',
  'intel.domain.report': '`operations: { report: accused }` (suspicious), `always` or `never` in intel.domain',
  'intel.service.pathOverrides': '`operations: { NAME: { path: … } }` in the file of intel.service.profile',
}

export const movedSettings: readonly (readonly string[])[] = Object.keys(moved).map((path) => path.split('.'))

/** A message that follows the name of the setting; undefined if it is not a removed one. */
export const movedTo = (setting: string): string | undefined =>
  Object.hasOwn(moved, setting) ? `was removed; write ${moved[setting] ?? ''}` : undefined
