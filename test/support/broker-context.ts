// The shared broker, as integration tests see it.
import 'vitest'

type SharedBroker = {
  readonly how: 'environment' | 'docker' | 'java'
  /** `host:port` of the plain listener. */
  readonly plain: string
  /** Listeners with SASL and with TLS. */
  readonly secure?: {
    readonly sasl: string
    readonly tls: string
    readonly certificates: { readonly ca: string; readonly clientKey: string; readonly clientCertificate: string }
  }
  /** Java class path of Kafka's own tools, where there is one. */
  readonly classPath?: string
}

declare module 'vitest' {
  export interface ProvidedContext {
    broker: SharedBroker
  }
}
