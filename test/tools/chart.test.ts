// Checks the chart with helm, against Kubernetes' schemas, and against the program's own configuration.
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { derived } from '../../scripts/chart.mjs'
import { provisionTools, run } from '../../scripts/tools.mjs'
import { intelligenceProblems } from '../../src/config/intelligence-problems.js'
import { loadAny } from '../../src/app/load-config.js'
import { readSilenceFile } from '../../src/parts/notify/silence-file.js'
import { readSinkFile } from '../../src/parts/notify/sink-file.js'
import { operatorSchemas } from '../support/operator-schemas.js'

const chart = resolve(import.meta.dirname, '../../helm/threatweave')
const valueFiles = readdirSync(join(chart, 'ci'))
const { paths, missing } = provisionTools()

type Manifest = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly data?: Readonly<Record<string, string>>
  readonly spec: {
    readonly replicas?: number
    readonly maxReplicas?: number
    readonly egress?: readonly { readonly to?: unknown }[]
    readonly groups?: unknown
    readonly template: {
      readonly spec: {
        readonly terminationGracePeriodSeconds: number
        readonly automountServiceAccountToken: boolean
        readonly volumes: readonly { readonly name: string; readonly secret?: { readonly items: { key: string }[] } }[]
        readonly containers: readonly [
          { readonly env: readonly { name: string; value: string }[]; readonly args: string[] },
        ]
      }
    }
  }
}

/** Kinds that come with operators and have no schema in Kubernetes. */
const foreign = new Set(['keda.sh', 'cilium.io', 'monitoring.coreos.com'])

const template = (...args: readonly string[]) =>
  run(paths?.helm ?? '', ['template', 'weave', chart, '-n', 'soc', ...args])
const files = (name: string): string[] => ['-f', join(chart, 'ci', `${name}-values.yaml`)]
type Labelled = {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  readonly spec: {
    readonly ports: readonly { readonly name: string }[]
    readonly endpoints: readonly [{ readonly port: string }]
    readonly selector: {
      readonly matchLabels: Readonly<Record<string, string>>
      readonly matchExpressions: readonly { readonly key: string; readonly values: readonly string[] }[]
    }
  }
}
const renderWith = (...args: readonly string[]): readonly Manifest[] => {
  const { ok, stdout, output } = template(...args)
  if (!ok) throw new Error(output)
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null)
}
const rendered = new Map<string, readonly Manifest[]>()
const render = (name: string): readonly Manifest[] => {
  const known = rendered.get(name)
  if (known) return known
  const manifests = renderWith(...files(name))
  rendered.set(name, manifests)
  return manifests
}
const kinds = (name: string): string[] => render(name).map(({ kind }) => kind)
const deployment = (values: string, name = 'weave-threatweave'): Manifest['spec']['template']['spec'] =>
  render(values).find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name)!.spec.template.spec
const envOf = (spec: ReturnType<typeof deployment>): Record<string, string> =>
  Object.fromEntries(spec.containers[0].env.map(({ name, value }) => [name, value]))

describe('what the chart has from elsewhere', () => {
  it.each(Object.keys(derived))('is up to date in %s (after a change: node scripts/chart.mjs)', (name) => {
    expect(readFileSync(join(chart, name), 'utf8')).toBe(derived[name]!())
  })
})

if (paths === undefined)
  it('is not tested for want of helm, which is a failure in CI', () => {
    process.stderr.write(`${missing ?? ''}\n`)
    expect(process.env.CI ?? '').toBe('')
  })

