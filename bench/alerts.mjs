// Measures the cost of 100 rules in the pipeline, for events with and without malicious indicators.
import { ruleEventOf } from '../dist/alerts/annotated-event.js'
import { createFields } from '../dist/alerts/sigma/fields.js'
import { parseRules } from '../dist/alerts/sigma/parse-rules.js'
import { createRuleSet } from '../dist/alerts/sigma/rule-set.js'
import { systemClock } from '../dist/base/clock.js'
import { unknownOf } from '../dist/domain/finding.js'
import { createRangeSet } from '../dist/domain/range-set.js'
import { createDecide } from '../dist/lookup/gate.js'
import { createAnnotate } from '../dist/pipeline/annotate/annotate.js'
import { decode } from '../dist/pipeline/decode.js'
import { createEnrich } from '../dist/pipeline/enrich/enrich.js'
import { openFormats } from '../dist/app/open-formats.js'
import { createNamedValues } from '../dist/pipeline/extract/named-values.js'
import { createExtract } from '../dist/pipeline/extract/extract.js'
import { createInFlight } from '../dist/pipeline/enrich/in-flight.js'
import { createWaits } from '../dist/pipeline/enrich/wait.js'
import { measure } from './measure.mjs'
import { samples } from './samples.mjs'

const { formats } = openFormats([])
const named = createNamedValues(formats)
const decide = createDecide()
const inFlight = createInFlight(systemClock)
const wait = createWaits({ clock: systemClock, deadlineMs: 0, catchUpShare: 0, quietMs: inFlight.quietMs }).live
const annotate = createAnnotate({
  key: 'threatweave',
  onExisting: 'replace',
  layers: [],
  detail: 'auto',
  hasId: true,
  ownRanges: createRangeSet([]),
})
const flags = { is_malicious: false, can_remote_access: false, is_vpn: false, is_anonymous_vpn: false }
const verdict = { level: 'clean', score: 0, flags, because: 'nothing bad known', source: 'service', at: 0 }
const bad = { ...verdict, level: 'malicious', flags: { ...flags, is_malicious: true } }

const pipelineOf = (given, names) => {
  const extract = createExtract({ maxIndicators: 64, maxDepth: 64, formats, names })
  const enrich = createEnrich({
    lookup: (_, { decision }) => unknownOf(decision.decision === 'lookup' ? 'no_verdict' : decision.reason),
    decide,
    judge: ({ reason }) => (reason === 'no_verdict' ? given : { level: 'unknown', reason, flags: {}, because: '' }),
    clock: systemClock,
    inFlight,
  })
  return (bytes) => {
    const event = decode(bytes, { maxEventBytes: 1_048_576 })
    const extraction = extract(event)
    const { judged } = enrich.start(extraction, wait, 0)
    return annotate({ bytes, origin: 'firewall/3/1042' }, event, extraction, judged)
  }
}

/** Each rule tests the annotation and fields of the event; with `isMixed`, one in ten tests only fields. */
const rule = (n, isMixed) => {
  const field = ['source.port', 'destination.port', 'network.transport', 'rule.name'][n % 4]
  const first = ['threatweave.verdict: malicious', 'threatweave.is_tor: true', 'threatweave.is_malicious: true'][n % 3]
  const lines = isMixed && n % 10 === 9 ? [] : [first, 'threatweave.action: allowed']
  return `title: Rule ${n}\nid: 00000000-0000-4000-8000-${String(n).padStart(12, '0')}\ndetection:\n    sel:\n${[
    ...lines,
    `${field}: value-${n}`,
    `user.name|contains: admin${n}`,
  ]
    .map((text) => `        ${text}\n`)
    .join('')}    condition: sel\n`
}

const setOf = (count, isMixed) => {
  const fields = createFields('threatweave')
  const rules = Array.from({ length: count }, (_, n) => parseRules('bench.yml', rule(n, isMixed), { fields }).rules[0])
  return createRuleSet(rules, fields)
}

export const run = () => {
  const { from, json, text } = samples()
  const inputs = [...json, ...text]
  console.log(`  ${inputs.length} events (${from}), 100 rules`)
  for (const isMixed of [false, true])
    for (const [name, given] of [
      ['nothing malicious', verdict],
      ['everything malicious', bad],
    ]) {
      const set = setOf(100, isMixed)
      const pipeline = pipelineOf(given)
      const noting = pipelineOf(given, () => set.names)
      const withRules = (bytes) => {
        const one = noting(bytes)
        const out = one.bytes()
        return out.length + set.match([one.annotation], () => ruleEventOf(one, named)).length > 0 ? out : ''
      }
      const works = { pipeline: (bytes) => pipeline(bytes).bytes(), rules: withRules }
      const measured = measure(works, inputs, { rounds: 21 })
      const added = measured.rules.us - measured.pipeline.us
      const rules = isMixed ? 'ten of them on fields alone' : 'all on the annotation too'
      console.log(
        `  ${name.padEnd(22)}${rules.padEnd(28)}pipeline ${measured.pipeline.us.toFixed(2)} µs, rules add ${added.toFixed(2)} µs`,
      )
    }
}
