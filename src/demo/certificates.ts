// Creates a certificate authority, a server and a client certificate with openssl.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './run.js'

export type Certificates = { readonly ca: string; readonly clientKey: string; readonly clientCertificate: string }

export const certificates = async (folder: string): Promise<Certificates> => {
  const at = (name: string): string => join(folder, name)
  const openssl = async (...args: readonly string[]): Promise<void> => {
    const { code, output } = await run('openssl', args)
    if (code !== 0) throw new Error(`openssl could not make a certificate: ${output}`)
  }
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  await openssl('req', '-x509', ...newKey, '-days', '2', '-subj', '/CN=test authority', '-keyout', at('ca.key'), '-out', at('ca.pem')) // prettier-ignore
  for (const [name, subject] of [
    ['server', 'localhost'],
    ['client', 'weaver'],
  ] as const) {
    await writeFile(at(`${name}.ext`), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n')
    await openssl('req', ...newKey, '-subj', `/CN=${subject}`, '-keyout', at(`${name}.key`), '-out', at(`${name}.csr`))
    await openssl('x509', '-req', '-days', '2', '-in', at(`${name}.csr`), '-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-extfile', at(`${name}.ext`), '-out', at(`${name}.crt`)) // prettier-ignore
  }
  const key = await readFile(at('server.key'), 'utf8')
  await writeFile(at('server.pem'), key + (await readFile(at('server.crt'), 'utf8')))
  return { ca: at('ca.pem'), clientKey: at('client.key'), clientCertificate: at('client.crt') }
}
