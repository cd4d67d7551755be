// Settings that a part adds to the configuration, each with the schema at its path.
import type { Static, TObject, TSchema } from '@sinclair/typebox'

export type AddedSettings = { readonly path: readonly string[]; readonly schema: TSchema }

/** `of` reads them from a configuration; undefined where it was loaded without the part. */
export const settingsAt = <Schema extends TSchema>(
  path: string,
  schema: Schema,
): AddedSettings & { readonly of: (config: object) => Static<Schema> | undefined } => {
  const names = path.split('.')
  return {
    path: names,
    schema,
    of: (config) =>
      names.reduce<unknown>((node, name) => (node as Record<string, unknown> | undefined)?.[name], config),
  }
}

/** The schema with all of them. */
export const withAdded = (schema: TObject, added: readonly AddedSettings[]): TObject =>
  added.reduce((whole, { path, schema: at }) => put(whole, path, at), schema)

const put = (schema: TObject, [name = '', ...rest]: readonly string[], added: TSchema): TObject => {
  const below = rest.length === 0 ? added : put(schema.properties[name] as TObject, rest, added)
  const required = [...new Set([...(schema.required ?? []), name])]
  return { ...schema, required, properties: { ...schema.properties, [name]: below } }
}
