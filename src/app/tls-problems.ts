// Checks the certificates and keys that settings name.
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { messageOf } from '../base/message-of.js'
import type { Problem } from '../config/problem.js'

type TlsFile = readonly [setting: string, path: string]

/** Finds missing files, invalid PEM, and keys that do not match their certificate. */
export const tlsProblems = (
  section: string,
  files: Readonly<Partial<Record<'ca' | 'cert' | 'key', TlsFile>>>,
  passphrase: string,
): Problem[] => {
  const problems: Problem[] = []
  const texts = Object.entries(files).flatMap(([kind, [setting, path]]) => {
    const text = readNamed(`${section}.${setting}`, path, problems)
    return text === undefined ? [] : [[kind, text] as const]
  })
  for (const [kind, text] of texts)
    // OpenSSL accepts a CA file without certificates, and then trusts no server.
    if (kind === 'ca' && !text.includes('-----BEGIN '))
      problems.push({ setting: `${section}.${files.ca?.[0] ?? 'ca'}`, message: 'contains no PEM certificate' })
  try {
    createSecureContext({ ...Object.fromEntries(texts), passphrase })
  } catch (error) {
    problems.push({ setting: section, message: `has files that cannot be used: ${messageOf(error)}` })
  }
  return problems
}

/** Reads the file of a setting; adds a problem if it cannot be read. */
export const readNamed = (setting: string, path: string, problems: Problem[]): string | undefined => {
  if (path === '') return undefined
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    problems.push({ setting, message: `cannot be read: ${messageOf(error)}` })
    return undefined
  }
}
