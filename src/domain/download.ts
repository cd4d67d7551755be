// A file that is fetched over HTTP: what is asked for, and how it went.

/** In PEM: who we are to a server that asks for it. */
export type ClientCertificate = { readonly cert: string; readonly key: string; readonly passphrase?: string }

export type DownloadRequest = {
  readonly url: string
  /** Sent to this host alone, for they may hold a key. */
  readonly headers: Readonly<Record<string, string>>
  /** What the last answer said, so that a list that has not changed is not sent again. */
  readonly etag?: string | undefined
  readonly lastModified?: string | undefined
  /** Plain HTTP, which everybody on the way can read and change, is meant. */
  readonly allowHttp: boolean
  /** JSON to send: the request is a POST then, and is not redirected. */
  readonly body?: string | undefined
  /** Shown to the host of the address alone. */
  readonly clientCertificate?: ClientCertificate | undefined
  /** Where the body goes. */
  readonly file: string
  /** Less than what is allowed in general. */
  readonly maxBytes?: number
  readonly signal: AbortSignal
}

export type Downloaded =
  | {
      readonly status: 'new'
      readonly bytes: number
      readonly etag?: string
      readonly lastModified?: string
      /** Of the answer, by their names in lower case. */
      readonly header: (name: string) => string | undefined
    }
  | { readonly status: 'same' }
  /** The message holds nothing that was sent. */
  | {
      readonly status: 'failed'
      readonly message: string
      readonly retryAfterMs?: number
      /** The status that was answered, if one was. */
      readonly answered?: number
    }

export type Download = (request: DownloadRequest) => Promise<Downloaded>
