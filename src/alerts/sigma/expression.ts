// A rule's detection as a tree: built once into one closure that answers quickly, and walked again only to say why it fired.

/** What a test looks at. */
export type View = {
  /** Value, values or nothing of a field of the rule set, by its slot; read once however many tests ask. */
  readonly read: (slot: number) => unknown
  /** Every scalar of the event. */
  readonly leaves: () => readonly string[]
}

export type Test = {
  readonly kind: 'test'
  /** Absent on a search for words anywhere. */
  readonly field?: string
  readonly holds: (view: View) => boolean
  /** The value that made it hold. */
  readonly witness: (view: View) => unknown
  /** An annotation's member and the only values with which the test can hold. */
  readonly needs?: Need
}

export type Need = { readonly member: string; readonly values: ReadonlySet<string> }

export type Expression =
  | Test
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Expression[] }
  | { readonly kind: 'not'; readonly part: Expression }

export const both = (kind: 'and' | 'or', parts: readonly Expression[]): Expression => {
  const [only] = parts
  return only !== undefined && parts.length === 1 ? only : { kind, parts }
}

export const compile = (expression: Expression): ((view: View) => boolean) => {
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

export type Witness = { readonly field: string; readonly value: unknown }

/** The tests that made an expression true, in the order of the rule; what was asked not to be there leaves no witness. */
export const explain = (expression: Expression, view: View): Witness[] => {
  switch (expression.kind) {
    case 'test':
      return expression.holds(view) ? [{ field: expression.field ?? '', value: expression.witness(view) }] : []
    case 'not':
      return []
    case 'and':
      return expression.parts.flatMap((part) => explain(part, view))
    case 'or':
      return expression.parts.filter((part) => compile(part)(view)).flatMap((part) => explain(part, view))
  }
}

/** Members of the annotation without one of whose values the expression cannot be true. */
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
