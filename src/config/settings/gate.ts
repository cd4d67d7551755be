// Settings of the gate: what may be asked of anybody outside.
import { Type } from '@sinclair/typebox'

export const gateSettings = Type.Object(
  {
    ownRanges: Type.Array(Type.String({ format: 'cidr' }), {
      default: [],
      description: 'Your own public addresses and ranges; they are never asked about and count as internal.',
    }),
    internalSuffixes: Type.Array(Type.String({ format: 'suffix' }), {
      default: [],
      description:
        'Domains of your own, for example [corp.example.com]; they and everything below them are never asked about.',
    }),
    allow: Type.Array(Type.String(), {
      default: [],
      description:
        'Files of addresses, ranges and names known to be harmless: not asked about. Plain text, one entry a line, # for comments, or MISP warninglists as JSON, of any type. An entry may end at a date: 203.0.113.7 until 2026-12-01 # false positive. A name stands for itself; .example.com, *.example.com and names of a hostname list stand for everything below as well.',
    }),
    deny: Type.Array(Type.String(), {
      default: [],
      description:
        'Files of addresses, ranges and names that must never leave, in the same formats; a name always takes everything below it along. They count as yours: local feeds are not asked about them either. Reported as own_range and internal_name.',
    }),
    askFreeText: Type.Boolean({
      default: false,
      description: 'Ask also about names that stand only in free text; off, those are looked up in local feeds alone.',
    }),
    documentation: Type.Boolean({
      default: false,
      description:
        'Treat documentation addresses (192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24, 2001:db8::/32, 3fff::/20) as if they were real: for samples and demonstrations.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'What may be asked, and what never leaves.' },
)
