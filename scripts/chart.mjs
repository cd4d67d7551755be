// Generates the chart's values.schema.json, alert rules and list of values.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isMap, parseDocument } from 'yaml'

const root = resolve(import.meta.dirname, '..')
const chart = join(root, 'helm/threatweave')
const readJson = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))

const object = (properties, more = {}) => ({ type: 'object', additionalProperties: false, properties, ...more })
const text = { type: 'string' }
const filled = { type: 'string', minLength: 1 }
const flag = { type: 'boolean' }
const any = { type: 'object' }
const list = (items = {}) => ({ type: 'array', items })
const whole = (minimum, maximum) => ({ type: 'integer', minimum, ...(maximum === undefined ? {} : { maximum }) })
const names = { type: 'object', additionalProperties: text }
const oneOf = (...words) => ({ enum: words })
const ranges = list({ type: 'string', pattern: '^[0-9a-fA-F.:]+/[0-9]{1,3}$' })
const probe = object({
  initialDelaySeconds: whole(0),
  periodSeconds: whole(1),
  timeoutSeconds: whole(1),
  failureThreshold: whole(1),
})

/** Dotted names of the secret settings, for example `intel.service.apiKey`. */
const secretsOf = (schema, path = []) =>
  schema.properties
    ? Object.entries(schema.properties).flatMap(([name, child]) => secretsOf(child, [...path, name]))
    : schema.secret === true
      ? [path.join('.')]
      : []

/**
 * The configuration's schema for Helm. Leaves out secrets, which do not belong in a ConfigMap, defaults, which Helm does not apply, and
 * patterns and formats that Go does not support. The program itself validates everything again.
 */
const forHelm = (schema) => {
  if (Array.isArray(schema)) return schema.map(forHelm)
  if (typeof schema !== 'object' || schema === null) return schema
  const kept = {}
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'default' || key === 'format' || key === '$schema' || key === 'title') continue
    if (key === 'pattern' && value.includes('(?')) continue
    if (key === 'properties')
      kept.properties = Object.fromEntries(
        Object.entries(value)
          .filter(([, child]) => child.secret !== true)
          .map(([name, child]) => [name, forHelm(child)]),
      )
    else kept[key] = key === 'const' || key === 'enum' || key === 'required' ? value : forHelm(value)
  }
  // Settings with a default are optional in the file.
  if (kept.required && schema.properties) {
    kept.required = kept.required.filter((name) => schema.properties[name]?.default === undefined)
    if (kept.required.length === 0) delete kept.required
  }
  return kept
}

