// What is remembered is answered at once: fresh as it is, bad news past its life as stale, good news past its life not at all.
import { ownText } from '../base/bounded-cache.js'
import { unknownOf, type Finding } from '../domain/finding.js'
import { networkOf } from '../domain/peer-network.js'
import type { Ask, Former, Layer } from '../domain/lookup.js'
import type { Cooldown } from './memory/cooldown.js'
import type { Memory, Remembered } from './memory/memory.js'
import type { QuestionType } from './question.js'

/** Between two attempts to refresh the same finding, however often it is asked for. */
const refreshSpacingMs = 10_000

/** `refreshed` is counted next to the answer that is refreshed in the background. */
export type Recalled = 'fresh' | 'stale' | 'cooling' | 'missed' | 'refreshed'

export const recall =
  <Question>(
    { keyOf, own }: Pick<QuestionType<Question>, 'keyOf' | 'own'>,
    memory: Memory<Question>,
    cooldown: Cooldown,
    now: () => number,
    /** Called for every ask with how it went. */
    recalled?: (how: Recalled) => void,
  ): Layer<Question> =>
  (inner) => {
    const refresh = (key: string, question: Question, ask: Ask, former: Former): void => {
      // What comes of it is remembered further in; nobody waits for it here.
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

/** What lies further in keeps what it is given, some of it for days; the event that it was cut from must not stay in memory with it. */
const withoutEvent = ({ role, action, evidence, urgency, asker, peer, network }: Ask): Ask => ({
  role,
  action,
  evidence,
  ...(urgency !== undefined && { urgency }),
  asker,
  ...(peer !== undefined && { peer: ownText(peer), network: network ?? networkOf(peer) }),
})

const stale = (finding: Finding): Finding => (finding.status === 'known' ? { ...finding, stale: true } : finding)
