// Opens a lookup with a persistent memory, which is filled from its folder at startup and written to it.
import type { Finding } from '../domain/finding.js'
import { openKeptMemory } from './memory/kept-memory.js'
import type { Classify } from './memory/lifetime.js'
import { createMemory, type Memory } from './memory/memory.js'
import { createLookup, type LookupParts, type LookupSettings, type LookupStack } from './stack.js'

type OpenLookup<Question> = LookupStack<Question> & {
  readonly memory: Memory<Question>
  readonly close: () => Promise<void>
}

export const openLookup = async <Question>(
  settings: LookupSettings & { readonly memory: { readonly maxBytes: number } },
  parts: LookupParts<Question>,
  {
    classify,
    isWhole,
    ...folder
  }: {
    readonly classify: Classify<Question>
    /** Whether a finding has everything that the settings request; absent: always. */
    readonly isWhole?: (question: Question, finding: Finding) => boolean
  } & { readonly path?: string | undefined; readonly isNamed: boolean; readonly isReader?: boolean },
): Promise<OpenLookup<Question> | { readonly problem: string }> => {
  const { type, clock, emit } = parts
  const memory = createMemory(settings.memory, type.keyOf, classify, isWhole && { isWhole })
  const kept = await openKeptMemory(memory, type, {
    ...folder,
    isBudgeted:
      (settings.admit.isDefault !== true && (settings.admit.perHour > 0 || settings.admit.perDay > 0)) ||
      // The limits of a source always apply, but only a folder set by name justifies a refusal to start.
      (folder.isNamed && (settings.admit.limits ?? []).length > 0),
    maxBytes: settings.memory.maxBytes,
    clock,
    emit,
  })
  if ('problem' in kept) return kept
  return { ...createLookup(settings, parts, memory, kept), memory, close: kept.close }
}
