// JSON Schemas of the operators' resource fields that the chart uses, which Kubernetes does not cover. Other fields are rejected.

type Schema = Readonly<Record<string, unknown>>

const text = { type: 'string', minLength: 1 }
const object = (properties: Schema, required: readonly string[]): Schema => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
})
const labels = {
  type: 'object',
  propertyNames: { pattern: '^([a-z0-9.-]{1,253}/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$' },
  additionalProperties: { type: 'string', pattern: '^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$' },
}
const selector = {
  ...object(
    {
      matchLabels: labels,
      matchExpressions: {
        type: 'array',
        items: object(
          {
            key: text,
            operator: { enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'] },
            values: { type: 'array', minItems: 1, items: { type: 'string' } },
          },
          ['key', 'operator'],
        ),
      },
    },
    [],
  ),
  minProperties: 1,
}
/** In Prometheus's format: 30s, 5m, 1h30m. */
const duration = { type: 'string', pattern: '^(?=.)(\\d+h)?(\\d+m)?(\\d+s)?(\\d+ms)?$' }
const name = { type: 'string', pattern: '^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$' }

const resource = (apiVersion: string, kind: string, spec: Schema): Schema =>
  object(
    {
      apiVersion: { const: apiVersion },
      kind: { const: kind },
      metadata: object({ name, labels, annotations: { type: 'object', additionalProperties: { type: 'string' } } }, [
        'name',
      ]),
      spec,
    },
    ['apiVersion', 'kind', 'metadata', 'spec'],
  )

const count = { type: 'integer', minimum: 0 }
/** All values in the metadata of a trigger are strings, including numbers and flags. */
const number = { type: 'string', pattern: '^\\d+$' }
const flag = { enum: ['true', 'false'] }
const templated = { type: 'object', additionalProperties: text }

export const operatorSchemas: Readonly<Record<string, Schema>> = {
  ServiceMonitor: resource(
    'monitoring.coreos.com/v1',
    'ServiceMonitor',
    object(
      {
        selector,
        endpoints: {
          type: 'array',
          minItems: 1,
          items: object(
            {
              port: text,
              path: { type: 'string', pattern: '^/' },
              interval: duration,
              scrapeTimeout: duration,
              scheme: { enum: ['http', 'https'] },
            },
            ['port'],
          ),
        },
      },
      ['selector', 'endpoints'],
    ),
  ),
  PrometheusRule: resource(
    'monitoring.coreos.com/v1',
    'PrometheusRule',
    object(
      {
        groups: {
          type: 'array',
          minItems: 1,
          items: object(
            {
              name: text,
              interval: duration,
              rules: {
                type: 'array',
                minItems: 1,
                items: {
                  ...object(
                    {
                      alert: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' },
                      record: { type: 'string', pattern: '^[A-Za-z_:][A-Za-z0-9_:]*$' },
                      expr: { type: ['string', 'integer'], minLength: 1 },
                      for: duration,
                      keep_firing_for: duration,
                      labels: templated,
                      annotations: templated,
                    },
                    ['expr'],
                  ),
                  oneOf: [
                    { properties: { alert: {} }, required: ['alert'] },
                    { properties: { record: {} }, required: ['record'] },
                  ],
                },
              },
            },
            ['name', 'rules'],
          ),
        },
      },
      ['groups'],
    ),
  ),
  ScaledObject: resource(
    'keda.sh/v1alpha1',
    'ScaledObject',
    object(
      {
        scaleTargetRef: object({ name, apiVersion: text, kind: text }, ['name']),
        minReplicaCount: count,
        maxReplicaCount: { type: 'integer', minimum: 1 },
        pollingInterval: { type: 'integer', minimum: 1 },
        cooldownPeriod: count,
        triggers: {
          type: 'array',
          minItems: 1,
          items: object(
            {
              type: { const: 'kafka' },
              metadata: object(
                {
                  bootstrapServers: { type: 'string', pattern: '^[^,\\s]+:\\d{1,5}(,[^,\\s]+:\\d{1,5})*$' },
                  consumerGroup: text,
                  topic: text,
                  lagThreshold: number,
                  activationLagThreshold: number,
                  offsetResetPolicy: { enum: ['latest', 'earliest'] },
                  allowIdleConsumers: flag,
                  sasl: { enum: ['none', 'plaintext', 'scram_sha256', 'scram_sha512', 'gssapi', 'oauthbearer'] },
                  saslTokenProvider: { enum: ['bearer', 'aws_msk_iam'] },
                  awsRegion: text,
                  tls: { enum: ['enable', 'disable'] },
                },
                ['bootstrapServers', 'consumerGroup', 'topic'],
              ),
              authenticationRef: object(
                { name, kind: { enum: ['TriggerAuthentication', 'ClusterTriggerAuthentication'] } },
                ['name'],
              ),
            },
            ['type', 'metadata'],
          ),
        },
      },
      ['scaleTargetRef', 'triggers'],
    ),
  ),
  CiliumNetworkPolicy: resource(
    'cilium.io/v2',
    'CiliumNetworkPolicy',
    object(
      {
        endpointSelector: selector,
        egress: {
          type: 'array',
          minItems: 1,
          items: object(
            {
              toEndpoints: {
                type: 'array',
                items: object({ matchLabels: { type: 'object', additionalProperties: { type: 'string' } } }, [
                  'matchLabels',
                ]),
              },
              toFQDNs: {
                type: 'array',
                minItems: 1,
                items: object({ matchName: name, matchPattern: text }, []),
              },
              toPorts: {
                type: 'array',
                items: object(
                  {
                    ports: {
                      type: 'array',
                      minItems: 1,
                      items: object({ port: number, protocol: { enum: ['TCP', 'UDP', 'SCTP', 'ANY'] } }, ['port']),
                    },
                    rules: object(
                      { dns: { type: 'array', items: object({ matchName: text, matchPattern: text }, []) } },
                      [],
                    ),
                  },
                  ['ports'],
                ),
              },
            },
            ['toPorts'],
          ),
        },
      },
      ['endpointSelector', 'egress'],
    ),
  ),
}
