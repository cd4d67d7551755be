// Generates docs/configuration.md from schemas/config.schema.json.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(import.meta.dirname, '..')
const reference = join(root, 'docs/configuration.md')

const variableOf = (path) =>
  `THREATWEAVE_${path
    .map((part) =>
      part
        .replace(/[A-Z]/g, (letter) => `_${letter}`)
        .replace(/[^A-Za-z0-9]/g, '_')
        .toUpperCase(),
    )
    .join('_')}`

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

const choicesOf = ({ anyOf, enum: words }) =>
  words ?? (anyOf?.every((branch) => 'const' in branch) ? anyOf.map((branch) => branch.const) : undefined)

const boundsOf = ({ minimum, maximum }) =>
  minimum === undefined && maximum === undefined ? '' : ` ${minimum ?? ''}…${maximum ?? ''}`

const kindOf = (schema) => {
  const choices = choicesOf(schema)
  if (choices) return choices.map((choice) => `\`${choice}\``).join(', ')
  if (schema.anyOf) return schema.anyOf.map(kindOf).join(' or ')
  if (schema.type === 'array') return `list of ${schema.items.properties ? 'entries' : kindOf(schema.items)}`
  if (schema.type === 'integer') return `whole number${boundsOf(schema)}`
  if (schema.type === 'number') return `number${boundsOf(schema)}`
  if (schema.type === 'boolean') return 'true or false'
  if (schema.type === 'string') return 'text'
  return schema.patternProperties || schema.type === 'object' ? 'names and values' : 'any'
}

const defaultOf = (schema) => schema.derived ?? defaultValueOf(schema)

const defaultValueOf = (schema) =>
  schema.default === undefined ? '' : schema.default === '' ? 'empty' : `\`${JSON.stringify(schema.default)}\``

const rowsOf = (schema, path) =>
  Object.entries(schema.properties).flatMap(([name, child]) => {
    const here = [...path, name]
    if (child.properties) return rowsOf(child, here)
    const secret = child.secret === true ? ' **Secret.**' : ''
    const row = `| \`${here.join('.')}\` | ${cell(kindOf(child))} | ${cell(defaultOf(child))} | ${cell(child.description ?? '')}${secret} |`
    return child.type === 'array' && child.items.properties
      ? [row, ...rowsOf(child.items, [...path, `${name}[]`])]
      : [row]
  })

const head = ['| setting | kind | default | |', '| --- | --- | --- | --- |']

const sectionOf = ([name, schema]) => {
  const rows = schema.properties ? rowsOf(schema, [name]) : rowsOf({ properties: { [name]: schema } }, [])
  return [`## ${name}`, '', ...(schema.description ? [schema.description, ''] : []), ...head, ...rows, '']
}

const secretsOf = (schema, path = []) =>
  schema.properties
    ? Object.entries(schema.properties).flatMap(([name, child]) => secretsOf(child, [...path, name]))
    : schema.secret === true
      ? [path]
      : []

export const configurationReference = () => {
  const schema = JSON.parse(readFileSync(join(root, 'schemas/config.schema.json'), 'utf8'))
  const sections = Object.entries(schema.properties).sort(([a], [b]) => (a < b ? -1 : 1))
  return `${[
    '# Configuration',
    '',
    '<!-- Written by scripts/configuration.mjs from schemas/config.schema.json; change the description of a setting instead. -->',
    '',
    'Every setting, for looking up. A configuration is one YAML file (`--config FILE` or `THREATWEAVE_CONFIG`), environment variables over it, and files for secrets:',
    '',
    '```yaml',
    'kafka:',
    '  brokers: [kafka-1.example.com:9093]',
    '  input: { topics: [firewall] }',
    '  output: { topic: firewall-annotated }',
    'feeds: [{ name: mine, path: list.txt }]',
    '```',
    '',
    '`threatweave init` writes a first one ([Set up](operations.md#set-up)). `threatweave check` names every problem at once; `threatweave check --print` shows the settings in force,',
    'secrets hidden. Editors complete and check the file with [`schemas/config.schema.json`](../schemas/config.schema.json).',
    '',
    'Every setting has a variable: `kafka.input.topics` is `THREATWEAVE_KAFKA_INPUT_TOPICS`, and each capital letter begins a new word:',
    '`intel.service.baseUrl` is `THREATWEAVE_INTEL_SERVICE_BASE_URL`. Lists may be written with commas; other values that are not text are YAML.',
    'Unknown settings and variables are refused. Relative paths start at the folder in which the program is started.',
    '',
    'Read secrets from files, named by the variable with `_FILE` at its end:',
    '',
    ...secretsOf(schema).map((path) => `- \`${path.join('.')}\`: \`${variableOf(path)}_FILE\``),
    '',
    ...sections.flatMap(sectionOf),
  ]
    .join('\n')
    .trimEnd()}\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(reference, configurationReference())
