// Opens the client from its settings, with the file of private certificates read; or says what is wrong with them.
import { createClient, type Client, type Outside, type ServiceSettings } from './call.js'

export type OpenSettings = ServiceSettings & { readonly caFile: string }
type Refused = { readonly problems: readonly { readonly setting: string; readonly message: string }[] }

export const openClient = (
  settings: OpenSettings,
  outside: Omit<Outside, 'ca'>,
  readText: (path: string) => string,
): Client | Refused => {
  let ca: string | undefined
  try {
    ca = settings.caFile === '' ? undefined : readText(settings.caFile)
  } catch (error) {
    const cause = error instanceof Error ? error.message : 'unreadable'
    return { problems: [{ setting: 'intel.service.caFile', message: `cannot be read: ${cause}` }] }
  }
  try {
    return createClient(settings, { ...outside, ...(ca === undefined ? {} : { ca }) })
  } catch (error) {
    const message = error instanceof Error ? error.message : 'cannot work'
    return { problems: [{ setting: 'intel.service', message: `cannot work: ${message}` }] }
  }
}
