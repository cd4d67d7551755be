// The `rules` command: checks Sigma rules, or runs them on annotated events.
import { matchedOf } from '../alerts/create-alert.js'
import { writtenCandidates } from '../alerts/candidates.js'
import { chooseMatches } from '../alerts/choose-matches.js'
import { annotationKey } from '../alerts/annotation-fields.js'
import type { LoadedRules } from '../alerts/load-rules.js'
import { describeRuleProblem, fieldsOf } from '../alerts/sigma/rule.js'
import type { RuleMatch } from '../alerts/sigma/rule-set.js'
import type { Config } from '../config/schema.js'
import { printable } from '../domain/control-characters.js'
import type { Annotation } from '../domain/annotation.js'
import { isObject, parseObject } from '../base/json-object.js'
import { openRuleEvents } from '../app/open-rule-events.js'
import { checkRules, loadConfiguredRules } from '../app/check-file.js'
import { exitCodes, UsageError, type Arguments, type Command, type Io } from '../terminal/command.js'
import { reportStop } from '../terminal/report-stop.js'
import { loadConfig } from '../app/load-config.js'
import { configOption } from '../config/load-config.js'
import { readLines, withInputErrors } from '../input/read-lines.js'
import { report } from '../terminal/report-remarks.js'
import { write, writeJson } from '../terminal/write-lines.js'

export const rules: Command = {
  summary: 'check Sigma rules, or test them on annotated events',
  help: `Usage: threatweave rules check [options] [PATH…]
       threatweave rules test [options] --events FILE [PATH…]

PATH is a rule file, or a folder of .yml and .yaml files. The default is the configuration: alerts.rules, and the bundled
rules unless alerts.bundled is false.

  check   lists every error, and every part that can never match, with file and line;
          \`threatweave check PATH\` does the same, also for formats and feeds
  test    reads annotated events, one JSON object per line (also .gz, - for standard input), and prints for each match
          the event, the rule, and the fields and values that matched; at the end, which fields of a rule no event has

Options:
  -e, --events FILE   the events for \`test\`; can be repeated
      --json          print one JSON object per line
  -c, --config FILE   the configuration (default: THREATWEAVE_CONFIG, or built-in defaults)
  -h, --help          this text

Example:
  threatweave rules check my-rules/
  threatweave pipe < firewall.log | threatweave rules test --events - my-rules/
  echo '{"threatweave":{"verdict":"malicious","direction":"inbound","action":"allowed"}}' | threatweave rules test -e -

Exit codes: 0 done, 1 a rule cannot be used.
`,
  options: {
    ...configOption,
    events: { type: 'string', short: 'e', multiple: true, takes: 'file' },
    json: { type: 'boolean' },
  },
  takesArguments: [['check', 'test'], 'file'],
  run: async (args, io) => {
    const [verb, ...paths] = args.positionals
    if (verb !== 'check' && verb !== 'test')
      throw new UsageError('use `threatweave rules check` or `threatweave rules test`')
    if (verb === 'check' && args.values.events !== undefined)
      throw new UsageError('--events applies only to `rules test`, not to `rules check`')
    const config = loadConfig(args, io)
    return verb === 'check'
      ? report(await checkRules(paths, config), args, io)
      : test(await loadConfiguredRules(paths, config), config, args, io)
  },
}

const test = async ({ set, problems }: LoadedRules, config: Config, args: Arguments, io: Io): Promise<number> => {
  if (problems.length > 0) {
    for (const problem of problems) io.stderr.write(`threatweave: ${printable(describeRuleProblem(problem))}\n`)
    return exitCodes.failure
  }
  const files = [args.values.events ?? []].flat().filter((name) => typeof name === 'string')
  if (files.length === 0) throw new UsageError('rules test needs --events FILE, or --events - for standard input')
  const counts = { events: 0, fired: 0, bare: 0, broken: 0 }
  const eventOf = openRuleEvents(config)
  const absent = new Set(set.rules.flatMap(fieldsOf))
  await withInputErrors(async () => {
    for await (const lines of readLines(files, io.stdin, io.signal)) {
      if (io.signal.aborted) break
      let out = ''
      for (const { bytes, origin } of lines) {
        if (bytes.length === 0) continue
        counts.events++
        const event = parseObject(bytes)
        if (!event) {
          counts.broken++
          continue
        }
        const found = event[config.output.key] ?? event[annotationKey]
        if (!isObject(found)) counts.bare++
        const annotation = (isObject(found) ? found : {}) as unknown as Annotation
        const seen = eventOf(event, annotation)
        for (const field of absent) if (set.has(field, { event: seen, annotation })) absent.delete(field)
        const matches = chooseMatches(set.match(writtenCandidates(annotation), () => seen))
        if (matches.length > 0) counts.fired++
        for (const match of matches) out += describe(origin, match, args.values.json === true)
      }
      await (args.values.json === true ? writeJson : write)(io.stdout, out)
    }
  })
  io.stderr.write(
    `${counts.fired} of ${count(counts.events, 'event')} matched a rule; ${count(set.size, 'rule')} loaded` +
      (counts.broken > 0 ? `; ${counts.broken} are not JSON objects` : '') +
      (counts.bare > 0 ? `; ${counts.bare} have no annotation under ${config.output.key}` : '') +
      '\n',
  )
  for (const rule of counts.events > 0 ? set.rules : []) {
    const missing = fieldsOf(rule).filter((field) => absent.has(field))
    if (missing.length > 0) io.stderr.write(printable(`${rule.title}: no event has ${missing.join(', ')}`) + '\n')
  }
  return reportStop(counts.events, io)
}

const describe = (origin: string, { rule, candidate, why }: RuleMatch, asJson: boolean): string => {
  const matched = matchedOf(why())
  const { value } = candidate
  const { id, title, level } = rule
  if (asJson)
    return `${JSON.stringify({ origin, rule: { id, title, level }, ...(value !== undefined && { value }), matched })}\n`
  const reasons = matched.map(({ field, value }) => `${field}=${String(value)}`).join(' ')
  return `${printable(`${origin}  ${level}  ${title}  because ${reasons || 'no condition excludes it'}`)}\n`
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
