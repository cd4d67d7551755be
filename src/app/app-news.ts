// News that parts of a running program announce to each other.
import { createNews, type News } from '../base/news.js'
import type { Finding, Known } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'

export type AppNews = News<{
  /** A feed was replaced, or one of its entries became valid. */
  'feeds changed': []
  /** An answer with a malicious verdict in some role was stored. */
  accused: [asked: Indicator, finding: Known]
  /** An answer was stored. */
  answered: [asked: Indicator]
  /** This process paid for an answer. */
  paid: [asked: Indicator, finding: Finding]
}>

export const createAppNews = (): AppNews => createNews()
