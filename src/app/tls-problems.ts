// What is wrong with the files that TLS is set up with.
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { Problem } from '../config/problem.js'
import { messageOf } from '../domain/message-of.js'

type TlsFile = readonly [setting: string, path: string]

/** What TLS would refuse: a file that is not there, one that is no PEM, a key that does not fit its certificate. */
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
    // OpenSSL takes a file without certificates for one of none, and then trusts nobody.
    if (kind === 'ca' && !text.includes('-----BEGIN '))
      problems.push({ setting: `${section}.${files.ca?.[0] ?? 'ca'}`, message: 'holds no certificate in PEM' })
  try {
    createSecureContext({ ...Object.fromEntries(texts), passphrase })
  } catch (error) {
    problems.push({ setting: section, message: `names files that cannot be used: ${messageOf(error)}` })
  }
  return problems
}

/** The text of a file that a setting names; nothing where it names none or it cannot be read, which is then a problem. */
export const readNamed = (setting: string, path: string, problems: Problem[]): string | undefined => {
  if (path === '') return undefined
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    problems.push({ setting, message: `cannot be read: ${messageOf(error)}` })
    return undefined
  }
}
