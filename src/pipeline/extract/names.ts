// Tells a host name in free text from what only looks like one: file names, code, application names.
import { hasPublicSuffix } from '../../domain/public-suffix.js'
import { setOf } from './characters.js'

/** Endings of file names that are top-level domains too; in free text the file is the likelier reading. */
const fileEndings = setOf('ai app as bz cab cc do dot inc java md mov mp pl pm ps pub py rs sh sk so st tf zip mobi')

/** Endings that are ordinary words and stand in names of applications, rules and fields: `Google.Services`, `block-social.media`. */
const wordEndings = setOf(
  `services media name id info host network app email cloud games game video chat download social news data zone center support systems solutions tools
   page link click world group online site website store shop business company software technology security digital live stream audio web directory
   management marketing finance money bank insurance health care academy school training engineering energy events city place country international
   foundation community studio design art photo photos pictures pics travel tours flights camera cam phone mobile computer box drive docs blog forum storage`,
)

export const isNameInText = (name: string): boolean => {
  const dot = name.lastIndexOf('.')
  if (dot <= 0 || name.length < 4) return false
  const ending = name.slice(dot + 1)
  if (ending.length < 2 || !hasPublicSuffix(name)) return false
  const isTwoLabels = name.indexOf('.') === dot
  if (fileEndings.has(ending) && (isTwoLabels || ending.length > 2)) return false
  if (isTwoLabels && (wordEndings.has(ending) || name.includes('_'))) return false
  // A run of single letters or numbers is an abbreviation, a version or padding.
  return /[a-z]/.test(name.slice(0, dot)) && !/^[a-z](\.[a-z])*\.[a-z]{2}$/.test(name)
}
