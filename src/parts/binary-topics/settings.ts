// Settings of the schema registry, and their problems.
import { Type, type Static } from '@sinclair/typebox'
import { tlsProblems } from '../../app/tls-problems.js'
import { settingsAt } from '../../config/added-settings.js'
import type { Problem } from '../../config/problem.js'
import type { Config } from '../../config/schema.js'
import { isThisMachine } from '../../domain/this-machine.js'
import { usesFormat } from '../../domain/topic-format.js'

const registrySchema = Type.Object(
  {
    url: Type.String({
      default: '',
      form: 'a URL such as https://registry.example.com:8081',
      pattern: '^(?:https?://[^\\s]+)?$',
      description:
        'The schema registry of topics with the format registry, with the path that Confluent’s API has there: https://registry.example.com:8081, or https://apicurio.example.com/apis/ccompat/v7.',
    }),
    username: Type.String({ default: '', description: 'For basic authentication.' }),
    password: Type.String({ default: '', secret: true, description: 'For basic authentication.' }),
    token: Type.String({ default: '', secret: true, description: 'Or a bearer token.' }),
    allowHttp: Type.Boolean({
      default: false,
      description:
        'Allow plain HTTP to another machine, where everybody on the way can read a password and change a schema.',
    }),
    caFile: Type.String({
      default: '',
      description: 'Certificate authorities to trust next to the usual ones (PEM).',
    }),
    certificateFile: Type.String({
      default: '',
      description: 'Our certificate, if the registry asks for one (PEM).',
    }),
    keyFile: Type.String({ default: '', description: 'The private key of that certificate (PEM).' }),
    keyPassphrase: Type.String({ default: '', secret: true, description: 'The passphrase of that key.' }),
  },
  {
    additionalProperties: false,
    default: {},
    description: 'Where the schemas of values are; see docs/topic-formats.md.',
  },
)

export type Registry = Static<typeof registrySchema>

export const registrySettings = settingsAt('kafka.registry', registrySchema)

/** Includes problems of the files that the settings name. */
export const registryProblems = (config: Config): readonly Problem[] => {
  const registry = registrySettings.of(config)
  if (!registry) return []
  const { url, caFile, certificateFile, keyFile, keyPassphrase } = registry
  const isMissing = url === '' && usesFormat(config.kafka.input.format, 'registry')
  const files = {
    ca: ['caFile', caFile],
    cert: ['certificateFile', certificateFile],
    key: ['keyFile', keyFile],
  } as const
  return [
    ...(isMissing
      ? [{ setting: 'kafka.registry.url', message: 'must be set for topics with the format registry' }]
      : loginProblems(registry)),
    ...tlsProblems('kafka.registry', files, keyPassphrase),
  ]
}

const loginProblems = (registry: Registry): readonly Problem[] => {
  const { url, username, password, token, allowHttp, certificateFile, keyFile } = registry
  const problems: Problem[] = []
  const refuse = (setting: string, message: string): void => {
    problems.push({ setting: `kafka.registry.${setting}`, message })
  }
  if (url === '') return problems
  if (!URL.canParse(url)) refuse('url', 'must be a URL such as https://registry.example.com:8081')
  else {
    const { protocol, hostname, username: user, password: secret } = new URL(url)
    if (protocol === 'http:' && !allowHttp && !isThisMachine(hostname))
      refuse(
        'url',
        'must be https; kafka.registry.allowHttp lets everybody on the way read the login and change schemas',
      )
    if (user + secret !== '') refuse('url', 'must not hold a password: use username and password')
  }
  if ((username === '') !== (password === '')) refuse('password', 'and kafka.registry.username go together')
  if (token !== '' && username !== '') refuse('token', 'and kafka.registry.username exclude each other')
  if (!/^[\x21-\x7e]*$/.test(token)) refuse('token', 'holds characters that cannot stand in a header')
  if ((certificateFile === '') !== (keyFile === '')) refuse('keyFile', 'and certificateFile go together')
  return problems
}
