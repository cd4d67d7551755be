// A download over HTTP: request and outcome.

/** A client certificate for mutual TLS, in PEM. */
export type ClientCertificate = { readonly cert: string; readonly key: string; readonly passphrase?: string }

export type DownloadRequest = {
  readonly url: string
  /** Not sent to another host after a redirect, because they may contain a key. */
  readonly headers: Readonly<Record<string, string>>
  /** From the last answer, so that an unchanged list is not downloaded again. */
  readonly etag?: string | undefined
  readonly lastModified?: string | undefined
  /** Allows plain HTTP, which anyone on the network path can read and change. */
  readonly allowHttp: boolean
  /** JSON to send; the request is then a POST and redirects are refused. */
  readonly body?: string | undefined
  /** Not used for another host after a redirect. */
  readonly clientCertificate?: ClientCertificate | undefined
  /** The file to write the body to. */
  readonly file: string
  /** A lower limit than the general one. */
  readonly maxBytes?: number
  readonly signal: AbortSignal
}

export type Downloaded =
  | {
      readonly status: 'new'
      readonly bytes: number
      readonly etag?: string
      readonly lastModified?: string
      /** A response header, by lower-case name. */
      readonly header: (name: string) => string | undefined
    }
  | { readonly status: 'same' }
  /** The message contains nothing from the request, which may hold secrets. */
  | {
      readonly status: 'failed'
      readonly message: string
      readonly retryAfterMs?: number
      /** The HTTP status, if there was a response. */
      readonly answered?: number
    }

export type Download = (request: DownloadRequest) => Promise<Downloaded>
