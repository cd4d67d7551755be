// The threat class from categories: serious, background noise of the internet, or unclassified.

/** Worst first. */
export const threatClasses = ['serious', 'uncategorized', 'background'] as const
export type ThreatClass = (typeof threatClasses)[number]

/** Constant noise that every public host sees, and anonymisers. */
const background =
  /\b(?:(?:port ?)?scan\w*|brute ?forc\w*|spam\w*|abus\w*|prox(?:y|ies)|vpns?|tor|anonymi[sz]\w*|recon(?:naissance)?|prob(?:e|es|ing)|crawl\w*|web bot|password (?:spray|guess)\w*|credential stuffing)\b/
/** A proxy that malware installs is malware. */
const serious = /malware|malspam|trojan|botnet|ransom|phish|exploit|stealer|backdoor|\bc2\b|\bc&c\b|command and control/

/** Generic words, and handling marks such as TLP. */
const saysNothing =
  /^(?:(?:tlp|pap|osint|type|misp|admiralty scale|estimative language|workflow|source)\b.*|(?:malicious|suspicious|anomalous|network)(?: (?:activity|host|ip|domain))?|unknown|other|none|attribution|(?:block|black|deny) ?list(?:ed)?|bad|threat|ioc|indicator|reputation|external analysis)?$/

/** `attack (high)`, `brute-force`, `tlp:clear`, `ssh:bruteforce`. */
const wordsOf = (category: string): string =>
  category
    .toLowerCase()
    .replace(/\s*\([^)]*\)$/, '')
    .replaceAll(/[\s_:./"=-]+/g, ' ')
    .trim()

/** The worst class among the categories of one source. */
export const classOfCategories = (categories: readonly string[]): ThreatClass => {
  let isBackground = false
  for (const category of categories) {
    const words = wordsOf(category)
    if (saysNothing.test(words)) continue
    if (!background.test(words) || serious.test(words)) return 'serious'
    isBackground = true
  }
  return isBackground ? 'background' : 'uncategorized'
}

/** The rank of a class, worst first; none comes last. */
export const placeOfClass = (one: ThreatClass | undefined): number =>
  one === undefined ? threatClasses.length : threatClasses.indexOf(one)

export const worstClass = (one: ThreatClass | undefined, other: ThreatClass): ThreatClass =>
  one === undefined || placeOfClass(other) < placeOfClass(one) ? other : one
