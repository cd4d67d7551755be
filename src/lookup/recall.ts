// Answers from memory: fresh findings as they are, expired accusations marked stale, other expired findings not at all.
import { ownText } from '../base/bounded-cache.js'
import { unknownOf, type Finding } from '../domain/finding.js'
import { networkOf } from '../domain/peer-network.js'
import type { Ask, Former, Layer } from '../domain/lookup.js'
import type { Cooldown } from './memory/cooldown.js'
import type { Memory, Remembered } from './memory/memory.js'
import type { QuestionType } from './question.js'

/** The minimum time between two refreshes of the same finding. */
const refreshSpacingMs = 10_000

/** `refreshed` is counted in addition to the answer, when a background refresh starts. */
export type Recalled = 'fresh' | 'stale' | 'cooling' | 'missed' | 'refreshed'

export const recall =
  <Question>(
    { keyOf, own }: QuestionType<Question>,
    memory: Memory<Question>,
    cooldown: Cooldown,
    now: () => number,
    /** Called for every lookup with its outcome. */
    recalled?: (how: Recalled) => void,
  ): Layer<Question> =>
  (inner) => {
    const refresh = (key: string, question: Question, ask: Ask, former: Former): void => {
      // An inner layer remembers the result; no caller waits for it here.
      if (cooldown.isCooling(key)) return
      recalled?.('refreshed')
      void inner(own(question), withFormer(ask, former))
    }
    return (question, ask) => {
      const key = keyOf(question)
      const remembered = memory.get(key)
      if (remembered) {
        const time = ask.now ?? now()
        if (time < remembered.servedUntil) {
          if (time >= remembered.refreshAt && ask.isFree !== true) {
            remembered.refreshAt = time + refreshSpacingMs
            refresh(key, question, ask, formerOf(remembered, time))
          }
          if (time < remembered.freshUntil) {
            recalled?.('fresh')
            return remembered.finding
          }
          recalled?.('stale')
          return (remembered.stale ??= stale(remembered.finding))
        }
      }
      if (ask.isFree === true) return unknownOf('pending')
      if (cooldown.isCooling(key)) {
        recalled?.('cooling')
        return { status: 'unknown', reason: 'cooling_down' }
      }
      recalled?.('missed')
      return inner(
        own(question),
        remembered ? withFormer(ask, formerOf(remembered, ask.now ?? now())) : withoutEvent(ask),
      )
    }
  }

const formerOf = ({ finding, refreshAfterMs }: Remembered, now: number): Former => ({
  finding,
  since: now - refreshAfterMs,
})

const withFormer = (ask: Ask, former: Former): Ask => ({ ...withoutEvent(ask), former })

/** Inner layers keep the ask, sometimes for days, so it must not keep the event's text in memory. */
const withoutEvent = ({ role, action, evidence, urgency, asker, peer, network }: Ask): Ask => ({
  role,
  action,
  evidence,
  ...(urgency !== undefined && { urgency }),
  asker,
  ...(peer !== undefined && { peer: ownText(peer), network: network ?? networkOf(peer) }),
})

const stale = (finding: Finding): Finding => (finding.status === 'known' ? { ...finding, stale: true } : finding)
