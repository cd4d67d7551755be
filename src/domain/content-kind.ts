// The closed list of what the bytes of an event can be; `read_as` of the annotation.

/** Only `json` is a JSON object that an annotation can be inserted into. */
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
