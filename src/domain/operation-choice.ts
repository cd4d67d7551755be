// When to call each operation of the lookup service: the choices of the operator, and the next operation due.

/** `unclean`: unless the facts so far say clean; `accused`: if they are malicious or suspicious in some role. */
export const choices = ['always', 'unclean', 'accused', 'never'] as const
export type Choice = (typeof choices)[number]

/** In calling order; each costs a call. */
export const addressOperations = [
  'malicious-info',
  'suspicious_info',
  'summary',
  'data',
  'vpn',
  'hosting',
  'privacy-threat',
  'is_safe_dns_server',
] as const
export type AddressChoices = Readonly<Record<(typeof addressOperations)[number], Choice>>

export const nameOperations = ['reports', 'reports/personal', 'report'] as const
export type NameChoices = Readonly<Record<(typeof nameOperations)[number], Choice>>

export const usualAddressChoices: AddressChoices = {
  'malicious-info': 'always',
  suspicious_info: 'unclean',
  summary: 'never',
  data: 'never',
  vpn: 'never',
  hosting: 'never',
  'privacy-threat': 'never',
  is_safe_dns_server: 'never',
}

export const usualNameChoices: NameChoices = { reports: 'always', 'reports/personal': 'never', report: 'never' }

/** The judgement of the facts so far. */
type KnownSoFar = { readonly isUnclean: () => boolean; readonly isAccused: () => boolean }

/** The next operation to call; unconditional ones come first. */
export const dueOperation = <Name extends string>(
  names: readonly Name[],
  chosen: Readonly<Record<Name, Choice>>,
  isAnswered: (name: Name) => boolean,
  { isUnclean, isAccused }: KnownSoFar,
): Name | undefined => {
  const open = names.filter((name) => chosen[name] !== 'never' && !isAnswered(name))
  const first = (choice: Choice): Name | undefined => open.find((name) => chosen[name] === choice)
  const always = first('always')
  if (always !== undefined) return always
  const unclean = first('unclean')
  if (unclean !== undefined && isUnclean()) return unclean
  const accused = first('accused')
  return accused !== undefined && isAccused() ? accused : undefined
}

/** The minimum and maximum number of calls per lookup (all clean, all malicious). Personal reports are one list for all names. */
export const callsPerLookup = (
  chosen: Readonly<Record<string, Choice>>,
): { readonly least: number; readonly most: number } => {
  const asked = Object.entries(chosen).filter(([name]) => name !== 'reports/personal')
  return {
    least: asked.filter(([, choice]) => choice === 'always').length,
    most: asked.filter(([, choice]) => choice !== 'never').length,
  }
}
