// Answers each operation from local data: a table with one line per operation.
import type { Priority } from '../lookup/admission/queue.js'
import type { OperationName } from '../domain/operations.js'
import { timeText, wrapped, type OperationAnswer } from './answer.js'
import { bannerSearch, bannerStats } from './answers/banner.js'
import {
  domainReport,
  domainReports,
  domainReportsPersonal,
  domainScan,
  domainStatus,
  type DomainView,
} from './answers/domain.js'
import { exploitSearch } from './answers/exploit.js'
import {
  ipData,
  ipHosting,
  ipIsSafeDnsServer,
  ipMaliciousInfo,
  ipPrivacyThreat,
  ipSummary,
  ipSuspiciousInfo,
  ipVpn,
  type AddressView,
} from './answers/ip.js'
import type { Caller } from './callers.js'
import { createFindRows } from './local/find-rows.js'
import type { Intelligence } from './local/intelligence.js'
import type { Reports } from './local/reports.js'
import type { Values } from './parameters.js'
import type { ScanQueue } from './scan/scan-queue.js'
import type { ScanStore } from './scan/scan-store.js'

type LocalSources = {
  readonly intelligence: Intelligence
  readonly reports: Reports
  readonly store: ScanStore
  readonly queue: ScanQueue | undefined
  readonly now: () => number
}

export type AnswerOperation = (
  name: OperationName,
  values: Values,
  caller: Caller,
  /** The order of requests that have to wait. */
  priority: Priority,
) => OperationAnswer | Promise<OperationAnswer>

export const createAnswerLocally = (sources: LocalSources): AnswerOperation => {
  const { intelligence, reports, now } = sources
  const aboutAddress = (ip: string) => intelligence.aboutAddress(ip, reports.seenOn(ip))
  const address = ({ ip, full }: Values): AddressView => ({
    about: aboutAddress(String(ip)),
    exploitsOf: intelligence.exploitsOf,
    now: now(),
    full: full === true,
  })
  const findRows = createFindRows()
  const domain = ({ key }: Caller): DomainView => ({ ...sources, findRows, caller: key.name })
  const { exploits } = intelligence
  const banners = ({ key }: Caller) => ({ banners: intelligence.banners, aboutAddress, findRows, caller: key.name })
  const query = ({ query }: Values): string => String(query)
  const offset = ({ offset }: Values): number => Number(offset ?? 0)
  const id = ({ id }: Values): number => Number(id)

  const table: Readonly<
    Record<OperationName, (values: Values, caller: Caller) => OperationAnswer | Promise<OperationAnswer>>
  > = {
    'user/me': (_, caller) => account(caller, now()),
    'ip/data': (values) => ipData(address(values)),
    'ip/summary': (values) => ipSummary(address(values)),
    'ip/vpn': (values) => ipVpn(address(values)),
    'ip/hosting': (values) => ipHosting(address(values)),
    'ip/malicious-info': (values) => ipMaliciousInfo(address(values)),
    'ip/privacy-threat': (values) => ipPrivacyThreat(address(values)),
    'ip/is_safe_dns_server': (values) => ipIsSafeDnsServer(address(values)),
    'ip/suspicious_info': (values) => ipSuspiciousInfo(address(values)),
    'banner/search': (values, caller) => bannerSearch(banners(caller), query(values), offset(values)),
    'banner/stats': (values, caller) => bannerStats(banners(caller), query(values)),
    'domain/reports': (values, caller) => domainReports(domain(caller), query(values), offset(values)),
    'domain/reports/personal': (values, caller) =>
      domainReportsPersonal(
        domain(caller),
        { showPublic: values.show_public === true, showPrivate: values.show_private === true },
        offset(values),
      ),
    'domain/report': (values, caller) => domainReport(domain(caller), id(values)),
    'domain/status': (values, caller) => domainStatus(domain(caller), id(values)),
    'domain/scan': (values, caller) => domainScan(domain(caller), query(values), false),
    'domain/scan/private': (values, caller) => domainScan(domain(caller), query(values), true),
    'exploit/search': (values, { key }) =>
      exploitSearch({ exploits, findRows, caller: key.name }, query(values), offset(values)),
  }
  return (name, values, caller) => table[name](values, caller)
}

/** The answer never contains the key itself. */
const account = ({ key, usedCredits }: Caller, now: number): OperationAnswer =>
  wrapped(
    {
      account_type: key.plan.name,
      api_key: '********',
      email: '',
      name: key.name,
      last_access_date: timeText(now),
      membership_date: '',
      max_search: key.plan.credits === undefined ? 'unlimited' : String(key.plan.credits),
      used_search: usedCredits,
      company_name: null,
      plan_date: null,
    },
    true,
  )
