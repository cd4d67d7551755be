// Reads the answers of a lookup service by its profile.
import type { ServiceProfile } from '../domain/service-profile.js'
import { createRatingAt, numberAt, textAt, type At } from './fact-at.js'
import { createAddressReader, type AddressReader } from './facts.js'
import { createReportReader, type ReportReader } from './report-facts.js'

export type AnswerReader = AddressReader &
  ReportReader & {
    readonly scanId: At<string>
    readonly scanPercent: At<number>
    readonly account: { readonly [name in keyof ServiceProfile['answers']['account']]-?: At<string> }
  }

export const createAnswerReader = ({ answers, ratings }: ServiceProfile): AnswerReader => {
  const ratingAt = createRatingAt(ratings)
  const { scan, account } = answers
  return {
    ...createAddressReader(answers.address, ratingAt),
    ...createReportReader(answers.reports, answers.report, ratingAt),
    scanId: textAt(scan.id, 64),
    scanPercent: numberAt(scan.percent),
    account: {
      plan: textAt(account.plan, 64),
      quota: textAt(account.quota, 64),
      memberSince: textAt(account.memberSince, 64),
      planSince: textAt(account.planSince, 64),
      lastSeen: textAt(account.lastSeen, 64),
      email: textAt(account.email, 64),
      key: textAt(account.key, 64),
    },
  }
}
