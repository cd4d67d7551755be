// The settings of a single KRaft node, with optional SASL and TLS listeners.

export const brokerUser = { username: 'weaver', password: 'weaver-secret' } as const

export const brokerProperties = (at: {
  readonly seen: string
  readonly bind: string
  readonly plain: number
  readonly controller: number
  readonly sasl: number
  readonly tls: number
  readonly secure: boolean
  readonly advertisedPort: number | undefined
}): string =>
  [
    'process.roles=broker,controller',
    'node.id=1',
    `controller.quorum.voters=1@127.0.0.1:${at.controller}`,
    'controller.listener.names=CONTROLLER',
    'inter.broker.listener.name=PLAIN',
    'listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAIN:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SSL',
    `listeners=PLAIN://${at.bind}:${at.plain},CONTROLLER://127.0.0.1:${at.controller}` +
      (at.secure ? `,SASL://${at.bind}:${at.sasl},TLS://${at.bind}:${at.tls}` : ''),
    `advertised.listeners=PLAIN://127.0.0.1:${at.advertisedPort ?? at.plain}` +
      (at.secure ? `,SASL://127.0.0.1:${at.sasl},TLS://localhost:${at.tls}` : ''),
    ...(at.secure
      ? [
          // Enforces ACLs on topics that have them; unauthenticated clients are super users.
          'authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer',
          'super.users=User:ANONYMOUS',
          'allow.everyone.if.no.acl.found=true',
          'sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER',
          'listener.name.sasl.oauthbearer.sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;',
          'listener.name.sasl.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;',
          'listener.name.sasl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;',
          `listener.name.sasl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_${brokerUser.username}="${brokerUser.password}";`,
          'listener.name.tls.ssl.keystore.type=PEM',
          `listener.name.tls.ssl.keystore.location=${at.seen}/server.pem`,
          'listener.name.tls.ssl.truststore.type=PEM',
          `listener.name.tls.ssl.truststore.location=${at.seen}/ca.pem`,
          'listener.name.tls.ssl.client.auth=required',
        ]
      : []),
    `log.dirs=${at.seen}/data`,
    'auto.create.topics.enable=false',
    'num.partitions=4',
    'offsets.topic.num.partitions=4',
    'offsets.topic.replication.factor=1',
    'transaction.state.log.num.partitions=4',
    'transaction.state.log.replication.factor=1',
    'transaction.state.log.min.isr=1',
    'share.coordinator.state.topic.num.partitions=1',
    'share.coordinator.state.topic.replication.factor=1',
    'share.coordinator.state.topic.min.isr=1',
    'group.initial.rebalance.delay.ms=0',
    'group.min.session.timeout.ms=1000',
    'log.retention.check.interval.ms=300000',
    'log.cleaner.backoff.ms=500',
    '',
  ].join('\n')
