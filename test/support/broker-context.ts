// Types of the shared broker that integration tests use.
import 'vitest'

type SharedBroker = {
  readonly how: 'environment' | 'docker' | 'java'
  /** `host:port` of the plaintext listener. */
  readonly plain: string
  /** The SASL and TLS listeners. */
  readonly secure?: {
    readonly sasl: string
    readonly tls: string
    readonly certificates: { readonly ca: string; readonly clientKey: string; readonly clientCertificate: string }
  }
  /** The Java class path of Kafka's tools, if Kafka runs from jars. */
  readonly classPath?: string
}

declare module 'vitest' {
  export interface ProvidedContext {
    broker: SharedBroker
  }
}
