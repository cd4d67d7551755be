// Looks up a domain: the reports of its hosts, those of the account's own scans, and one full report, as configured.
import { ratings, type Answered, type Facts, type Finding, type HostReport, type Unknown } from '../domain/finding.js'
import type { Call } from '../domain/lookup.js'
import { dueOperation, nameOperations, type Choice, type NameChoices } from '../domain/operation-choice.js'
import { registrableDomain } from '../domain/public-suffix.js'
import type { ProviderAnswer } from './client.js'
import { aboutElse } from './classify.js'
import { createPersonalReports } from './personal-reports.js'
import { transmit, type CallContext } from './transmit.js'

export type DomainSettings = {
  readonly maxAgeDays: number
  readonly operations: NameChoices
}

/** Makes the calls that are due without waiting, and returns `pending` until there is a result. */
export type StepScan = (name: string, call: Call) => Promise<Finding>

const dayMs = 86_400_000

type Answers = ReadonlyMap<string, Answered>

/** `scan` is used for names without a recent report; absent if scans are off. */
export const createAskDomain = (context: CallContext, settings: DomainSettings, scan?: StepScan) => {
  const personal = createPersonalReports(context)

  const list = async (operation: string, name: string, call: Call): Promise<Answered | Unknown> => {
    if (operation === 'domain/reports/personal') return personal(registrableDomain(name) ?? name, call)
    const answer = await transmit(context, call, 'domain/reports', { query: name })
    if (answer.status === 'unknown')
      return answer.reason === 'not_found' && answer.at !== undefined ? { operation, at: answer.at } : answer
    const now = context.now()
    const facts = answer.read.reportsFacts(answer.body, registrableDomain(name) ?? name, now)
    return { operation, at: answer.at ?? now, facts }
  }

  return async (name: string, call: Call, former: readonly Answered[] = []): Promise<Finding> => {
    const domain = registrableDomain(name) ?? name
    const answers = new Map(former.map((answer) => [answer.operation, answer]))
    const formerReport = answers.get(reportOperation)
    answers.delete(reportOperation)
    for (;;) {
      const due = dueList(settings, answers, context.now())
      if (due === undefined) break
      const answer = await list(`domain/${due}`, name, call)
      if ('status' in answer) return answer
      answers.set(answer.operation, answer)
      // Entries in the lists of the provider decide without further calls.
      if (answer.facts?.listings) return domainFinding(answers, domain)
    }
    const rows = rowsOf(answers)
    if (![...answers.values()].some(({ facts }) => facts)) return domainFinding(answers, domain)
    const recent = recentRows(rows, settings, context.now())
    if (scan && !recent.some(({ host }) => host === name || host === domain || host === `www.${domain}`)) {
      const scanned = await scan(name, call)
      if (scanned.status === 'known')
        return { ...scanned, facts: withRows(scanned.facts, rows), operations: [...answers.keys(), scanOperation] }
      if (rows.length === 0 || scanned.reason !== 'not_found') return scanned
    }
    const row = rowToReport(recent, domain, settings.operations.report)
    if (row?.scanId === undefined) return domainFinding(answers, domain)
    const sameReport = formerReport?.facts?.hosts?.some(
      ({ host, scanId }) => host === row.host && scanId === row.scanId,
    )
    const report = sameReport === true ? formerReport : await readReport(context, call, row, row.scanId, domain)
    if (report) answers.set(report.operation, report)
    return domainFinding(answers, domain)
  }
}

const reportOperation = 'domain/report'
const scanOperation = 'domain/scan'

/** The next list of reports to fetch. */
const dueList = (settings: DomainSettings, answers: Answers, now: number): Choosable | undefined => {
  const recent = recentRows(rowsOf(answers), settings, now)
  return dueOperation<Choosable>(lists, settings.operations, (name) => answers.has(`domain/${name}`), {
    isUnclean: () => !recent.some(isHarmless) || recent.some((row) => !isHarmless(row)),
    isAccused: () => recent.some((row) => rank(row) >= moderate),
  })
}

type Choosable = 'reports' | 'reports/personal'
const lists = nameOperations.filter((name): name is Choosable => name !== 'report')

