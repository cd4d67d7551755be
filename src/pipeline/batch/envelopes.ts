// Envelopes as data: how a record is recognised that carries its event encoded or in one member, and where the annotation goes.

export type Place =
  /** In the member itself. */
  | 'member'
  /** In the list `attributes` of the member, as OpenTelemetry has it. */
  | 'attributes'
  /** In the event if it is an object, else flat in the object `fields` of the envelope, as Splunk has it. */
  | 'fields'
  /** A member of the envelope. */
  | 'top'
  /** A header: the envelope may have no member more. */
  | 'header'

export type Envelope = {
  readonly id: string
  /** The names that its objects may have, level by level down to the event; the last one is the event's. */
  readonly path: readonly string[]
  /** What else may stand at the top: anything more, and the record is an ordinary event. */
  readonly beside: readonly string[]
  /** What must stand at the top. */
  readonly needs: readonly string[]
  readonly encoding: 'none' | 'base64'
  readonly place: Place
}

export const envelopes: readonly Envelope[] = [
  {
    id: 'splunk-hec',
    path: ['event'],
    beside: ['time', 'host', 'source', 'sourcetype', 'index', 'fields'],
    needs: ['sourcetype'], // without it `source` may be an address, and the object an event of its own
    encoding: 'none',
    place: 'fields',
  },
  // JsonConverter with schemas.enable: a converter refuses a member that its schema does not have.
  { id: 'kafka-connect', path: ['payload'], beside: ['schema'], needs: ['schema'], encoding: 'none', place: 'header' },
  {
    id: 'pub-sub',
    path: ['message', 'data'],
    beside: ['subscription', 'deliveryAttempt'],
    needs: [],
    encoding: 'base64',
    place: 'top',
  },
  // What a subscription of Amazon CloudWatch delivers: gzip in base64.
  { id: 'cloudwatch', path: ['awslogs', 'data'], beside: [], needs: [], encoding: 'base64', place: 'top' },
]
