// How the bytes of an event were read: a closed list, told in the annotation of everything that is not a JSON object.

/** How the bytes were read. Only `json` is a JSON object that an annotation can be spliced into. */
export const contentKinds = [
  'json',
  'text',
  'broken_json',
  'json_array',
  'json_scalar',
  'too_large',
  'not_utf8',
  'empty',
] as const
export type ContentKind = (typeof contentKinds)[number]
