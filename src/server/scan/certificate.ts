// Describes the problem of a certificate with the one word that reports of the provider use.
import { checkServerIdentity, type PeerCertificate } from 'node:tls'

export type CertificateFault = '' | 'expired' | 'self_signed' | 'mismatch'

export const certificateFault = (certificate: PeerCertificate, host: string, now: number): CertificateFault => {
  const { from, to } = validityOf(certificate)
  if (to === undefined || to < now || (from !== undefined && from > now)) return 'expired'
  if (nameOf(certificate.issuer) === nameOf(certificate.subject)) return 'self_signed'
  return checkServerIdentity(host, certificate) === undefined ? '' : 'mismatch'
}

type Holder = { readonly [member: string]: string | string[] | undefined }

const nameOf = (holder: PeerCertificate['subject']): string => JSON.stringify(holder)

export const commonName = (holder: PeerCertificate['subject']): string => {
  const { CN, O } = holder as unknown as Holder
  return [CN, O].flat().find((name) => typeof name === 'string' && name !== '') ?? ''
}

/** Epoch milliseconds. */
export const validityOf = (certificate: PeerCertificate): { from?: number; to?: number } => {
  const from = Date.parse(certificate.valid_from)
  const to = Date.parse(certificate.valid_to)
  return { ...(Number.isNaN(from) ? {} : { from }), ...(Number.isNaN(to) ? {} : { to }) }
}
