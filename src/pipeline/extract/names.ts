// Tells host names in free text from lookalikes: file names, code, application names.
import { hasPublicSuffix } from '../../domain/public-suffix.js'
import { setOf } from './characters.js'

/** File extensions that are also top-level domains; in free text a file is more likely. */
const fileEndings = setOf('ai app as bz cab cc do dot inc java md mov mp pl pm ps pub py rs sh sk so st tf zip mobi')

/**
 * Top-level domains that are ordinary words and occur in names of applications, rules and fields: `Google.Services`, `block-social.media`.
 * Such a name is a host only if the text says so.
 */
const wordEndings = setOf(
  `services media name id info host network app email cloud games game video chat download social news data zone center support systems solutions tools
   page link click world group online site website store shop business company software technology security digital live stream audio web directory
   management marketing finance money bank insurance health care academy school training engineering energy events city place country international
   foundation community studio design art photo photos pictures pics travel tours flights camera cam phone mobile computer box drive docs blog forum storage
   read open call select save date foo new now show target watch build bot case channel contact direct next room menu safe secure shell zero properties property
   protection author auto`,
)

export const isNameInText = (name: string, text: string, start: number, end: number): boolean => {
  const dot = name.lastIndexOf('.')
  if (dot <= 0 || name.length < 4) return false
  const ending = name.slice(dot + 1)
  if (ending.length < 2 || !hasPublicSuffix(name)) return false
  if (isReversed(name, ending)) return false
  const isTwoLabels = name.indexOf('.') === dot
  if (fileEndings.has(ending) && (isTwoLabels || ending.length > 2)) return false
  if (isTwoLabels && name.includes('_')) return false
  if (isTwoLabels && wordEndings.has(ending) && !isSaidToBeHost(text, start, end)) return false
  // A run of single letters or numbers is an abbreviation, a version or padding.
  return /[a-z]/.test(name.slice(0, dot)) && !/^[a-z](\.[a-z])*\.[a-z]{2}$/.test(name)
}

/** `query: shop.example`, `resolved "shop.example"`, `connecting to shop.example`. */
const hostBefore =
  /\b(?:quer(?:y|ied|ying)|resolv(?:e|ed|ing)|look(?:up|ed up)|domain|dns|sni|fqdn|host(?:name)?|(?:web)?site|server|(?:connect(?:ed|ing|ion)?|request|tunnel) to|visit(?:ed|ing)?|(?:lookup|query|queried) for)(?: name)?["']?[\s:=]{1,3}["'[(<]{0,2}$/i
/** `shop.example. IN A`, `shop.example:443`. */
const hostAfter = /^(?:\.? IN [A-Z]{1,6}\b|:(?:443|80|8443|8080)(?!\d))/

const isSaidToBeHost = (text: string, start: number, end: number): boolean =>
  hostBefore.test(text.slice(Math.max(0, start - 32), start)) || hostAfter.test(text.slice(end, end + 12))

/** `xxx.xxx.xxx.xxx`: a masked address. */
export const isMasked = (name: string): boolean => name.startsWith('x') && /^(?:x+|\d+)(?:\.(?:x+|\d+))+$/.test(name)

/** Packages, loggers and labels begin with a top-level domain: `org.example.web.services`, `io.example.pod.name`. */
const isReversed = (name: string, ending: string): boolean =>
  /^(?:com|org|net|io|edu|gov|javax?|jakarta|sun|android)\.[^.]+\./.test(name) &&
  !/^(?:com|net|org|edu|gov|int|[a-z]{2})$/.test(ending)
