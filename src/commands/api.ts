// The `api` command: calls one operation of the provider and prints the answer.
import { didYouMean } from '../config/did-you-mean.js'
import { isTemporary } from '../domain/reason.js'
import { printable } from '../domain/control-characters.js'
import { buildRequest } from '../provider/build-request.js'
import { isOperation, operationNames, operations, type Operation } from '../domain/operations.js'
import { exitCodes, UsageError, type Command } from '../terminal/command.js'
import { loadConfig } from '../app/load-config.js'
import { accepted, configOption } from '../config/load-config.js'
import { openProfile } from '../app/open-profile.js'
import { providerClient } from '../app/provider-client.js'
import { writeJson } from '../terminal/write-lines.js'

const parameterNames = [...new Set(operationNames.flatMap((name) => Object.keys(operations[name].parameters)))]

const describe = (name: (typeof operationNames)[number]): string => {
  const { about, parameters }: Operation = operations[name]
  const options = Object.entries(parameters).map(([key, { required, default: given, about: what }]) => {
    const note = required ? what : given === undefined ? `${what}; optional` : `${what}; default ${String(given)}`
    return `      --${key.padEnd(14)} ${note}`
  })
  return [`  ${name.padEnd(25)} ${about}`, ...options].join('\n')
}

export const api: Command = {
  summary: 'call an operation of the lookup service and print the raw answer',
  help: `Usage: threatweave api OPERATION [--name value…] [--config FILE]

Calls one operation of the lookup service and prints its JSON answer. Every call may cost a credit; domain/scan and
domain/scan/private always do. A public scan is visible to everyone.

Operations and their parameters:
${operationNames.map(describe).join('\n')}

  -c, --config FILE   the configuration (intel.service)

Example:
  THREATWEAVE_INTEL_SERVICE_API_KEY_FILE=key.txt threatweave api ip/summary --ip 198.51.100.23

Exit codes: 0 answered, 1 refused or not answered, 64 wrong usage.
`,
  options: {
    ...configOption,
    ...Object.fromEntries(parameterNames.map((name) => [name, { type: 'string' } as const])),
  },
  takesArguments: [operationNames, []],
  run: async (args, io) => {
    const [name, ...rest] = args.positionals
    if (name === undefined || !isOperation(name))
      throw new UsageError(
        name === undefined
          ? 'which operation? `threatweave api --help` lists them'
          : `there is no operation ${JSON.stringify(name)}${didYouMean(name, operationNames) || '; `threatweave api --help` lists them'}`,
      )
    if (rest.length > 0) throw new UsageError(`write parameters as --name value, not ${JSON.stringify(rest[0])}`)
    const config = loadConfig(args, io)
    const given = Object.fromEntries(Object.entries(args.values).filter(([key]) => parameterNames.includes(key)))
    const built = buildRequest(name, given, accepted(openProfile(config.intel.service)).profile)
    if ('problem' in built) throw new UsageError(built.problem)
    const client = providerClient(config, io)
    try {
      const reply = await client.callNamed(name, given)
      if (reply.status === 'answer') {
        await writeJson(io.stdout, `${JSON.stringify(reply.body, null, io.stdout.isTTY === true ? 2 : undefined)}\n`)
        return exitCodes.ok
      }
      const { reason, detail } = reply.failure
      io.stderr.write(
        `threatweave: ${name} failed: ${reason}, ${printable(detail)}${isTemporary(reason) ? '; try again later' : ''}\n`,
      )
      return exitCodes.failure
    } finally {
      await client.close()
    }
  },
}
