// What a connection shows to a broker that asks for a token, or why there is none.

/** `refused` needs an operator: the client, its secret or what it asked for is wrong. The others pass, or somebody repairs the server. */
export type LoginFailure = {
  readonly code: 'refused' | 'unavailable' | 'timeout' | 'bad_answer'
  /** In words, without anything secret. */
  readonly message: string
}

export type LoginToken = {
  readonly value: string
  /** Epoch milliseconds. */
  readonly endsAt: number
}

/** Answers at once while there is a token that has not ended. */
export type Login = () => Promise<LoginToken | LoginFailure>
