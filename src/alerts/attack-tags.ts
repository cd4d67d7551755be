// The ATT&CK tags of a rule as ECS `threat` fields: `attack.t1071.001` → technique T1071, subtechnique T1071.001.

export type Attack = {
  readonly framework?: 'MITRE ATT&CK'
  readonly tactic?: { readonly name: readonly string[] }
  readonly technique?: { readonly id: readonly string[]; readonly subtechnique?: { readonly id: readonly string[] } }
}

const technique = /^attack\.(t\d{4})(\.\d{3})?$/i
/** Tags of groups and software are a letter and a number, so they do not match. */
const tactic = /^attack\.([a-z]+(?:[-_][a-z]+)*)$/i

/** Cached by the tags of a rule, which all of its alerts share. */
const known = new WeakMap<readonly string[], Attack>()

export const attackOf = (tags: readonly string[]): Attack => {
  const before = known.get(tags)
  if (before) return before
  const attack = Object.freeze(readAttack(tags))
  known.set(tags, attack)
  return attack
}

const readAttack = (tags: readonly string[]): Attack => {
  const tactics = new Set<string>()
  const techniques = new Set<string>()
  const subtechniques = new Set<string>()
  for (const tag of tags) {
    const [, id, sub] = technique.exec(tag) ?? []
    const name = tactic.exec(tag)?.[1]
    if (id !== undefined) techniques.add(id.toUpperCase())
    if (id !== undefined && sub !== undefined) subtechniques.add(id.toUpperCase() + sub)
    if (name !== undefined) tactics.add(name.toLowerCase().replaceAll('_', '-'))
  }
  if (tactics.size + techniques.size === 0) return {}
  return {
    framework: 'MITRE ATT&CK',
    ...(tactics.size > 0 && { tactic: { name: [...tactics] } }),
    ...(techniques.size > 0 && {
      technique: {
        id: [...techniques],
        ...(subtechniques.size > 0 && { subtechnique: { id: [...subtechniques] } }),
      },
    }),
  }
}
