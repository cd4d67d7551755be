// The token for a broker connection, or the reason why there is none.

/**
 * `refused` needs an operator: the client, its secret or the requested scope is wrong. The other failures are temporary, or the server
 * must be repaired.
 */
export type LoginFailure = {
  readonly code: 'refused' | 'unavailable' | 'timeout' | 'bad_answer'
  /** A message without secrets. */
  readonly message: string
}

export type LoginToken = {
  readonly value: string
  /** Epoch milliseconds. */
  readonly endsAt: number
}

/** Answers from memory until the token expires. */
export type Login = () => Promise<LoginToken | LoginFailure>