describe.runIf(paths !== undefined)('the chart', () => {
  it('passes helm lint --strict for every file of values', () => {
    for (const file of valueFiles) {
      const { ok, output } = run(paths!.helm, ['lint', '--strict', '-f', join(chart, 'ci', file), chart])
      expect(ok, output).toBe(true)
    }
  })

  it('renders manifests that Kubernetes accepts, strictly', () => {
    const folder = mkdtempSync(join(tmpdir(), 'threatweave-chart-'))
    const written: string[] = []
    for (const file of valueFiles)
      for (const manifest of render(file.replace('-values.yaml', ''))) {
        if (foreign.has(manifest.apiVersion.split('/')[0]!)) continue
        const path = join(folder, `${written.length}-${manifest.kind}.json`)
        writeFileSync(path, JSON.stringify(manifest))
        written.push(path)
      }
    expect(written.length).toBeGreaterThan(30)
    const { ok, output } = run(paths!.kubernetesValidate, ['--strict', '--quiet', ...written])
    expect(ok, output).toBe(true)
  })

  it('renders manifests that the operators accept, strictly', () => {
    const ajv = new Ajv({ strict: true, allowUnionTypes: true, allErrors: true })
    const validators = Object.fromEntries(
      Object.entries(operatorSchemas).map(([kind, schema]) => [kind, ajv.compile(schema)]),
    )
    const seen = new Set<string>()
    const variants = [
      ...valueFiles.map((file) => render(file.replace('-values.yaml', ''))),
      renderWith(
        ...['kafka.sasl.mechanism=scram-sha-512', 'kafka.sasl.username=soc', 'kafka.tls.enabled=true'].flatMap(
          (one) => ['--set', `config.${one}`],
        ),
        ...['--set', 'autoscaling.keda.authenticationRef=kafka-credentials', ...files('keda')],
      ),
    ]
    for (const manifest of variants.flat()) {
      if (!foreign.has(manifest.apiVersion.split('/')[0]!)) continue
      seen.add(manifest.kind)
      const validate = validators[manifest.kind]!
      validate(manifest)
      expect(validate.errors ?? [], JSON.stringify(manifest)).toEqual([])
    }
    expect([...seen].toSorted()).toEqual(Object.keys(operatorSchemas).toSorted())
  })

  it('has manifests of operators that would be refused with a field misspelt or of another type', () => {
    const ajv = new Ajv({ strict: true, allowUnionTypes: true })
    const [scaled] = render('keda').filter(({ kind }) => kind === 'ScaledObject')
    const broken: readonly [RegExp, string][] = [
      [/"lagThreshold":"(\d+)"/, '"lagThreshold":$1'],
      [/maxReplicaCount/, 'maxReplicas'],
      [/"latest"/, '"begin"'],
      [/"sasl":"none"/, '"sasl":"scram-sha-512"'],
    ]
    const text = JSON.stringify(scaled)
    for (const [from, to] of broken) {
      expect(text).toMatch(from)
      expect(ajv.validate(operatorSchemas.ScaledObject!, JSON.parse(text.replace(from, to))), to).toBe(false)
    }
  })

  it('finds workers and gateway by the labels and the port that the ServiceMonitor names', () => {
    const manifests = render('full') as unknown as readonly Labelled[]
    const { selector, endpoints } = manifests.find(({ kind }) => kind === 'ServiceMonitor')!.spec
    const chosen = manifests.filter(
      ({ kind, metadata: { labels } }) =>
        kind === 'Service' &&
        Object.entries(selector.matchLabels).every(([key, value]) => labels[key] === value) &&
        selector.matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? '')),
    )
    expect(chosen.map(({ metadata }) => metadata.name)).toEqual(
      expect.arrayContaining(['weave-threatweave', 'weave-threatweave-gateway']),
    )
    for (const { spec } of chosen) expect(spec.ports.map(({ name }) => name)).toContain(endpoints[0].port)
  })

  it('uses the gateway’s own endpoint for its probes', () => {
    const [container] = deployment('full', 'weave-threatweave-gateway').containers
    expect(container).toMatchObject({
      livenessProbe: { httpGet: { path: '/healthz', port: 'ops' } },
      readinessProbe: { httpGet: { path: '/readyz', port: 'ops' } },
      ports: [
        { name: 'http', containerPort: 8787 },
        { name: 'ops', containerPort: 9463 },
      ],
    })
    expect(envOf(deployment('full', 'weave-threatweave-gateway'))).toMatchObject({
      THREATWEAVE_OPS_HOST: '0.0.0.0',
      THREATWEAVE_OPS_ALLOWED_HOSTS: expect.stringContaining('weave-threatweave-gateway.soc.svc') as string,
    })
  })

  it.each(valueFiles)('gives workers and gateway a configuration that the program accepts: %s', (file) => {
    const name = file.replace('-values.yaml', '')
    const { data } = render(name).find(({ kind }) => kind === 'ConfigMap')!
    for (const { kind, spec } of render(name)) {
      if (kind !== 'Deployment') continue
      const env = envOf(spec.template.spec)
      const text = data![env.THREATWEAVE_CONFIG!.split('/').at(-1)!]!
      const mounted = spec.template.spec.volumes
        .find((volume) => volume.name === 'secrets')
        ?.secret?.items.map(({ key }) => `/etc/threatweave/secrets/${key}`)
      const loaded = loadAny({
        file: { name: 'threatweave.yaml', text },
        env,
        readFile: (path) => {
          expect(mounted).toContain(path)
          return 'only-an-example-value'
        },
      })
      expect(loaded).not.toHaveProperty('problems')
      if ('config' in loaded) expect(intelligenceProblems(loaded.config)).toEqual([])
    }
  })

  it('keeps the key of the provider at the gateway alone', () => {
    const keys = (name?: string): string[] =>
      deployment('gateway', name)
        .volumes.find((volume) => volume.name === 'secrets')!
        .secret!.items.map(({ key }) => key)
    expect(keys()).toEqual(['serve.apiKey'])
    expect(keys('weave-threatweave-gateway')).toEqual(['intel.service.apiKey', 'serve.apiKey'])
    expect(envOf(deployment('gateway'))).toMatchObject({
      THREATWEAVE_INTEL_SERVICE_BASE_URL: 'http://weave-threatweave-gateway:8787',
      THREATWEAVE_INTEL_SERVICE_API_KEY_FILE: '/etc/threatweave/secrets/serve.apiKey',
    })
  })

  it('gives the gateway the brokers and their secrets where it shares verdicts, and only there', () => {
    const shared = ['kafka.sasl.password', 'kafka.verdictsKey']
    for (const name of ['weave-threatweave', 'weave-threatweave-gateway']) {
      const { volumes } = deployment('verdicts', name)
      const keys = volumes.find((volume) => volume.name === 'secrets')!.secret!.items.map(({ key }) => key)
      expect(keys).toEqual(expect.arrayContaining(shared))
      expect(envOf(deployment('verdicts', name))).toMatchObject({
        THREATWEAVE_KAFKA_VERDICTS_KEY_FILE: '/etc/threatweave/secrets/kafka.verdictsKey',
        THREATWEAVE_KAFKA_SASL_PASSWORD_FILE: '/etc/threatweave/secrets/kafka.sasl.password',
      })
    }
    const wayOut = (manifests: readonly Manifest[]): unknown =>
      manifests.find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'weave-threatweave-gateway')!
        .spec.egress
    const brokers = { ports: [{ protocol: 'TCP', port: 9092 }], to: [{ ipBlock: { cidr: '192.0.2.0/24' } }] }
    expect(wayOut(render('verdicts'))).toContainEqual(brokers)
    expect(wayOut(render('gateway'))).not.toContainEqual(brokers)
    // With a feed of its own a gateway shares nothing.
    const own = renderWith(
      ...files('verdicts'),
      '--set',
      'config.feeds[0].name=own,config.feeds[0].path=/feeds/own.txt',
    )
    expect(wayOut(own)).not.toContainEqual(brokers)
    const gateway = own.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name.endsWith('-gateway'))
    expect(JSON.stringify(gateway)).not.toContain('kafka.')
  })

  it('lets KEDA log in as the workers do', () => {
    const triggers = (name: string): unknown =>
      (render(name).find(({ kind }) => kind === 'ScaledObject')!.spec as { readonly triggers?: unknown }).triggers
    expect(triggers('oauth')).toMatchObject([
      { metadata: { sasl: 'oauthbearer', tls: 'enable' }, authenticationRef: { name: 'kafka-token' } },
    ])
    expect(triggers('msk')).toMatchObject([
      {
        metadata: { sasl: 'oauthbearer', saslTokenProvider: 'aws_msk_iam', awsRegion: 'eu-central-1', tls: 'enable' },
        authenticationRef: { name: 'msk' },
      },
    ])
    expect(JSON.stringify(triggers('oauth'))).not.toContain('saslTokenProvider')
  })

  it('gives a login its secret and lets it out to where its token comes from, and nobody else', () => {
    const wayOut = (name: string, policy = 'weave-threatweave'): readonly unknown[] =>
      render(name).find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === policy)!.spec.egress!
    expect(envOf(deployment('oauth'))).toMatchObject({
      THREATWEAVE_KAFKA_SASL_CLIENT_SECRET_FILE: '/etc/threatweave/secrets/kafka.sasl.clientSecret',
    })
    expect(wayOut('oauth')).toContainEqual({
      to: [{ ipBlock: { cidr: '198.51.100.7/32' } }],
      ports: [{ protocol: 'TCP', port: 8443 }],
    })
    const outside = expect.arrayContaining([
      expect.objectContaining({ ipBlock: expect.objectContaining({ cidr: '0.0.0.0/0' }) as object }),
    ]) as unknown
    const toAws = { to: outside, ports: [{ protocol: 'TCP', port: 443 }] }
    const toMetadata = {
      to: [{ ipBlock: { cidr: '169.254.169.254/32' } }, { ipBlock: { cidr: '169.254.170.23/32' } }],
      ports: [{ protocol: 'TCP', port: 80 }],
    }
    expect(wayOut('msk')).toContainEqual(toAws)
    expect(wayOut('msk')).toContainEqual(toMetadata)
    // A gateway that does not use Kafka, and workers without such a login, which reach nothing outside.
    expect(wayOut('msk', 'weave-threatweave-gateway')).not.toContainEqual(toMetadata)
    expect(wayOut('gateway')).not.toContainEqual(toAws)
  })

  it('has two gateways without a volume where they can settle which one calls, and workers that know both', () => {
    const manifests = renderWith(...files('gateways'))
    const named = (kind: string, name: string): Manifest | undefined =>
      manifests.find((one) => one.kind === kind && one.metadata.name === name)
    const gateway = named('Deployment', 'weave-threatweave-gateway')
    expect(gateway?.spec.replicas).toBe(2)
    expect(JSON.stringify(gateway?.spec)).toContain('"maxUnavailable":0')
    expect(JSON.stringify(gateway?.spec)).toContain('podAntiAffinity')
    expect(named('PersistentVolumeClaim', 'weave-threatweave-gateway')).toBeUndefined()
    expect(named('PodDisruptionBudget', 'weave-threatweave-gateway')).toBeDefined()
    expect(JSON.stringify(named('Service', 'weave-threatweave-gateways')?.spec)).toContain('"clusterIP":"None"')
    expect(envOf(deployment('gateways')).THREATWEAVE_INTEL_SERVICE_BASE_URL).toBe(
      'http://weave-threatweave-gateways:8787',
    )
    const policy = JSON.stringify(named('NetworkPolicy', 'weave-threatweave-gateway')?.spec.egress)
    expect(policy).toContain('192.0.2.0/24')
    expect(policy).toContain('"port":8787')
    // One gateway, as before.
    expect(JSON.stringify(renderWith(...files('gateway')))).not.toContain('weave-threatweave-gateways')
  })

  it('divides the concurrency of the plan among the workers', () => {
    expect(envOf(deployment('keda')).THREATWEAVE_INTEL_SERVICE_CONCURRENCY).toBe('2')
  })

  it('waits longer for a stop than the drain takes', () => {
    expect(deployment('default').terminationGracePeriodSeconds).toBe(35)
    expect(deployment('full').terminationGracePeriodSeconds).toBe(46)
  })

  it('gives no pod a token of the cluster', () => {
    for (const name of ['default', 'full'])
      for (const { kind, spec } of render(name))
        if (kind === 'Deployment') expect(spec.template.spec.automountServiceAccountToken).toBe(false)
  })

  it('has what was asked for and no more', () => {
    expect(kinds('default').toSorted()).toEqual([
      'ConfigMap',
      'Deployment',
      'NetworkPolicy',
      'Pod',
      'Service',
      'ServiceAccount',
    ])
    expect(kinds('keda')).toContain('ScaledObject')
    expect(kinds('keda')).not.toContain('HorizontalPodAutoscaler')
    expect(kinds('full')).toEqual(
      expect.arrayContaining([
        'Secret',
        'PersistentVolumeClaim',
        'PodDisruptionBudget',
        'HorizontalPodAutoscaler',
        'CiliumNetworkPolicy',
        'ServiceMonitor',
        'PrometheusRule',
      ]),
    )
  })

  it('lets workers out to DNS, brokers and 443 outside the private ranges', () => {
    const policy = render('default').find(({ kind }) => kind === 'NetworkPolicy')!
    expect(policy.spec.egress).toEqual([
      {
        ports: [
          { protocol: 'UDP', port: 53 },
          { protocol: 'TCP', port: 53 },
        ],
      },
      { ports: [{ protocol: 'TCP', port: 9092 }], to: [{ ipBlock: { cidr: '192.0.2.0/24' } }] },
      {
        to: [
          {
            ipBlock: {
              cidr: '0.0.0.0/0',
              except: expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16', '168.63.129.16/32']) as unknown,
            },
          },
          { ipBlock: { cidr: '::/0', except: expect.arrayContaining(['fc00::/7']) as unknown } },
        ],
        ports: [{ protocol: 'TCP', port: 443 }],
      },
    ])
  })

  it('lets workers out to the schema registry, and gives them its password', () => {
    const policy = render('tls-sasl').find(({ kind }) => kind === 'NetworkPolicy')!
    expect(policy.spec.egress).toContainEqual({
      ports: [{ protocol: 'TCP', port: 8081 }],
      to: [{ ipBlock: { cidr: '198.51.100.7/32' } }],
    })
    expect(envOf(deployment('tls-sasl'))).toMatchObject({
      THREATWEAVE_KAFKA_REGISTRY_PASSWORD_FILE: '/etc/threatweave/secrets/kafka.registry.password',
    })
    const https = ['--set', 'config.kafka.registry.url=https://registry.example.com']
    const own = renderWith(...files('tls-sasl'), ...https).find(({ kind }) => kind === 'NetworkPolicy')!
    expect(JSON.stringify(own.spec.egress)).toContain('"port":443}],"to":[{"ipBlock":{"cidr":"198.51.100.7/32"}}]')
  })

  it('lets no one but its own test and those who are named to health and metrics', () => {
    const ingressOf = (name: string): unknown[] =>
      render(name)
        .filter(({ kind }) => kind === 'NetworkPolicy')
        .flatMap(({ spec }) => (spec as { ingress?: { from?: unknown[] }[] }).ingress ?? [])
        .map(({ from = 'everyone' }) => from)
    const labels = { 'app.kubernetes.io/name': 'threatweave', 'app.kubernetes.io/instance': 'weave' }
    expect(ingressOf('default')).toEqual([
      [{ podSelector: { matchLabels: { ...labels, 'app.kubernetes.io/component': 'test' } } }],
    ])
    expect(ingressOf('full')).not.toContain('everyone')
    expect(JSON.stringify(ingressOf('full'))).toContain('monitoring')
  })

  it.each<[string, RegExp]>([
    ['', /config\.kafka\.brokers: name the brokers/],
    ['config.kafka.brokers={kafka.example.com:9092}', /config\.kafka\.input\.topics: name the topics/],
  ])('refuses to be installed with nothing but %j, in one sentence', (values, message) => {
    const { ok, output } = template(...(values === '' ? [] : ['--set', values]))
    expect(ok).toBe(false)
    expect(output).toMatch(message)
  })

  const webFeed = ['--set', 'config.feeds[0].name=web,config.feeds[0].url=https://lists.example.com:8443/a']
  const headersOfIt = ['--set', 'feedHeaders.web.secret=web-key']
  const feedsOf = (manifests: readonly Manifest[], file: string): unknown => {
    const { data } = manifests.find(({ kind }) => kind === 'ConfigMap')!
    return (parse(data![file]!) as { feeds: unknown }).feeds
  }
  const podOf = (manifests: readonly Manifest[], name: string): string =>
    JSON.stringify(manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name))

  it('gives feeds with a URL, their headers and the way out to the gateway alone', () => {
    const manifests = render('full')
    expect(feedsOf(manifests, 'threatweave.yaml')).toEqual([{ name: 'own', path: '/feeds/own.csv' }])
    expect(feedsOf(manifests, 'gateway.yaml')).toMatchObject([
      { name: 'own' },
      { name: 'urlhaus', headersFile: '/etc/threatweave/feed-headers/urlhaus', refreshMinutes: 30 },
    ])
    expect(podOf(manifests, 'weave-threatweave')).not.toContain('feed-headers')
    expect(podOf(manifests, 'weave-threatweave-gateway')).toContain(
      '{"secret":{"name":"urlhaus-key","items":[{"key":"header","path":"urlhaus"}]}}',
    )
    const names = manifests.find(({ kind }) => kind === 'CiliumNetworkPolicy')!
    expect(JSON.stringify(names)).toContain('"matchName":"urlhaus.example.com"')
    expect(JSON.stringify(names)).toContain('"port":"8443"')
    const [workers] = renderWith(...files('gateway'), ...webFeed).filter(({ kind }) => kind === 'NetworkPolicy')
    expect(JSON.stringify(workers?.spec.egress)).not.toMatch(/443/)
  })

  it('gives notify sinks and silences that the program takes, and the secrets of Kafka alone', () => {
    const data = (name: string): Readonly<Record<string, string>> =>
      render('full').find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name)!.data!
    const sinks = data('weave-threatweave-notify')
    expect(Object.keys(sinks)).toEqual(['siem.yaml', 'soc-chat.yaml'])
    for (const [name, text] of Object.entries(sinks))
      expect(readSinkFile({ name, text })).toMatchObject({ hasUrl: true })
    const { 'silences.yaml': text = '' } = data('weave-threatweave-notify-silences')
    expect(readSilenceFile({ name: 'silences.yaml', text })).toMatchObject({ silences: [{ id: 'scanner' }] })
    const spec = deployment('full', 'weave-threatweave-notify')
    expect(spec.containers[0].args).toEqual(['notify'])
    const secret = spec.volumes.find(({ name }) => name === 'secrets')?.secret
    expect(secret?.items.map(({ key }) => key)).toEqual(['kafka.sasl.password'])
  })

  it('refuses to notify nobody, or through a policy that lets nothing out', () => {
    const without = ['--set', 'notifier.enabled=true', ...files('default')]
    expect(template(...without).output).toContain('notifier.sinks')
    expect(template(...without, '--set', 'notifier.sinks.chat.use=slack').output).toContain('notifier.egress')
  })

  it('gives the keys of sources to whoever asks them: the gateway, or the one worker', () => {
    const sources = ['--set', 'config.intel.sources[0].use=abuseipdb', '--set', 'sourceKeys.abuseipdb.secret=abuse-key']
    const sourcesOf = (manifests: readonly Manifest[], file: string): unknown => {
      const { data } = manifests.find(({ kind }) => kind === 'ConfigMap')!
      return (parse(data![file]!) as { intel: { sources: unknown } }).intel.sources
    }
    const mounted = '{"secret":{"name":"abuse-key","items":[{"key":"apiKey","path":"abuseipdb"}]}}'
    const asked = { use: 'abuseipdb', apiKeyFile: '/etc/threatweave/source-keys/abuseipdb' }
    const shared = renderWith(...files('gateway'), ...sources)
    expect(sourcesOf(shared, 'threatweave.yaml')).toEqual([{ use: 'abuseipdb', gateway: true }])
    expect(sourcesOf(shared, 'gateway.yaml')).toEqual([asked])
    expect(podOf(shared, 'weave-threatweave')).not.toContain('source-keys')
    expect(podOf(shared, 'weave-threatweave-gateway')).toContain(mounted)
    const alone = renderWith(...files('default'), ...sources)
    expect(sourcesOf(alone, 'threatweave.yaml')).toEqual([asked])
    expect(podOf(alone, 'weave-threatweave')).toContain(mounted)
  })

  it('without a gateway gives feeds with a URL, their headers and the way out to each worker', () => {
    const manifests = renderWith(...files('default'), ...webFeed, ...headersOfIt)
    expect(feedsOf(manifests, 'threatweave.yaml')).toMatchObject([
      { name: 'web', headersFile: '/etc/threatweave/feed-headers/web' },
    ])
    expect(podOf(manifests, 'weave-threatweave')).toContain(
      '{"secret":{"name":"web-key","items":[{"key":"headers","path":"web"}]}}',
    )
    const policy = manifests.find(({ kind }) => kind === 'NetworkPolicy')!
    expect(JSON.stringify(policy.spec.egress)).toContain('{"protocol":"TCP","port":8443}')
  })

  it('carries the alert rules unchanged', () => {
    const { spec } = render('full').find(({ kind }) => kind === 'PrometheusRule')!
    const own = parse(readFileSync(join(chart, 'files/alerts.yaml'), 'utf8')) as { groups: unknown }
    expect(spec.groups).toEqual(own.groups)
  })

  it.each<[string, string[], RegExp]>([
    ['an unknown setting', ['--set', 'config.kafka.brokerz=x'], /config\.kafka[\s\S]*brokerz/],
    [
      'nothing to look events up in',
      ['--set-json', 'config.feeds=[]'],
      /config\.feeds: there is nothing to look events up in/,
    ],
    ['brokers that could be anywhere', ['--set-json', 'networkPolicy.brokers=[]'], /networkPolicy\.brokers: say where/],
    [
      'metrics that no one may read',
      ['--set', 'serviceMonitor.enabled=true'],
      /networkPolicy\.opsFrom: name who reads/,
    ],
    [
      'a registry that could be anywhere',
      ['--set', 'config.kafka.registry.url=https://registry.example.com'],
      /networkPolicy\.registry: say where/,
    ],
    ['a wrong value', ['--set', 'config.kafka.delivery=twice'], /config\.kafka\.delivery/],
    [
      'a secret in the configuration',
      ['--set', 'config.intel.service.apiKey=x'],
      /config\.intel\.service[\s\S]*apiKey/,
    ],
    ['an unknown value of the chart', ['--set', 'replica=2'], /replica/],
    [
      'both autoscalers',
      ['--set', 'autoscaling.hpa.enabled=true', '--set', 'autoscaling.keda.enabled=true'],
      /autoscaling: hpa and keda/,
    ],
    [
      'more workers than partitions',
      ['--set', 'partitions=2', '--set', 'replicas=3'],
      /replicas: 3 workers, but 2 partitions/,
    ],
    [
      'autoscaling past the partitions',
      ['--set', 'partitions=2', '--set', 'autoscaling.hpa.enabled=true', '--set', 'autoscaling.maxReplicas=3'],
      /autoscaling\.maxReplicas: 3 workers, but 2 partitions/,
    ],
    [
      'several workers straight at the provider',
      ['--set', 'replicas=2', '--set', 'secret.values.intel\\.service\\.apiKey=x'],
      /replicas: 2 workers would each call the provider/,
    ],
    [
      'a grace period shorter than the drain',
      ['--set', 'terminationGracePeriodSeconds=20'],
      /terminationGracePeriodSeconds: 20/,
    ],
    [
      'several gateways that cannot settle which one calls',
      [...files('gateway'), '--set', 'gateway.replicas=2'],
      /need config\.kafka\.gatewaysTopic/,
    ],
    ['a gateway without keys', ['--set', 'gateway.enabled=true'], /the gateway needs intel\.service\.apiKey/],
    ['headers of a feed that is not fetched', ['--set', 'feedHeaders.web.secret=x'], /feedHeaders\.web: config\.feeds/],
    ['the key of a source that is not asked', ['--set', 'sourceKeys.otx.secret=x'], /sourceKeys\.otx: config\.intel/],
    [
      'several workers with the limits of one source',
      ['--set', 'replicas=2', '--set', 'config.intel.sources[0].use=otx'],
      /replicas: 2 workers would each use the limits of a source/,
    ],
    ['probes without their endpoint', ['--set', 'config.ops.enabled=false'], /config\.ops\.enabled/],
  ])('refuses %s, naming it', (_, args, message) => {
    const { ok, output } = template(...files('default'), ...args)
    expect(ok).toBe(false)
    expect(output).toMatch(message)
  })
})
