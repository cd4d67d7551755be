// A rule's detection as a tree, compiled into one closure; the tree is walked again only to explain a match.

/** The event as tests see it. */
export type EventView = {
  /** The value or values of a field, by its slot; read at most once. */
  readonly read: (slot: number) => unknown
  /** Every scalar of the event. */
  readonly leaves: () => readonly string[]
}

export type Test = {
  readonly kind: 'test'
  /** Absent for a search in the whole event. */
  readonly field?: string
  readonly holds: (view: EventView) => boolean
  /** The value that matched. */
  readonly witness: (view: EventView) => unknown
  /** An annotation member and the only values with which the test can match. */
  readonly needs?: Need
}

type Need = { readonly member: string; readonly values: ReadonlySet<string> }

export type Expression =
  | Test
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Expression[] }
  | { readonly kind: 'not'; readonly part: Expression }

export const both = (kind: 'and' | 'or', parts: readonly Expression[]): Expression => {
  const [only] = parts
  return only !== undefined && parts.length === 1 ? only : { kind, parts }
}

export const compile = (expression: Expression): ((view: EventView) => boolean) => {
  switch (expression.kind) {
    case 'test':
      return expression.holds
    case 'not': {
      const part = compile(expression.part)
      return (view) => !part(view)
    }
    case 'and':
    case 'or': {
      const parts = expression.parts.map(compile)
      const [first, second] = parts
      if (first !== undefined && second !== undefined && parts.length === 2)
        return expression.kind === 'and' ? (view) => first(view) && second(view) : (view) => first(view) || second(view)
      return expression.kind === 'and'
        ? (view) => parts.every((part) => part(view))
        : (view) => parts.some((part) => part(view))
    }
  }
}

/** Whether the expression would hold without its negations. */
export const holdsUnfiltered = (expression: Expression, view: EventView): boolean => {
  switch (expression.kind) {
    case 'test':
      return expression.holds(view)
    case 'not':
      return true
    case 'and':
      return expression.parts.every((part) => holdsUnfiltered(part, view))
    case 'or':
      return expression.parts.some((part) => holdsUnfiltered(part, view))
  }
}

export type Witness = { readonly field: string; readonly value: unknown }

/** The tests that matched, in the order of the rule; negations are left out. */
export const explainMatch = (expression: Expression, view: EventView): Witness[] => {
  switch (expression.kind) {
    case 'test':
      return expression.holds(view) ? [{ field: expression.field ?? '', value: expression.witness(view) }] : []
    case 'not':
      return []
    case 'and':
      return expression.parts.flatMap((part) => explainMatch(part, view))
    case 'or':
      return expression.parts.filter((part) => compile(part)(view)).flatMap((part) => explainMatch(part, view))
  }
}

/** Annotation members and the values that the expression requires. */
export const needsOf = (expression: Expression): Map<string, ReadonlySet<string>> => {
  switch (expression.kind) {
    case 'test':
      return new Map(expression.needs ? [[expression.needs.member, expression.needs.values]] : [])
    case 'not':
      return new Map()
    case 'and': {
      const all = new Map<string, ReadonlySet<string>>()
      for (const part of expression.parts)
        for (const [member, values] of needsOf(part)) {
          const before = all.get(member)
          if (before === undefined || values.size < before.size) all.set(member, values)
        }
      return all
    }
    case 'or': {
      const [first = new Map<string, ReadonlySet<string>>(), ...rest] = expression.parts.map(needsOf)
      const shared = new Map<string, ReadonlySet<string>>()
      for (const [member, values] of first) {
        const others = rest.map((needs) => needs.get(member))
        if (others.every((other) => other !== undefined))
          shared.set(member, new Set([...values, ...others.flatMap((other) => [...other])]))
      }
      return shared
    }
  }
}

export const testsOf = (expression: Expression): Test[] =>
  expression.kind === 'test'
    ? [expression]
    : expression.kind === 'not'
      ? testsOf(expression.part)
      : expression.parts.flatMap(testsOf)