export const valuesSchema = () => {
  const config = readJson('schemas/config.schema.json')
  const secret = oneOf(...secretsOf(config))
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart; `config` is derived from schemas/config.schema.json by scripts/chart.mjs',
    ...object({
      image: object({
        repository: { type: 'string', minLength: 1 },
        tag: text,
        digest: { type: 'string', pattern: '^$|^sha256:[0-9a-f]{64}$' },
        pullPolicy: oneOf('Always', 'IfNotPresent', 'Never'),
        pullSecrets: list(object({ name: text })),
      }),
      config: forHelm(config),
      secret: object({
        existing: text,
        settings: { ...list(secret), uniqueItems: true },
        values: { type: 'object', propertyNames: secret, additionalProperties: { type: 'string', minLength: 1 } },
      }),
      feedHeaders: {
        type: 'object',
        additionalProperties: object({ secret: filled, key: filled }, { required: ['secret'] }),
      },
      sourceKeys: {
        type: 'object',
        additionalProperties: object({ secret: filled, key: filled }, { required: ['secret'] }),
      },
      replicas: whole(1, 1000),
      partitions: whole(0),
      provider: object({ concurrency: whole(0, 256) }),
      gateway: object({
        enabled: flag,
        replicas: whole(0, 20),
        upstream: { type: 'string', pattern: '^$|^https?://' },
        port: whole(1024, 65535),
        workerConcurrency: whole(1, 256),
        persistence: object({
          existingClaim: text,
          size: { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?([KMGTPE]i?)?$' },
          storageClass: text,
          accessModes: list(text),
        }),
        resources: any,
        allowFrom: list(any),
      }),
      notifier: object({
        enabled: flag,
        sinks: { type: 'object', propertyNames: { pattern: '^[a-z0-9][a-z0-9-]{0,39}$' }, additionalProperties: any },
        secret: text,
        silences: list(any),
        egress: list(any),
        resources: any,
      }),
      memoryVolume: { type: 'object', minProperties: 1, maxProperties: 2 },
      extraVolumes: list(any),
      extraVolumeMounts: list(any),
      extraEnv: list(any),
      resources: any,
      probes: object({ liveness: probe, readiness: probe }),
      terminationGracePeriodSeconds: whole(0, 3600),
      podDisruptionBudget: object({ enabled: flag, maxUnavailable: { type: ['integer', 'string'] } }),
      autoscaling: object({
        minReplicas: whole(1, 1000),
        maxReplicas: whole(1, 1000),
        hpa: object({ enabled: flag, targetCpuPercent: whole(1, 100) }),
        keda: object({
          enabled: flag,
          lagThreshold: whole(1),
          pollingInterval: whole(1),
          cooldownPeriod: whole(0),
          authenticationRef: text,
        }),
      }),
      networkPolicy: object({
        enabled: flag,
        brokers: list(any),
        tokenServer: list(any),
        registry: list(any),
        opsFrom: list(any),
        privateRanges: object({ ipv4: ranges, ipv6: ranges }),
        extraEgress: list(any),
        fqdn: object({ enabled: flag, names: list(text) }),
      }),
      serviceMonitor: object({ enabled: flag, interval: text, labels: names }),
      prometheusRule: object({ enabled: flag, labels: names }),
      serviceAccount: object({ create: flag, name: text, annotations: names }),
      topologySpread: object({ enabled: flag }),
      nameOverride: text,
      fullnameOverride: text,
      podAnnotations: names,
      podLabels: names,
      nodeSelector: names,
      tolerations: list(any),
      affinity: any,
      priorityClassName: text,
      global: any,
    }),
  }
  return `${JSON.stringify(schema, null, 2)}\n`
}

export const alertRules = () => readFileSync(join(root, 'examples/observability/alerts.yaml'), 'utf8')

/** Lists every value with its default and its comment. A non-empty object becomes a group of rows, any other value a single row. */
const rowsOf = (node, schema, path = []) =>
  node.items.flatMap((pair, place) => {
    const name = [...path, pair.key.value]
    // Indented lines are an example of the previous value.
    const lines = (pair.key.commentBefore ?? (place === 0 ? node.commentBefore : undefined) ?? '').split('\n')
    const comment = lines.filter((line) => !line.startsWith('   ')).join(' ')
    const text = comment.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|')
    const type = schema?.properties?.[pair.key.value]
    const isGroup = isMap(pair.value) && pair.value.items.length > 0
    const shown = isGroup ? '' : `\`${JSON.stringify(pair.value.toJSON())}\``
    const allowed = type?.enum ? `one of ${type.enum.map((one) => `\`${one}\``).join(', ')}. ` : ''
    const row = `| \`${name.join('.')}\` | ${shown} | ${allowed}${text} |`
    return [...(isGroup && text === '' ? [] : [row]), ...(isGroup ? rowsOf(pair.value, type, name) : [])]
  })

const readme = () => {
  const values = parseDocument(readFileSync(join(chart, 'values.yaml'), 'utf8'))
  return `# Threatweave's chart

How to use it: [Operations](../../docs/operations.md#kubernetes). Examples of values: [ci/](ci/). Wrong values are refused by \`values.schema.json\` before anything is deployed.

## Upgrading

The chart has the version of the program that it deploys; \`helm upgrade\` of one changes both. Within a version [nothing that was right becomes wrong](../../docs/policy.md). What a
release asks you to do is in the [changelog](../../CHANGELOG.md). Workers are replaced one at a time and finish what they have in hand; the gateway's volume stays.

## Values

| value | default | |
| --- | --- | --- |
${rowsOf(values.contents, JSON.parse(valuesSchema())).join('\n')}
`
}

export const derived = { 'values.schema.json': valuesSchema, 'files/alerts.yaml': alertRules, 'README.md': readme }

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const [name, make] of Object.entries(derived)) writeFileSync(join(chart, name), make())
