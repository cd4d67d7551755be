// The codes and words by which products report the outcome of a login or an authenticated call.
import { setOf, table } from './characters.js'

/** `stopped`: the password or key was right, and a second factor or a policy refused. */
export type LoginOutcome = 'allowed' | 'blocked' | 'stopped'

/**
 * Microsoft Entra ID: a code other than 0 is a failure. With the codes below the password was right.
 * https://learn.microsoft.com/en-us/entra/identity-platform/reference-error-codes
 */
const entraStopped =
  setOf(`50055 50072 50074 50076 50078 50079 50097 50105 50125 50131 50144 50158 50203 53000 53001 53002 53003 53004 53008 53009 53010 53011
  500121 530031 530032 530034 135010`)

/**
 * Status of 4625 and of 4776: Windows checks the password before it reports one of these.
 * https://learn.microsoft.com/en-us/previous-versions/windows/it-pro/windows-10/security/threat-protection/auditing/event-4625
 */
const ntStopped = setOf('0xc000006e 0xc000006f 0xc0000070 0xc0000071 0xc0000193 0xc000015b 0xc0000224')

/** AWS errors: a valid key without the permission, or an invalid key. Other errors come after both checks. */
const callErrors = table<LoginOutcome>(
  [
    'stopped',
    'accessdenied accessdeniedexception unauthorizedoperation client.unauthorizedoperation authorizationerror',
  ],
  [
    'blocked',
    `invalidclienttokenid signaturedoesnotmatch authfailure client.authfailure unrecognizedclientexception invalidaccesskeyid expiredtoken
     expiredtokenexception incompletesignature missingauthenticationtoken invalidsignatureexception invalidtoken`,
  ],
)

/** 0 is success, another number such as `50126` a failure; anything else has no meaning here. */
export const outcomeOfSignIn = (code: string): LoginOutcome | undefined =>
  !/^\d{1,6}$/.test(code) ? undefined : code === '0' ? 'allowed' : entraStopped.has(code) ? 'stopped' : 'blocked'

export const outcomeOfCallError = (error: string): LoginOutcome => callErrors.get(error.toLowerCase()) ?? 'allowed'

/** google.rpc.Code: 7 is PERMISSION_DENIED, 16 UNAUTHENTICATED. */
export const outcomeOfRpc = (code: string): LoginOutcome =>
  code === '7' ? 'stopped' : code === '16' ? 'blocked' : 'allowed'

/** The HTTP status of an API call whose caller is known. */
export const outcomeOfCall = (status: string): LoginOutcome | undefined =>
  status.startsWith('2') ? 'allowed' : status === '401' ? 'blocked' : status === '403' ? 'stopped' : undefined

/** `0x0`, `0xC000006A`, `0x18` of Kerberos. */
export const outcomeOfNtStatus = (status: string): LoginOutcome =>
  /^0x0+$/.test(status) ? 'allowed' : ntStopped.has(status.toLowerCase()) ? 'stopped' : 'blocked'
