// Decides what kind of activity an event reports, and how a login or a request ended.
import type { Activity } from '../../domain/activity.js'
import type { Action } from '../../domain/sighting.js'
import { nothing, type ActionFound } from './action-text.js'
import { isAuthentication } from './action-words.js'
import type { ActivityField } from './activity-fields.js'
import { setOf, table } from './characters.js'
import { methodNames } from './request-line.js'
import {
  outcomeOfCall,
  outcomeOfCallError,
  outcomeOfNtStatus,
  outcomeOfRpc,
  outcomeOfSignIn,
  type LoginOutcome,
} from './login-codes.js'

/** ECS categories, Zeek's `_path`, Suricata's `event_type`, categories of Azure and of the Kubernetes API server. */
const categories = table<Activity>(
  [
    'login',
    `authentication signinlogs noninteractiveusersigninlogs serviceprincipalsigninlogs managedidentitysigninlogs administrative auditlogs ssh kerberos
     krb5 ldap radius audit.k8s.io/v1 admin#reports#activity`,
  ],
  ['query', 'dns'],
  ['mail', 'email smtp'],
  ['connection', 'network conn flow netflow ssl tls rdp'],
)

/** Windows: https://learn.microsoft.com/en-us/windows-server/identity/ad-ds/plan/appendix-l--events-to-monitor */
const windowsEvents = table<Activity>(
  ['login', '1149 4624 4625 4648 4768 4769 4771 4776 4778 6272 6273'],
  ['connection', '5150 5151 5152 5153 5154 5155 5156 5157 5158 5159'],
)
/** Events whose status gives the outcome. */
const withStatus = setOf('4625 4768 4769 4771 4776')

const methods = setOf(methodNames)
const writes = setOf('POST PUT DELETE PATCH')
const refused = setOf('401 403 407 429 444')

/** Lines of login products that the usual action words do not cover. */
const loginTexts: readonly (readonly [RegExp, Action])[] = [
  [
    /\bparent session started\b|\bassigned to session\b|\bPeer Connection Initiated with\b|\bIKE_SA \S+ established between\b|\bconnection authorized:|\bOK LOGIN\b|\b(?:SSLVPN|AAA) LOGIN\b|\bConnect\t\S+@|-login: Login: |\b[Aa]ccepted (?:password|publickey|keyboard-interactive|none|hostbased|gssapi)[\w/-]{0,40} for\b|\bon client computer .{1,80} connected to resource\b/,
    'allowed',
  ],
  [
    /\b[Ff]ailed (?:password|publickey|keyboard-interactive|none|hostbased|gssapi)[\w/-]{0,40} for\b|\b[Ii]nvalid user \S{0,80} from\b|\bauthenticating user \S{0,80} \S+ port \d+ \[preauth\]|\bFAIL LOGIN\b|\bAccess denied for user\b|\bAuth Username\/Password verification failed\b|\bon client computer .{1,80} did not meet\b/,
    'blocked',
  ],
]
/** `user.mfa.okta_verify.deny_push` */
const secondFactor = /(?<![a-z])(?:mfa|2fa)(?![a-z])/i
/** The description of a login begins with its outcome (`Successful login`); that of a rule, for instance, does not. */
const outcomeFirst = /^(?:successful|failed|wrong|invalid|incorrect) /i
/** A cheap test that runs before the expressions below, since most lines fail it. */
const mayBeLogin =
  /og(?:ged)?[ _-]?[io]n|LOG[IO]N|[Aa]uth|assw|ign(?:ed)?[ -]?[io]n|[Nn]valid user|for user|client computer|session started|to session|Connect\t|ion Initiated|IKE_SA|publickey|ccepted /
