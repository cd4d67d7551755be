// A day at five web sites: 400 listed scanners reach port 443, among ordinary visitors and 60 attacks.
import type { RuleLevel } from '../../src/alerts/sigma/rule.js'

export type DayShape = {
  /** Whether the list categorises them as scanners, instead of only listing them. */
  readonly hasCategories: boolean
  /** Whether replies of connections are logged as separate flows. */
  readonly hasReplies: boolean
}

type Attack = { readonly indicator: string; readonly level: RuleLevel }

export type DayOfScans = {
  readonly scanners: readonly string[]
  readonly attackers: readonly string[]
  readonly names: readonly string[]
  readonly attacks: readonly Attack[]
  /** Ordered by time. */
  readonly events: readonly { readonly line: string; readonly attack: Attack | undefined }[]
}

const scannerCount = 400
const siteCount = 5
const daySeconds = 86_400
const midnight = Date.UTC(2026, 10, 15) / 1000

const scanner = (n: number): string => (n < 200 ? `192.0.2.${n + 1}` : `203.0.113.${n - 199}`)
/** Listed only as command and control. */
const attacker = (n: number): string => `203.0.113.${n + 201}`
const visitor = (n: number): string => `198.51.100.${n + 1}`
const site = (n: number): string => `10.0.0.${n + 11}`
const workplace = (n: number): string => `10.0.1.${n + 11}`
const badName = 'bad.example.net'

const range = (count: number): readonly number[] => [...Array(count).keys()]

const syslogTime = (second: number): string => `Nov 15 ${new Date(second * 1000).toISOString().slice(11, 19)}`
const isoTime = (second: number): string => new Date(second * 1000).toISOString()

type Timed = { readonly second: number; readonly line: string; readonly attack: Attack | undefined }

export const dayOfScans = ({ hasCategories, hasReplies }: DayShape): DayOfScans => {
  const events: Timed[] = []
  const attacks: Attack[] = []

  const flow = (second: number, from: string, to: string, port: number, attack?: Attack): void => {
    const high = 49_152 + (second % 16_000)
    const add = (source: string, target: string, ports: string): void => {
      const line = `2 123456789012 eni-0a1b2c3d ${source} ${target} ${ports} 6 20 4249 ${second} ${second + 60} ACCEPT OK`
      events.push({ second, line, attack })
    }
    add(from, to, `${high} ${port}`)
    if (hasReplies) add(to, from, `${port} ${high}`)
  }
  /** Spreads the attacks over the day, so that each falls between scans. */
  const attack = (indicator: string, level: RuleLevel, write: (second: number, one: Attack) => void): void => {
    const one = { indicator, level }
    write(midnight + ((attacks.length * 1427 + 500) % daySeconds), one)
    attacks.push(one)
  }
  const told =
    (text: (second: number) => string) =>
    (second: number, one: Attack): void =>
      void events.push({ second, line: text(second), attack: one })

  // Half of the scanners return five hours later.
  for (const n of range(scannerCount))
    for (const at of range(siteCount)) {
      const second = midnight + ((n * 613 + at * 17_291) % daySeconds)
      flow(second, scanner(n), site(at), 443)
      if (n % 2 === 0) flow(midnight + ((second - midnight + 18_000) % daySeconds), scanner(n), site(at), 443)
    }
  for (const n of range(200)) {
    flow(midnight + n * 431, visitor(n), site(n % siteCount), 443)
    flow(midnight + n * 433, workplace(n), visitor(n), 443)
  }

  for (const n of range(12))
    attack(scanner(n * 30), 'high', told((second) => `${syslogTime(second)} web-1 sshd[811]: Accepted password for user${n} from ${scanner(n * 30)} port 40022 ssh2`)) // prettier-ignore
  for (const n of range(6))
    attack(attacker(n), 'high', told((second) => `${syslogTime(second)} web-1 sshd[811]: Accepted password for root from ${attacker(n)} port 40022 ssh2`)) // prettier-ignore
  for (const n of range(4))
    attack(
      scanner(n * 30 + 1),
      'high',
      told((second) =>
        JSON.stringify({
          published: isoTime(second),
          eventType: 'user.session.start',
          actor: { type: 'User', alternateId: `user${n}@example.com` },
          client: { ipAddress: scanner(n * 30 + 1) },
          outcome: { result: 'SUCCESS' },
        }),
      ),
    )
  for (const n of range(3))
    attack(
      scanner(n * 30 + 2),
      'medium',
      told((second) =>
        JSON.stringify({
          time: isoTime(second),
          operationName: 'Sign-in activity',
          category: 'SignInLogs',
          resultType: '50074',
          callerIpAddress: scanner(n * 30 + 2),
          properties: { userPrincipalName: `user${n}@example.com`, status: { errorCode: 50_074 } },
        }),
      ),
    )
  const ports = [22, 3389, 3306, 5432, 445]
  for (const n of range(10))
    attack(attacker(n + 6), 'high', (second, one) =>
      flow(second, attacker(n + 6), site(n % siteCount), ports[n % ports.length] ?? 22, one),
    )
  for (const n of range(10))
    attack(attacker(n + 16), 'high', (second, one) => flow(second, workplace(n), attacker(n + 16), 443, one))
  for (const n of range(4))
    attack(scanner(n * 30 + 3), hasCategories ? 'medium' : 'high', (second, one) =>
      flow(second, workplace(n + 10), scanner(n * 30 + 3), 443, one),
    )
  for (const n of range(5))
    attack(attacker(n + 26), 'medium', (second, one) => flow(second, attacker(n + 26), site(n), 443, one))
  for (const n of range(4))
    attack(badName, 'high', told((second) => `${syslogTime(second)} gw dnsmasq[811]: query[A] ${badName} from ${workplace(n + 20)}`)) // prettier-ignore
  for (const n of range(2))
    attack(attacker(n + 31), 'medium', told((second) => `${syslogTime(second)} gw dnsmasq[811]: reply www.example.net is ${attacker(n + 31)}`)) // prettier-ignore

  return {
    scanners: range(scannerCount).map(scanner),
    attackers: range(33).map(attacker),
    names: [badName],
    attacks,
    events: events.toSorted((one, other) => one.second - other.second),
  }
}
