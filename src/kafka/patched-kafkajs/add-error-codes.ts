// Adds the error code of a fenced producer, which the table of kafkajs lacks.

type ErrorTable = {
  readonly errorCodes: { type: string; code: number; retriable: boolean; message: string }[]
  readonly createErrorFromCode: (code: number) => { readonly type?: string }
}

const fenced = {
  type: 'PRODUCER_FENCED',
  code: 90,
  retriable: false,
  message: 'There is a newer producer with the same transactional id',
}

/** Returns a problem if the addition had no effect. */
export const addErrorCodes = (table: unknown): string | undefined => {
  const { errorCodes, createErrorFromCode } = table as ErrorTable
  if (!errorCodes.some(({ code }) => code === fenced.code)) errorCodes.push(fenced)
  return createErrorFromCode(fenced.code).type === fenced.type
    ? undefined
    : 'kafkajs does not use its own table of error codes: reinstall the dependencies with `npm ci`'
}
