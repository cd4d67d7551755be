// Tells whether what stands before a word says the opposite of it: `was not accepted`, `failed to log in`.

const negation =
  /(?:(?<![a-z])(?:not|never|cannot|no longer|unable to|fail(?:ed|s|ure|ing)? to)|n't)(?: (?:be|been|being|have|has|get|got|to|yet|successfully)){0,3} $/i
/** The longest of them, with the words that may stand between. */
const reach = 48

/** `at` is where the word begins; words are separated by one blank. */
export const isNegated = (text: string, at: number): boolean => negation.test(text.slice(Math.max(0, at - reach), at))
