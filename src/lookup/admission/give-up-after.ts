// A source that never comes back must not hold the one slot for ever: after a while the answer is that there was none.
import type { Clock } from '../../domain/clock.js'
import type { Unknown } from '../../domain/finding.js'
import type { Reason } from '../../domain/reason.js'

const unknown = (reason: Reason): Unknown => ({ status: 'unknown', reason })

/** Never rejects: a source that throws gave a bad answer. */
export const giveUpAfter = <Result>(
  timeoutMs: number,
  request: () => Promise<Result | Unknown>,
  clock: Clock,
): Promise<Result | Unknown> =>
  new Promise((resolve) => {
    const cancel = clock.after(timeoutMs, () => resolve(unknown('timeout')))
    const settle = (answer: Result | Unknown): void => {
      cancel()
      resolve(answer)
    }
    const fail = (): void => settle(unknown('bad_answer'))
    try {
      request().then(settle, fail)
    } catch {
      fail()
    }
  })
