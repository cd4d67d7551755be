// A scope closes the parts that were opened in it, in reverse order, whether opening succeeded or failed halfway.

type Closable = { readonly close: () => unknown }

export type Scope = {
  /** Closes this part with the scope, after all parts that are opened later. */
  readonly use: <Part extends Closable | undefined>(part: Part) => Part
  /** Runs when the scope closes, before what was opened earlier is closed. */
  readonly defer: (close: () => unknown) => void
}

/** Runs `work` and then closes the scope. */
export const withScope = async <Result>(work: (scope: Scope) => Promise<Result>): Promise<Result> => {
  const { scope, close } = createScope()
  let result: Result
  try {
    result = await work(scope)
  } catch (error) {
    // The first failure is the one to report.
    await close().catch(() => undefined)
    throw error
  }
  await close()
  return result
}

/** Opens several parts as one, which closes them; if opening fails, they are closed at once. */
export const openParts = async <Parts extends object>(
  open: (scope: Scope) => Promise<Parts>,
): Promise<Parts & { readonly close: () => Promise<void> }> => {
  const { scope, close } = createScope()
  try {
    return { ...(await open(scope)), close }
  } catch (error) {
    await close().catch(() => undefined)
    throw error
  }
}

const createScope = (): { readonly scope: Scope; readonly close: () => Promise<void> } => {
  const closings: (() => unknown)[] = []
  let closing: Promise<void> | undefined
  const closeAll = async (): Promise<void> => {
    const failures: unknown[] = []
    for (let close = closings.pop(); close; close = closings.pop())
      try {
        await close()
      } catch (error) {
        // What was opened earlier is closed all the same.
        failures.push(error)
      }
    if (failures.length > 0) throw failures[0]
  }
  return {
    scope: {
      use: (part) => {
        if (part) closings.push(part.close)
        return part
      },
      defer: (close) => void closings.push(close),
    },
    close: () => (closing ??= closeAll()),
  }
}