/** Whether the finding needs no further call; a report that failed to load counts as missing. */
export const isNameComplete = (finding: Finding, name: string, settings: DomainSettings, now: number): boolean => {
  const { operations = [] } = finding
  const answers = new Map<string, Answered>(operations.map((operation) => [operation, { operation, at: 0 }]))
  const facts = finding.status === 'known' ? finding.facts : undefined
  if (facts?.listings || operations.includes(scanOperation)) return true
  const [first] = operations
  if (first !== undefined && facts) answers.set(first, { operation: first, at: 0, facts })
  if (dueList(settings, answers, now) !== undefined) return false
  const recent = recentRows(facts?.hosts ?? [], settings, now)
  const row = rowToReport(recent, registrableDomain(name) ?? name, settings.operations.report)
  return row?.scanId === undefined || operations.includes(reportOperation)
}

const rowsOf = (answers: Answers): readonly HostReport[] => {
  const newest = new Map<string, HostReport>()
  for (const { facts } of answers.values())
    for (const row of facts?.hosts ?? [])
      if (!newest.has(row.host) || (row.at ?? 0) > (newest.get(row.host)?.at ?? 0)) newest.set(row.host, row)
  return [...newest.values()]
}

const recentRows = (
  rows: readonly HostReport[],
  { maxAgeDays }: { readonly maxAgeDays: number },
  now: number,
): readonly HostReport[] => rows.filter(({ at }) => at !== undefined && now - at < maxAgeDays * dayMs)

const domainFinding = (answers: Answers, domain: string): Finding => {
  const all = [...answers.values()]
  const at = Math.min(...all.map((answer) => answer.at))
  const operations = all.map(({ operation }) => operation)
  const report = answers.get(reportOperation)?.facts ?? { flags: {}, categories: [], hosts: [] }
  const rows = rowsOf(new Map([...answers].filter(([operation]) => operation !== reportOperation)))
  const listings = all.flatMap(({ facts }) => facts?.listings ?? [])
  const facts: Facts = { ...withRows(report, rows), domain, ...(listings.length > 0 && { listings }) }
  if (facts.hosts?.length === 0 && listings.length === 0)
    return { status: 'unknown', reason: 'not_found', at, operations }
  return { status: 'known', facts, source: 'service', at, operations, ...(all.length > 1 && { answers: all }) }
}

/** Adds rows of other hosts; existing, more detailed ones stay. */
const withRows = (facts: Facts, rows: readonly HostReport[]): Facts => {
  const better = facts.hosts ?? []
  return { ...facts, hosts: [...better, ...rows.filter((row) => !better.some(({ host }) => host === row.host))] }
}

const moderate = ratings.indexOf('moderate')
const rank = ({ rating }: HostReport): number => (rating === undefined ? 0 : ratings.indexOf(rating))
const isHarmless = (row: HostReport): boolean => row.rating !== undefined && rank(row) < moderate

/** At most one report: for the worst-rated host, else for the domain itself. */
const rowToReport = (rows: readonly HostReport[], domain: string, wanted: Choice): HostReport | undefined => {
  if (wanted === 'never') return undefined
  let worst: HostReport | undefined
  for (const row of rows) if (!worst || rank(row) > rank(worst)) worst = row
  if (worst && rank(worst) >= moderate) return worst
  if (wanted === 'accused') return undefined
  if (wanted === 'unclean') return rows.find((row) => !isHarmless(row))
  return rows.find(({ host }) => host === domain || host === `www.${domain}`) ?? worst
}

/** If the report fails to load, the facts of its row still hold. */
const readReport = async (
  context: CallContext,
  call: Call,
  row: HostReport,
  id: string,
  domain: string,
): Promise<Answered | undefined> => {
  const answer = await transmit(context, call, reportOperation, { id }, domainMisfit(domain))
  if (answer.status === 'unknown') return undefined
  const now = context.now()
  const hosts = [answer.read.reportFacts(answer.body, row, now)]
  return { operation: reportOperation, at: answer.at ?? now, facts: { flags: {}, categories: [], hosts } }
}

export const domainMisfit =
  (domain: string) =>
  ({ body, read }: Pick<ProviderAnswer, 'body' | 'read'>): string | undefined => {
    const subjects = read.reportSubjects(body)
    const isAbout = subjects.length === 0 || subjects.some((host) => host === domain || host.endsWith(`.${domain}`))
    return isAbout ? undefined : aboutElse
  }
