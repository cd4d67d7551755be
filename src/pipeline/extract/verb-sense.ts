// Decides from the words around a verb whether it was done, its opposite was, or the text does not tell (a list, a count, an intention).

type Sense = 'done' | 'opposite' | 'doubtful'

/** The longest text before a verb that can change its meaning. */
const reach = 64
const reachBehind = 32

const negation =
  /(?:(?<![a-z])(?:not|never|cannot|no longer|unable to|fail(?:ed|s|ure|ing)? to)|n't)(?: (?:be|been|being|have|has|get|got|to|yet|successfully)){0,3} $/i
/** `has not accepted any` reports no decision; `has not been accepted` is a refusal. */
const notYet = /\b(?:has|have|had)(?: not|n't)(?: yet)? $/i
/** Verbs that decide over access; traffic that is not decrypted or not monitored passes all the same. */
const isAccess =
  /^(?:allow|accept|permit|pass|grant|author|trust|forward|relay|deliver|release|succe|ok|log|sign|block|den[yi]|drop|reject|refus|discard|prevent|quarantin|kill|forbid|disallow|ban)/i

/** Words for an intention or a possibility; a request (`requested to`) was carried out. */
const intention =
  /(?<![a-z])(?:(?<!\b(?:requested|asked|instructed|decided) )to|will|would|could|may|might|can|should|must|shall|please)(?: (?:be|automatically|also|always|now))? $/i
const beforeDoubtful = [
  // Counts and limits.
  /(?<![a-z])(?:number|count|amount|percentage|list|total) of (?:[\w-]+ ){0,3}$|(?<![a-z])(?:max(?:imum)?|min(?:imum)?|above the|below the|than the) $|(?<![\d.:])0 (?:\([\d.%]+\) )?(?:[a-z]+ )?$/i,
  // A setting with that word in its name was changed.
  /(?<![a-z])(?:modif|creat|add|delet|remov|updat|chang|configur|renam|edit|import)(?:y|e|ing|ed|ied)\b[^.;]{0,32}$/i,
  // The check of a mail, and not what happened to it.
  /(?<![a-z])(?:spf|dkim|dmarc|bimi|compauth|iprev)(?![a-z]).{0,10}$/i,
  // A waiting thread, or code.
  /\bthreads?\b[^:]{0,40}$|`$/i,
]
/** Words that turn the verb before them into a name (`allowed value`, `blocked senders`, `drop rate`); also a key, or a count of zero. */
const afterDoubtful =
  /^[ _-](?:values?|ranges?|limits?|numbers?|size|length|rate|counts?|counters?|lists?|pools?|threads?|members?|exceptions?|sites|segments|senders|methods|origins|threshold|quota)(?![a-z])|^["']\s?[:=]|^\*|^["']?\s?[=:]\s?"?0(?![\d.])/i
/** `added 192.0.2.1 to ban list` */
const listed = /(?<![a-z])(?:add(?:ed|ing)?|put)\b.{0,56}\b(?:to|on) (?:the )?$/i
const list = /^[ _-]?list(?![a-z])/i
const afterImperative = /^[ _-](?:attempt|error|reason|code|mode|type|device|storage)(?![a-z])/i
const isParticiple = /(?:ed|en|ing)$/i

/** The sense of the verb from `start` to `end`; single blanks separate its words. */
export const senseOf = (text: string, start: number, end: number): Sense => {
  const before = text.slice(Math.max(0, start - reach), start)
  const after = text.slice(end, end + reachBehind)
  const verb = text.slice(start, end)
  if (negation.test(before)) return notYet.test(before) || !isAccess.test(verb) ? 'doubtful' : 'opposite'
  if (list.test(after) && listed.test(before)) return 'done'
  if (afterDoubtful.test(after)) return 'doubtful'
  // `accept attempt`; `failed login attempt` already tells the outcome.
  const isPhrase = verb.includes(' ')
  if (!isPhrase && ((!isParticiple.test(verb) && afterImperative.test(after)) || intention.test(before)))
    return 'doubtful'
  if (beforeDoubtful.some((words) => words.test(before))) return 'doubtful'
  return isOther(verb, before, after) ? 'doubtful' : 'done'
}

/** Verbs that mean something else next to certain words. */
const isOther = (verb: string, before: string, after: string): boolean => {
  switch (verb.toLowerCase()) {
    case 'refused':
      // The port was closed: no policy decided.
      return /(?<![a-z])connection $/i.test(before) && !/^ (?:from|by)\b/i.test(after)
    case 'forwarded':
      return /^[ _-]for(?![a-z])/i.test(after)
    case 'blacklisted':
      return /^ (?:protocol|traffic|tcp|udp|icmp|domain|address|ip|url|host|site|sender|server|source|destination)\b/i.test(
        after,
      )
    case 'discard':
    case 'discarding':
      return /^ \w/.test(after) && !/^ (?:\w+ )?(?:packet|frame|connection|session|traffic|tcp|udp|icmp)/i.test(after)
    default:
      return false
  }
}

const change =
  /(?<![a-z])(?:create|add|remove|delete|update|modify|modifie|change|edit|rename|enable|disable|set|setting)[sd]?(?![a-z])/
/** Objects of a block by hand or of a change: `block_user`, `allow_app`. */
const whom = /^ (?:user|account|sender|contact|caller|member|number|device|app|application|rule|policy|role)s?(?![a-z])/

/** The sense of a verb in an event's name: `block_user`, `blocked_sender_change`, `CreateTrustAnchor` report a change of settings. */
export const senseInName = (name: string, start: number, end: number): Sense => {
  const after = name.slice(end)
  if (after.trim() !== '' && change.test(name)) return 'doubtful'
  return whom.test(after) && !isParticiple.test(name.slice(start, end)) ? 'doubtful' : senseOf(name, start, end)
}
