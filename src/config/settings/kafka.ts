// Settings of the Kafka service: input, output, state topics and the delivery guarantee.
import { Type } from '@sinclair/typebox'
import { topicFormats, type TopicFormat } from '../../domain/topic-format.js'

const topicName = '^[A-Za-z0-9._-]{0,249}$'
const port = '(?:[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])'
const broker = `^(?:[^\\s:/]+|\\[[0-9a-fA-F:.]+\\]):${port}$`
const section = (description: string): { additionalProperties: false; default: object; description: string } => ({
  additionalProperties: false,
  default: {},
  description,
})

/** An unset topic is named after the output topic plus a suffix; an empty value switches it off. */
const derivedTopic = (ending: string, description: string) =>
  Type.Optional(
    Type.String({
      pattern: topicName,
      derived: `kafka.output.topic + ${ending}`,
      description: `${description} An empty value ('') switches it off.`,
    }),
  )

const format = Type.Unsafe<TopicFormat>({ type: 'string', enum: [...topicFormats] })

export const kafkaSettings = Type.Object(
  {
    brokers: Type.Array(Type.String({ pattern: broker, form: 'host:port, such as kafka.example.com:9092' }), {
      default: [],
      description: 'Bootstrap brokers, as host:port. Required for Kafka.',
    }),
    clientId: Type.String({
      default: 'threatweave',
      minLength: 1,
      description:
        'The client id in the logs and quotas of the brokers. Transactional ids, which ACLs need, are <clientId>-<groupId>-<topic>-<partition>.',
    }),
    groupId: Type.String({
      default: 'threatweave',
      minLength: 1,
      description: 'The consumer group, shared by all workers of one service.',
    }),
    input: Type.Object(
      {
        topics: Type.Array(Type.String({ pattern: topicName, minLength: 1 }), {
          default: [],
          description: 'Topics to read; set this or pattern. A topic that this service writes to is refused.',
        }),
        pattern: Type.String({
          default: '',
          maxLength: 500,
          format: 'regex',
          description: 'A regular expression that must match the whole topic name; new topics are found while running.',
        }),
        start: Type.Union([Type.Literal('earliest'), Type.Literal('latest')], {
          default: 'latest',
          description:
            'Where a new group starts: latest, at the next event; earliest, at the oldest one. A group whose committed offsets have expired starts at the oldest event, if kafka.sightingsTopic has records of that group.',
        }),
        format: Type.Union(
          [format, Type.Record(Type.String({ pattern: topicName }), format, { maxProperties: 10_000 })],
          {
            default: 'text',
            form: 'text, registry, otlp_proto or binary, or one of these per topic, as `topic: format` lines',
            description:
              'The format of record values: text (including JSON), registry (Avro, Protobuf or JSON with a schema in kafka.registry), otlp_proto (OpenTelemetry logs in Protobuf) or binary (anything else). Or one format per topic; topics that are not listed are text. registry and binary values are written unchanged, with the annotation in a header; otlp_proto gets attributes. See docs/topic-formats.md.',
          },
        ),
        batches: Type.Union([Type.Literal('inside'), Type.Literal('split'), Type.Literal('off')], {
          default: 'inside',
          description:
            'How to treat a record with many events (JSON array, NDJSON, records, Records, logEvents, OpenTelemetry logs) or with an envelope. inside: annotate each member within the record; split: write each member of a batch as a record of its own, with the same key and headers; off: treat the record as one event. Also applies to pipe and the library.',
        }),
      },
      section('Input topics.'),
    ),
    output: Type.Object(
      {
        topic: Type.String({
          default: '',
          pattern: topicName,
          description: 'The topic for annotated events. Required for Kafka.',
        }),
        partitionBy: Type.Union([Type.Literal('input'), Type.Literal('key')], {
          default: 'input',
          description:
            'input: the input partition modulo the number of output partitions, which preserves order; key: by the hash of the key, like the Java client.',
        }),
        compression: Type.Union([Type.Literal('none'), Type.Literal('gzip'), Type.Literal('zstd')], {
          default: 'none',
          description: 'Compression of the output; zstd needs Node 22.15.',
        }),
      },
      section('The output topic.'),
    ),
    alertsTopic: derivedTopic(
      '-alerts',
      'The topic for alerts. They are written in the same transaction as their events.',
    ),
    sightingsTopic: derivedTopic(
      '-state',
      'The topic for pending events and past sightings. It keeps late and retro alerts across crashes and rebalances, and feeds `threatweave history`. Compacted (cleanup.policy compact,delete). Without it this state is only in memory.',
    ),
    correctionsTopic: derivedTopic(
      '-corrections',
      'The topic for corrections: an event that was written before its lookup finished is written again with the verdict, with the same key and enrichment_id.',
    ),
    verdictsTopic: derivedTopic(
      '-verdicts',
      'The topic that shares lookup answers between all processes, so that each answer is paid for once, even after a start with an empty disk; see docs/sharing.md. Without it each process has only its own answers.',
    ),
    verdictsKey: Type.String({
      default: '',
      secret: true,
      description:
        'The key that signs records in the verdicts topic; records without a valid signature are ignored. Empty: every writer is trusted, so restrict write access.',
    }),
    gatewaysTopic: Type.String({
      default: '',
      pattern: topicName,
      description:
        'For several gateways (`serve --upstream`): the topic for leader election and the spent budget. The leader calls the provider and the others forward lookups to it. One partition, compacted; the name is also their group id. See docs/scaling.md. Empty: this is the only gateway.',
    }),
    deadLetterTopic: derivedTopic(
      '-dead-letter',
      'The dead letter topic for records that the output topic refuses, unchanged and with the reason in headers. Without it such a record stops the worker.',
    ),
    delivery: Type.Union([Type.Literal('at-least-once'), Type.Literal('exactly-once')], {
      default: 'at-least-once',
      description:
        'exactly-once writes output and offsets in one transaction; consumers of the output should use read_committed.',
    }),
    tls: Type.Object(
      {
        enabled: Type.Boolean({ default: false, description: 'Use TLS for connections to the brokers.' }),
        caFile: Type.String({
          default: '',
          description: 'A file of certificate authorities to trust instead of the system ones (PEM).',
        }),
        certificateFile: Type.String({
          default: '',
          description: 'The client certificate file, if the brokers require one (PEM).',
        }),
        keyFile: Type.String({ default: '', description: 'The private key of that certificate (PEM).' }),
        keyPassphrase: Type.String({ default: '', secret: true, description: 'The passphrase of that key.' }),
        serverName: Type.String({
          default: '',
          description: 'The name expected in the certificates of the brokers, if it differs from the host.',
        }),
      },
      section('TLS; files are read at every start.'),
    ),
    sasl: Type.Object(
      {
        mechanism: Type.Union(
          [
            Type.Literal('none'),
            Type.Literal('plain'),
            Type.Literal('scram-sha-256'),
            Type.Literal('scram-sha-512'),
            Type.Literal('oauthbearer'),
            Type.Literal('aws-msk-iam'),
          ],
          { default: 'none', description: 'The SASL mechanism.' },
        ),
        username: Type.String({ default: '', description: 'For plain and scram.' }),
        password: Type.String({ default: '', secret: true, description: 'For plain and scram.' }),
        tokenFile: Type.String({
          default: '',
          description: 'For oauthbearer: a file with the token; it is read at every authentication.',
        }),
        tokenUrl: Type.String({
          default: '',
          description:
            'For oauthbearer, instead of a file: the URL of a token server (client credentials grant). A token is renewed at 80 % of its lifetime.',
        }),
        clientId: Type.String({ default: '', description: 'The client id at the token server.' }),
        clientSecret: Type.String({ default: '', secret: true, description: 'The client secret at the token server.' }),
        clientAuthentication: Type.Union([Type.Literal('basic'), Type.Literal('body')], {
          default: 'basic',
          description: 'How to send id and secret to the token server: in the Authorization header or in the body.',
        }),
        scope: Type.String({ default: '', description: 'The scope to request, if the token server needs one.' }),
        audience: Type.String({ default: '', description: 'The audience to request, if the token server needs one.' }),
        extensions: Type.Record(
          Type.String({ pattern: '^[A-Za-z]{1,64}$' }),
          Type.String({ pattern: '^[\\x20-\\x7e]{1,512}$' }),
          {
            default: {},
            additionalProperties: false,
            description:
              'For oauthbearer: SASL extensions that the brokers expect, for example { logicalCluster: lkc-1, identityPoolId: pool-1 }.',
          },
        ),
        tokenCaFile: Type.String({
          default: '',
          description:
            'A PEM file of certificate authorities to trust for the token server, in addition to the default ones.',
        }),
        allowHttp: Type.Boolean({
          default: false,
          description:
            'Allow a token server without TLS on another machine; secret and token are then sent unencrypted.',
        }),
        region: Type.String({
          default: '',
          pattern: '^[a-z0-9-]{0,32}$',
          description:
            'For aws-msk-iam: the region of the cluster. Credentials are found in the same places as with the AWS SDK.',
        }),
      },
      section('Authentication (SASL).'),
    ),
    limits: Type.Object(
      {
        drainMs: Type.Integer({
          default: 20_000,
          minimum: 100,
          maximum: 600_000,
          description: 'How long a shutdown may take; unfinished work is repeated after the next start.',
        }),
        sessionTimeoutMs: Type.Integer({
          default: 45_000,
          minimum: 1000,
          maximum: 1_800_000,
          description: 'Without a heartbeat for this long, the group gives the partitions to another worker.',
        }),
      },
      section('Timeouts that depend on the deployment.'),
    ),
  },
  section('The Kafka service.'),
)
