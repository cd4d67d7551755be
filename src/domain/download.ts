// A file that is fetched over HTTP: what is asked for, and how it went.

export type DownloadRequest = {
  readonly url: string
  /** Sent to this host alone, for they may hold a key. */
  readonly headers: Readonly<Record<string, string>>
  /** What the last answer said, so that a list that has not changed is not sent again. */
  readonly etag?: string | undefined
  readonly lastModified?: string | undefined
  /** Plain HTTP, which everybody on the way can read and change, is meant. */
  readonly allowHttp: boolean
  /** Where the body goes. */
  readonly file: string
  /** Less than what is allowed in general. */
  readonly maxBytes?: number
  readonly signal: AbortSignal
}

export type Downloaded =
  | { readonly status: 'new'; readonly bytes: number; readonly etag?: string; readonly lastModified?: string }
  | { readonly status: 'same' }
  /** The message holds nothing that was sent. */
  | { readonly status: 'failed'; readonly message: string; readonly retryAfterMs?: number }

export type Download = (request: DownloadRequest) => Promise<Downloaded>
