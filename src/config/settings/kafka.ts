// Settings of the Kafka service: where events come from, where they go, and how surely.
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

/** Without a name it has that of the output topic and an ending; set to nothing it is switched off. */
const derivedTopic = (ending: string, description: string) =>
  Type.Optional(
    Type.String({
      pattern: topicName,
      derived: `kafka.output.topic + ${ending}`,
      description: `${description} Set to nothing ('') it is switched off.`,
    }),
  )

const format = Type.Unsafe<TopicFormat>({ type: 'string', enum: [...topicFormats] })

export const kafkaSettings = Type.Object(
  {
    brokers: Type.Array(Type.String({ pattern: broker, form: 'host:port, such as kafka.example.com:9092' }), {
      default: [],
      description: 'Brokers to start from, as host:port. Must be set to use Kafka.',
    }),
    clientId: Type.String({
      default: 'threatweave',
      minLength: 1,
      description:
        'The name the brokers see in their logs and quotas. Transactional ids are <clientId>-<groupId>-<topic>-<partition>, for access rules.',
    }),
    groupId: Type.String({
      default: 'threatweave',
      minLength: 1,
      description: 'The consumer group; all workers of one service share it.',
    }),
    input: Type.Object(
      {
        topics: Type.Array(Type.String({ pattern: topicName, minLength: 1 }), {
          default: [],
          description: 'Topics to read; these or a pattern must be set to use Kafka. A topic we write to is refused.',
        }),
        pattern: Type.String({
          default: '',
          maxLength: 500,
          format: 'regex',
          description:
            'Or a regular expression over topic names, whole names only; new topics are found while running.',
        }),
        start: Type.Union([Type.Literal('earliest'), Type.Literal('latest')], {
          default: 'latest',
          description:
            'Where a new group begins: latest, with the next event; earliest, with the oldest one. A group whose offsets were deleted while it was away begins with the oldest one, if kafka.sightingsTopic knows it.',
        }),
        format: Type.Union(
          [format, Type.Record(Type.String({ pattern: topicName }), format, { maxProperties: 10_000 })],
          {
            default: 'text',
            form: 'text, registry, otlp_proto or binary, or one of them for each topic, as `topic: format` lines',
            description:
              'What values are: text (JSON too), registry (Avro, Protobuf or JSON with a schema of kafka.registry), otlp_proto (OpenTelemetry logs in Protobuf) or binary (anything else); or one for each topic, where a topic that is not named is text. Values that are not text come out byte for byte with the annotation in a header, those of otlp_proto with attributes inserted. See docs/topic-formats.md.',
          },
        ),
        batches: Type.Union([Type.Literal('inside'), Type.Literal('split'), Type.Literal('off')], {
          default: 'inside',
          description:
            'A record of many events (JSON array, NDJSON, records, Records, logEvents, OpenTelemetry logs) or in an envelope: inside, every member is looked at and annotated inside the record; split, every member of a record of many comes out as a record of its own, with the same key and headers; off, the record is one event as it is. Also for pipe and the library.',
        }),
      },
      section('What is read.'),
    ),
    output: Type.Object(
      {
        topic: Type.String({
          default: '',
          pattern: topicName,
          description: 'Where the annotated events go. Must be set to use Kafka.',
        }),
        partitionBy: Type.Union([Type.Literal('input'), Type.Literal('key')], {
          default: 'input',
          description:
            'input: the partition read from, modulo the number of output partitions, which keeps the order; key: as the Java client would place the key.',
        }),
        compression: Type.Union([Type.Literal('none'), Type.Literal('gzip'), Type.Literal('zstd')], {
          default: 'none',
          description: 'How output is compressed; zstd needs Node 22.15.',
        }),
      },
      section('What is written.'),
    ),
    alertsTopic: derivedTopic(
      '-alerts',
      'Where the alerts that rules raise go, in the same transaction as their events.',
    ),
    sightingsTopic: derivedTopic(
      '-state',
      'Where it is noted which events still wait for an answer and who has seen what, so that a kill or a rebalance loses no late or retro alert, and for `threatweave history`; compacted (cleanup.policy compact,delete). Without it they are only in memory.',
    ),
    correctionsTopic: derivedTopic(
      '-corrections',
      'Where an event that left before an answer goes once more when the answer is there, with the same key and enrichment_id.',
    ),
    verdictsTopic: derivedTopic(
      '-verdicts',
      'Where answers of the provider go that were paid for, so that every process of a fleet knows them and a start on an empty disk pays for nothing again; see docs/sharing.md. Without it each process knows what it has asked.',
    ),
    verdictsKey: Type.String({
      default: '',
      secret: true,
      description:
        'Signs what goes to the verdicts topic, and nothing is believed that it has not signed. Empty: who may write to the topic is believed.',
    }),
    gatewaysTopic: Type.String({
      default: '',
      pattern: topicName,
      description:
        'For several gateways (`serve --upstream`): where they settle which one calls the provider and what is spent; the others pass questions on. One partition, compacted; its name is also that of their group. See docs/scaling.md. Empty: this gateway is the only one.',
    }),
    deadLetterTopic: derivedTopic(
      '-dead-letter',
      'Where a record goes that the output topic cannot take, whole and with the reason in its headers. Without it such a record stops the worker.',
    ),
    delivery: Type.Union([Type.Literal('at-least-once'), Type.Literal('exactly-once')], {
      default: 'at-least-once',
      description: 'exactly-once writes output and offsets in one transaction; read the output with read_committed.',
    }),
    tls: Type.Object(
      {
        enabled: Type.Boolean({ default: false, description: 'Speak TLS with the brokers.' }),
        caFile: Type.String({
          default: '',
          description: 'Certificate authorities to trust instead of the system’s (PEM).',
        }),
        certificateFile: Type.String({
          default: '',
          description: 'Our certificate, if the brokers ask for one (PEM).',
        }),
        keyFile: Type.String({ default: '', description: 'The private key of that certificate (PEM).' }),
        keyPassphrase: Type.String({ default: '', secret: true, description: 'The passphrase of that key.' }),
        serverName: Type.String({
          default: '',
          description: 'The name to expect in the brokers’ certificates, if another.',
        }),
      },
      section('Encryption of the link; files are read at every start.'),
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
          { default: 'none', description: 'How we prove who we are.' },
        ),
        username: Type.String({ default: '', description: 'For plain and scram.' }),
        password: Type.String({ default: '', secret: true, description: 'For plain and scram.' }),
        tokenFile: Type.String({
          default: '',
          description: 'For oauthbearer: a file with the token, read again at every authentication.',
        }),
        tokenUrl: Type.String({
          default: '',
          description:
            'For oauthbearer, instead of a file: the address of a server that gives tokens for client credentials. A token is renewed at 80 % of its life.',
        }),
        clientId: Type.String({ default: '', description: 'Who we are at the token server.' }),
        clientSecret: Type.String({ default: '', secret: true, description: 'The secret of that client.' }),
        clientAuthentication: Type.Union([Type.Literal('basic'), Type.Literal('body')], {
          default: 'basic',
          description: 'Where the token server expects id and secret: in the header Authorization, or in the body.',
        }),
        scope: Type.String({ default: '', description: 'What the token shall be good for, if the token server asks.' }),
        audience: Type.String({ default: '', description: 'Whom the token shall be for, if the token server asks.' }),
        extensions: Type.Record(
          Type.String({ pattern: '^[A-Za-z]{1,64}$' }),
          Type.String({ pattern: '^[\\x20-\\x7e]{1,512}$' }),
          {
            default: {},
            additionalProperties: false,
            description:
              'For oauthbearer: what the brokers want to know besides the token, for example { logicalCluster: lkc-1, identityPoolId: pool-1 }.',
          },
        ),
        tokenCaFile: Type.String({
          default: '',
          description: 'A PEM file of certificate authorities to trust at the token server, besides the usual ones.',
        }),
        allowHttp: Type.Boolean({
          default: false,
          description:
            'Allow a token server without TLS on another machine; secret and token then travel in the clear.',
        }),
        region: Type.String({
          default: '',
          pattern: '^[a-z0-9-]{0,32}$',
          description:
            'For aws-msk-iam: the region of the cluster. Credentials are found as AWS’s own tools find them.',
        }),
      },
      section('Authentication of the link.'),
    ),
    limits: Type.Object(
      {
        drainMs: Type.Integer({
          default: 20_000,
          minimum: 100,
          maximum: 600_000,
          description: 'How long a stop may take before what is in progress is left for the next start.',
        }),
        sessionTimeoutMs: Type.Integer({
          default: 45_000,
          minimum: 1000,
          maximum: 1_800_000,
          description: 'After this long without a heartbeat the group takes our partitions.',
        }),
      },
      section('Bounds that depend on how it is deployed.'),
    ),
  },
  section('The Kafka service.'),
)