/** A login; a path (`/login`) or a host name (`login.example.net`) does not count. */
const login =
  /(?<![\w/.?=&%#-])(?:log(?:ged)?[ _-]?[io]n|log[io]ns?[_-]?(?:failed|denied|success|ok|allowed)?|sign(?:ed)?[ -]?[io]n|auth(?:entication|enticated?)?)(?![\w/.=-]*[/.=]\w)\b/i
/** Mail servers that put their name at the start of a line. */
const mailServers = [
  'postfix/',
  'exim[',
  'exim:',
  'exim4[',
  'sendmail[',
  'sm-mta[',
  'smtpd[',
  'amavis[',
  'rspamd',
] as const
const isOfMailServer = (text: string): boolean => {
  const head = text.slice(0, 100)
  return mailServers.some((name) => head.includes(name))
}
/** Postfix gives a message its queue id when it accepts it from a client. */
const takenMessage = /smtpd\[\d{1,10}\]: [\dA-Za-z]{6,20}: client=/

/** The findings of an event that its activity depends on. */
export type Ends = {
  /** The first address of each end. */
  readonly client: string | undefined
  readonly server: string | undefined
  /** The event holds a DNS query. */
  readonly hasQuery: boolean
  /** Whether an address is public and not one of ours. */
  readonly isOutside: (address: string) => boolean
}

type ActivityFound = {
  readonly activity: Activity
  readonly found: ActionFound
  readonly passwordAccepted: boolean
  /** A failed login, so the user name is not proven. */
  readonly isFailedLogin: boolean
}

export type ActivityFinder = ReturnType<typeof createActivityFinder>

/** Longer values are ignored. */
export const longestActivityWord = 64

export const createActivityFinder = () => {
  let isSeen = false
  let byFormat: Activity | undefined
  let category: Activity | undefined
  let isLogin = false
  let isCaller = false
  let isAnonymous = false
  let isMail = false
  /** A second factor was requested, so the first one was right. */
  let isSecondFactor = false
  /** A mail server accepted a message. */
  let isTaken = false
  let event = ''
  let ntStatus = ''
  let outcome: LoginOutcome | undefined
  /** Outcome of an API call; it counts when the caller has logged in. */
  let callOutcome: LoginOutcome | undefined
  let saw = ''
  let textAction: Action = 'unknown'
  let method = ''
  let status = ''

  const takeCategory = (value: string): void => {
    const said = categories.get(value.toLowerCase())
    if (said !== undefined && (category === undefined || category === 'connection' || said === 'login')) category = said
  }
  const seeEvent = (value: string): void => {
    if (secondFactor.test(value)) isLogin = isSecondFactor = true
    else if (!isAuthentication(value) && value !== 'tunnel-up') return
    isLogin = true
    // Keycloak's LOGIN is a success (a failure is LOGIN_ERROR), and so is tunnel-up of FortiGate's VPN.
    if (value === 'LOGIN' || value === 'tunnel-up') textAction = 'allowed'
  }
  const takeOutcome = (found: LoginOutcome | undefined, value: string): void => {
    if (found === undefined || (outcome !== undefined && outcome !== 'allowed')) return
    outcome = found
    saw = value
  }

  const actionOfLogin = (said: ActionFound, tried: ActionFound): ActionFound => {
    if (outcome !== undefined) return { action: outcome === 'allowed' ? 'allowed' : 'blocked', rule: 'login:code', saw }
    if (textAction !== 'unknown' && said.action === 'unknown')
      return { action: textAction, rule: 'login:text', saw: '' }
    if (said.action === 'unknown' && tried.action !== 'unknown') return tried
    // Without an error, a call of a logged-in caller succeeded.
    return said.action === 'unknown' && isCaller ? { action: 'allowed', rule: 'login:call', saw: '' } : said
  }

  const activityOf = (ends: Ends): Activity => {
    if (byFormat !== undefined) return byFormat
    const numbered = windowsEvents.get(event)
    if (numbered !== undefined) return numbered
    if (!isAnonymous && (isCaller || isLogin || category === 'login')) return 'login'
    if (category === 'query' || ends.hasQuery) return 'query'
    if (category === 'mail') return 'mail'
    if (method !== '') return isFromOutside(ends) ? 'request' : 'connection'
    return isMail ? 'mail' : (category ?? shapeOf(ends))
  }

  const actionOf = (activity: Activity): ActionFound => {
    if (activity === 'request') return actionOfStatus()
    return activity === 'mail' && isTaken ? { action: 'allowed', rule: 'mail:taken', saw: '' } : nothing
  }

  /** A redirect means allowed after a write only; 404 and 500 do not tell whether access was allowed. */
  const actionOfStatus = (): ActionFound => {
    const isServed = status === '101' || status.startsWith('2') || (status.startsWith('3') && writes.has(method))
    if (!isServed && !refused.has(status)) return nothing
    return { action: isServed ? 'allowed' : 'blocked', rule: 'request:status', saw: status }
  }

  return {
    /** Forgets the previous event. */
    reset: (): void => {
      if (!isSeen) return
      isSeen = false
      byFormat = category = outcome = callOutcome = undefined
      isLogin = isCaller = isAnonymous = isMail = isSecondFactor = isTaken = false
      event = ntStatus = saw = method = status = ''
      textAction = 'unknown'
    },
    /** A format sets the activity of its lines. */
    set: (activity: Activity): void => {
      isSeen = true
      byFormat = activity
    },
    see: (field: ActivityField, value: string): void => {
      if (value.length === 0 || value.length > longestActivityWord) return
      isSeen = true
      switch (field) {
        case 'kind':
          takeCategory(value)
          break
        case 'category':
          takeCategory(value)
          seeEvent(value)
          break
        case 'description':
          if (outcomeFirst.test(value)) seeEvent(value)
          break
        case 'event':
          seeEvent(value)
          break
        case 'factor':
          isSecondFactor = true
          break
        case 'edge':
          byFormat ??= 'request'
          if (/^[1-5]\d\d$/.test(value)) status ||= value
          break
        case 'id':
          event = value
          break
        case 'caller':
          isCaller = true
          break
        case 'user':
          isAnonymous ||= value === 'system:anonymous'
          break
        case 'method':
          if (methods.has(value)) method ||= value
          break
        case 'status':
          if (/^[1-5]\d\d$/.test(value)) status ||= value
          else if (value.startsWith('0x')) ntStatus ||= value
          break
        case 'ntStatus':
          // `status` gives a general reason (bad user name or password); the sub-status gives the exact one.
          if (value.startsWith('0x') && !/^0x0+$/.test(value)) ntStatus = value
          break
        case 'signInCode':
          takeOutcome(outcomeOfSignIn(value), value)
          break
        case 'callError':
          callOutcome ??= outcomeOfCallError(value)
          break
        case 'rpcCode':
          callOutcome ??= outcomeOfRpc(value)
          break
        case 'callStatus':
          callOutcome ??= outcomeOfCall(value)
          break
        case 'mail':
          isMail ||= value.includes('@')
      }
    },
    /** `GET /index.html HTTP/1.1` */
    seeRequestLine: (text: string): void => {
      const blank = text.indexOf(' ')
      if (blank < 3 || blank > 9 || !methods.has(text.slice(0, blank))) return
      isSeen = true
      method ||= text.slice(0, blank)
    },
    /** A line about a request that names its method and status in any order. */
    seeRequest: (named: string, answered: string): void => {
      isSeen = true
      method ||= named
      status ||= answered
    },
    seeText: (text: string): void => {
      const head = text.length > 600 ? text.slice(0, 600) : text
      if (isOfMailServer(head)) {
        isSeen = isMail = true
        isTaken = takenMessage.test(head)
      }
      if (!mayBeLogin.test(head)) return
      for (const [words, action] of loginTexts)
        if (words.test(head)) {
          isSeen = isLogin = true
          textAction = action
          return
        }
      if (login.test(head)) isSeen = isLogin = true
    },
    /** Whether the event is an HTTP request. */
    isRequest: (): boolean => method !== '' || byFormat === 'request',
    /** `tried`: the outcome, for the case that the event is a login. */
    result: (said: ActionFound, tried: ActionFound, ends: Ends): ActivityFound => {
      if (!isSeen) return { activity: shapeOf(ends), found: said, passwordAccepted: false, isFailedLogin: false }
      const activity = activityOf(ends)
      if (activity === 'login') {
        if (isCaller || category === 'login') takeOutcome(callOutcome, '')
        if (ntStatus !== '' && (event === '' || withStatus.has(event)))
          takeOutcome(outcomeOfNtStatus(ntStatus), ntStatus)
        const found = actionOfLogin(said, tried)
        const isRefused = outcome === 'stopped' || (isSecondFactor && found.action === 'blocked')
        const stopped = isRefused && !isAnonymous
        const isFailedLogin = found.action === 'blocked' && !stopped && !isCaller
        return { activity, found, passwordAccepted: stopped, isFailedLogin }
      }
      const found = said.action === 'unknown' ? actionOf(activity) : said
      return { activity, found, passwordAccepted: false, isFailedLogin: false }
    },
  }
}

const isFromOutside = ({ client, server, isOutside }: Ends): boolean =>
  client !== undefined && isOutside(client) && !(server !== undefined && isOutside(server))

const shapeOf = ({ hasQuery, client, server }: Ends): Activity =>
  hasQuery ? 'query' : client !== undefined && server !== undefined ? 'connection' : 'other'
