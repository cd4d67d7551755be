// Types of formats.mjs for the tests.
import type { DescribedFormat } from '../src/app/describe-formats.js'
export const withFormatsTable: (text: string, described: readonly DescribedFormat[]) => string
