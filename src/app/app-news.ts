// The news that parts of a running program have for each other.
import { createNews, type News } from '../base/news.js'
import type { Finding, Known } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'

export type AppNews = News<{
  /** A feed was swapped, or an entry of one became valid. */
  'feeds changed': []
  /** An answer that is malicious in some role was remembered. */
  accused: [asked: Indicator, finding: Known]
  /** An answer was remembered. */
  answered: [asked: Indicator]
  /** An answer was paid for here. */
  paid: [asked: Indicator, finding: Finding]
}>

export const createAppNews = (): AppNews => createNews()
