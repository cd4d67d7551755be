// The innermost lookup where no service is configured: nobody is asked, and nobody's silence means clean.
import type { Lookup } from '../domain/lookup.js'

export const nobody: Lookup = () => ({ status: 'unknown', reason: 'not_listed' })
