// The `formats` command: lists the known log formats, with an example of each and the extracted fields.
import { loadConfig } from '../app/load-config.js'
import { configOption } from '../config/load-config.js'
import { describeFormats, type DescribedFormat } from '../app/describe-formats.js'
import { exitCodes, type Command } from '../terminal/command.js'
import { write, writeJson } from '../terminal/write-lines.js'

export const formats: Command = {
  summary: 'list the known log formats, with an example of each and the extracted fields',
  help: `Usage: threatweave formats [options] [ID…]

Lists the log formats that come with the program and those of extract.formats: for each kind of line an example, the addresses and
names that are found in it with their roles, and the action. With ids, only those. JSON, CEF, LEEF, key=value and sentences whose
names and words tell who is who need no format; threatweave explain shows how any line is read.

  -c, --config FILE   the configuration
      --json          print one JSON object per kind of line

Example:
  threatweave formats cisco-asa

Exit codes: 0 listed, 1 no format has such an id, 64 wrong usage, 78 wrong configuration.
`,
  options: { ...configOption, json: { type: 'boolean' } },
  takesArguments: [[]],
  run: async (args, io) => {
    const config = loadConfig(args, io)
    const all = describeFormats(config.extract.formats)
    const unknown = args.positionals.find((id) => !all.some((format) => format.id === id))
    if (unknown !== undefined) {
      await write(io.stderr, `no format has the id ${unknown}\n`)
      return exitCodes.failure
    }
    const wanted = all.filter(({ id }) => args.positionals.length === 0 || args.positionals.includes(id))
    if (args.values.json === true) for (const one of wanted) await writeJson(io.stdout, `${JSON.stringify(one)}\n`)
    else await write(io.stdout, wanted.map(shown).join('\n'))
    return exitCodes.ok
  },
}

const shown = ({ id, variant, example, action, found }: DescribedFormat): string =>
  [
    variant === undefined ? id : `${id}.${variant}`,
    `  ${example}`,
    ...found.map(({ role, value }) => `    ${role.padEnd(12)} ${value}`),
    ...(action === 'unknown' ? [] : [`    ${'action'.padEnd(12)} ${action}`]),
    '',
  ].join('\n')
