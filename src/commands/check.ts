// check: says whether the configuration would run, with every problem at once; with --print, what is in force.
import { stringify } from 'yaml'
import { openReading } from '../app.js'
import { redact } from '../config/redact.js'
import { exitCodes, type Command } from './command.js'
import { accepted, configOption, loadConfig } from './load-config.js'

export const check: Command = {
  summary: 'say whether the configuration would run, naming every problem',
  help: `Usage: threatweave check [--config FILE] [--print]

Reads the configuration as every other command would (defaults, then the file, then the environment) and the files it
names, and lists everything that is wrong, each with its setting's name and where it was given. Asks nobody.

  -c, --config FILE   the YAML file; else THREATWEAVE_CONFIG names it; else only defaults and the environment count
      --print         show the settings in force as YAML, secrets hidden

Every setting has an environment variable: intel.service.apiKey is THREATWEAVE_INTEL_SERVICE_API_KEY, and a secret may be
read from a file: THREATWEAVE_INTEL_SERVICE_API_KEY_FILE=/run/secrets/key.

Example:
  THREATWEAVE_GATE_OWN_RANGES=198.51.100.0/24 threatweave check --print

Exit codes: 0 fine, 78 something is wrong with the configuration.
`,
  options: { ...configOption, print: { type: 'boolean' } },
  run: (args, io) => {
    const config = loadConfig(args, io)
    accepted(openReading(config))
    if (args.values.print === true) io.stdout.write(stringify(redact(config)))
    else io.stdout.write('The configuration is fine.\n')
    return Promise.resolve(exitCodes.ok)
  },
}
