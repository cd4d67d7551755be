// Reads lists/starter.yaml: public lists for a start without a key, each as feed settings with the terms a user agrees to.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type, type Static } from '@sinclair/typebox'
import { packageFolder } from '../base/package-folder.js'
import { describeProblem } from './problem.js'
import { feedsSettings } from './settings/intelligence.js'
import { createValidator, explain } from './validate.js'
import { readYamlFile } from './yaml-file.js'

const listSchema = Type.Object(
  {
    about: Type.String({ minLength: 1 }),
    licence: Type.String({ minLength: 1 }),
    terms: Type.String({ format: 'url' }),
    feed: feedsSettings.items,
  },
  { additionalProperties: false },
)
const starterSchema = Type.Object({ lists: Type.Array(listSchema, { minItems: 1 }) }, { additionalProperties: false })

type StarterList = Readonly<Static<typeof listSchema>>

const validate = createValidator(starterSchema)

/** The file ships with the program, so a problem in it is a bug and throws. */
export const starterLists = (): readonly StarterList[] => {
  const name = join(packageFolder, 'lists/starter.yaml')
  const { content, problems } = readYamlFile({ name, text: readFileSync(name, 'utf8') })
  const wrong = [...problems, ...validate(content).flatMap((error) => explain(error) ?? [])]
  if (wrong.length > 0) throw new Error(`${name}: ${wrong.map(describeProblem).join('; ')}`)
  return (content as Static<typeof starterSchema>).lists
}
