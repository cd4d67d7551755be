// Fuzzes with hostile events, answers, feeds and rules: nothing may throw, take more than 50 ms, or leak memory.
import { existsSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createFields } from '../dist/alerts/sigma/fields.js'
import { parseRules } from '../dist/alerts/sigma/parse-rules.js'
import { createRuleSet } from '../dist/alerts/sigma/rule-set.js'
import { openApp } from '../dist/app/open-app.js'
import { load } from '../dist/config/load.js'
import { collect } from '../dist/feeds/collect.js'
import { parserOf } from '../dist/feeds/detect.js'
import { allOf } from '../dist/pipeline/pipeline.js'
import { bundledProfile } from '../dist/app/open-profile.js'
import { createAnswerReader } from '../dist/provider/answer-reader.js'
import { parseBody } from '../dist/provider/parse-body.js'
import { createAnnotationKey } from '../dist/pipeline/annotate/annotation-key.js'
import { addAttributesTo } from '../dist/pipeline/otlp/add-attributes.js'
import { findLogRecords, withoutAttributes } from '../dist/pipeline/otlp/find-log-records.js'
import { openRegistry } from '../dist/parts/binary-topics/open-registry.js'
import { createRandom, mutate, mutateBytes } from './mutate.mjs'
import { fieldOf, mutateField } from './mutate-protobuf.mjs'

const { values: given } = parseArgs({
  options: {
    seconds: { type: 'string' },
    inputs: { type: 'string' },
    seed: { type: 'string' },
    /** Fuzzes only this one of the targets below. */
    only: { type: 'string' },
  },
})
const seconds = Number(given.seconds ?? 60)
const inputs = Number(given.inputs ?? 1_000_000)
const seed = Number(given.seed ?? 1)
const limitMs = 50
const root = resolve(import.meta.dirname, '..')
const read = (path) => readFileSync(join(root, path), 'utf8')
const filesBelow = (path) =>
  readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.mmdb') && !entry.name.endsWith('.md'))
    .map((entry) => join(entry.parentPath, entry.name))
const linesOf = (text) => text.split('\n').filter((line) => line.trim() !== '')

const corpus = resolve(root, '../shared/corpus/firewall-logs.ndjson')
const events = [
  ...filesBelow('test/cases')
    .filter((path) => path.endsWith('input.log'))
    .flatMap((path) => linesOf(readFileSync(path, 'utf8'))),
  ...linesOf(read('examples/logs/firewall.log')),
  ...(existsSync(corpus) ? linesOf(readFileSync(corpus, 'utf8')).map((line) => JSON.parse(line).raw ?? line) : []),
]
const answers = [
  '{"ip":"198.51.100.60","status":200,"is_malicious":true,"score":{"inbound":"Critical","outbound":"Low"},"issues":{"is_vpn":false,"is_tor":true},"ip_category":{"count":1,"data":[{"detect_source":"C2","type":"malware","detect_info":{}}]},"ids":{"count":2,"data":[{"classification":"scan","confirmed_time":"2026-11-01 08:00:00"}]},"current_opened_port":{"count":1,"data":[{"port":22,"is_vulnerability":true}]}}',
  '{"status":200,"data":{"count":1,"reports":[{"domain":"bad.example.com","scan_id":7,"reg_dtime":"2026-11-01 08:00:00","score":"Dangerous","issue":["phishing"],"url":"https://bad.example.com/"}]}}',
  '{"status":200,"data":{"main_domain_info":{"main_domain":"bad.example.com","domain_score":{"score":"Critical","score_num":90}},"summary":{"phishing_record":1,"url_phishing_prob":80.5,"newborn_domain":"2026-11-01"},"classification":{"domain_type":[{"name":"malware","type":"malware"}]}}}',
  ...filesBelow('examples/intel/reports').map((path) => readFileSync(path, 'utf8')),
]
const feeds = [
  ...filesBelow('examples/feeds').map((path) => readFileSync(path, 'utf8')),
  ...filesBelow('examples/intel/feeds').map((path) => readFileSync(path, 'utf8')),
  `{"type":"bundle","id":"bundle--1","objects":[{"type":"indicator","id":"indicator--1","pattern_type":"stix","pattern":"[ipv4-addr:value = '198.51.100.7' OR domain-name:value = 'bad.example.com']","valid_from":"2026-11-01T00:00:00Z"}]}`,
  '{"Event":{"uuid":"u","info":"x","Attribute":[{"uuid":"a","type":"ip-dst","value":"198.51.100.7","to_ids":true},{"type":"domain|ip","value":"bad.example.com|203.0.113.9","to_ids":true}]}}',
]
const rules = filesBelow('rules').map((path) => readFileSync(path, 'utf8'))

const now = Date.UTC(2026, 10, 15)
const loaded = load({
  values: {
    gate: { documentation: true },
    memory: { path: 'none' },
    feeds: [{ name: 'sample', path: 'examples/feeds/sample-feed.csv' }],
  },
  env: {},
  readFile: () => '',
})
if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
const app = await openApp(loaded.config, { mode: 'live', env: {} })
const { isAnnotationName } = createAnnotationKey('threatweave')
const { addressFacts, reportFacts, reportsFacts, reportSubjects } = createAnswerReader(bundledProfile())
const otlp = { ...loaded.config.kafka, input: { ...loaded.config.kafka.input, format: 'otlp_proto' } }
const otlpApp = await openApp({ ...loaded.config, kafka: otlp }, { mode: 'live', env: {} })
/** Re-encodes a request with every length around log records in its shortest form. */
const shortest = (bytes) => addAttributesTo(bytes, findLogRecords(bytes, undefined, Infinity)?.frames ?? [], () => [])
const fields = createFields('threatweave')
const sample = await allOf(app.pipeline, [{ bytes: Buffer.from(events[0]), origin: 'x:1' }])
/** OpenTelemetry requests in Protobuf: events as bodies, and as attributes. */
const requests = Array.from({ length: 200 }, (_, nth) => {
  const text = (number, value) => fieldOf(number, Buffer.from(value))
  const records = events.slice(nth * 3, nth * 3 + 3).map((event, at) => {
    const pairs = [...event.matchAll(/"?([\w.]+)"?[=:]"?([\w.:/-]+)/g)].slice(0, 30)
    const attributes = pairs.map(([, name, value]) => fieldOf(6, text(1, name), fieldOf(2, text(1, value))))
    const list = fieldOf(6, ...pairs.map(([, name, value]) => fieldOf(1, text(1, name), fieldOf(2, text(1, value)))))
    return fieldOf(2, fieldOf(5, at === 0 ? list : text(1, event)), ...(at === 1 ? attributes : []))
  })
  return fieldOf(1, fieldOf(1, fieldOf(1, text(1, 'service.name'), fieldOf(2, text(1, 'fw')))), fieldOf(2, ...records))
})
const redact = { text: (text) => text, deep: (value) => value }

const avroSchemas = [
  '{"type":"record","name":"Flow","fields":[{"name":"src_ip","type":"string"},{"name":"dst","type":["null","string",{"type":"map","values":"long"}]},{"name":"t","type":{"type":"long","logicalType":"timestamp-micros"}},{"name":"cost","type":{"type":"bytes","logicalType":"decimal","scale":2}},{"name":"kind","type":{"type":"enum","name":"Kind","symbols":["A","B"]}},{"name":"list","type":{"type":"array","items":["null","int","Flow"]}},{"name":"raw","type":{"type":"fixed","name":"Raw","size":4}}]}',
  '{"type":"array","items":{"type":"array","items":"null"}}',
  '{"type":"record","name":"R","fields":[{"name":"next","type":["null","R"]}]}',
]
const protoSchema =
  'syntax = "proto3"; package p; import "google/protobuf/struct.proto"; message Flow { string src_ip = 1; map<string, Flow> labels = 2; message Inner { repeated int32 n = 1; Flow flow = 2; } Inner inner = 3; enum Kind { A = 0; B = 1; } repeated Kind kinds = 4; google.protobuf.Struct extra = 5; google.protobuf.Timestamp t = 6; bytes addr = 7; sint64 s = 8; double d = 9; }'
/** Schemas by id: Avro first, then Protobuf. One further id is not registered. */
const registered = [
  ...avroSchemas.map((schema) => ({ type: 'AVRO', schema })),
  { type: 'PROTOBUF', schema: protoSchema },
]
const valuesOf = {
  avro: [
    '000000000018' +
      '3230332e302e3131332e3636' +
      '020a' +
      '6576696c2e' +
      '8080d0a4fb0a' +
      '04fb2e' +
      '02' +
      '04020a0000' +
      '01020304',
    '0000000001040400040000',
    '00000000020202020200',
  ],
  protobuf: [
    '0000000003000a0c3230332e302e3131332e3636' +
      '120a0a0161120508014a0162' +
      '1a060a0301020310' +
      '220101' +
      '2a0e0a0c0a01611207' +
      '1a056576696c2e' +
      '3208088092b8c39dfe01' +
      '3a04c6336407' +
      '4005' +
      '49000000000000e03f',
  ],
}
let schemaText = ''
const registry = (find) =>
  openRegistry({
    client: { schemaOf: (key) => Promise.resolve(find(key)), close: () => Promise.resolve() },
    isOurs: () => true,
    cuts: true,
    deadlineMs: 60_000,
    clock: { now: Date.now, after: (ms, run) => clearTimeout.bind(null, setTimeout(run, ms).unref()) },
    emit: () => undefined,
  })
const missing = { status: 'missing', message: 'does not have it', isRefused: false }
const known = registry((key) =>
  registered[key] ? { status: 'found', schema: { ...registered[key], references: [] } } : missing,
)
await known.prepare(registered.map((_, id) => ({ topic: 't', headers: [], value: Buffer.from([0, 0, 0, 0, id, 0]) })))
const readValue = async (bytes) => {
  const copy = Buffer.from(bytes)
  const record = { topic: 't', headers: [], value: bytes }
  const batch = known.open(bytes, record)
  const [one] = await allOf(app.pipeline, [{ bytes, origin: 'fuzz/0/1', time: now, batch }])
  checkAnnotation(JSON.parse(one.beside()))
  if (!one.bytes().equals(copy)) throw new Error('the value is not as it was')
}

const checkAnnotation = (annotation) => {
  if (typeof annotation?.status !== 'string') throw new Error('the event has no annotation')
  if (Buffer.byteLength(JSON.stringify(annotation)) > 4096 + 64) throw new Error('the annotation is too large')
}

/** Each target throws if an invariant is violated. */
const targets = {
  event: {
    samples: events,
    share: 0.74,
    try: (bytes) => {
      const out = allOf(app.pipeline, [{ bytes, origin: 'fuzz:1', time: now }])
      const check = ([one]) => {
        const text = one.bytes().toString('utf8')
        // Annotations of batches and envelopes are elsewhere; `beside` marks such records.
        if (one.beside) for (const each of one.members ?? [one]) checkAnnotation(JSON.parse(each.annotationText()))
        else checkAnnotation(JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text).threatweave)
      }
      return out instanceof Promise ? out.then(check) : check(out)
    },
  },
  otlp: {
    samples: requests,
    share: 0.05,
    mutate: (sample, others, random) => {
      let bytes = sample
      for (let left = random.below(4); left > 0; left--) {
        const changed = mutateField(bytes, random)
        // Larger requests contain hundreds of events, which take that much longer.
        if (changed.length <= 16_384) bytes = changed
      }
      return random.below(2) === 0 ? bytes : mutateBytes(bytes, others, random)
    },
    try: async (bytes) => {
      const batch = otlpApp.pipeline.cut(bytes, { topic: 'fuzz', headers: [] })
      const [one] = await allOf(otlpApp.pipeline, [{ bytes, origin: 'fuzz:1', time: now, batch }])
      const out = one.bytes()
      for (const each of one.members ?? [one]) checkAnnotation(JSON.parse(each.annotationText()))
      if (batch.place === 'header' && !out.equals(bytes)) throw new Error('bytes that could not be read are changed')
      if (batch.place === 'header') return
      const cut = withoutAttributes(out, isAnnotationName)
      if (!shortest(cut).equals(shortest(withoutAttributes(bytes, isAnnotationName))))
        throw new Error('bytes are changed')
    },
  },
  answer: {
    samples: answers,
    share: 0.06,
    try: (bytes) => {
      const parsed = parseBody(bytes, 32, redact)
      if (!('body' in parsed)) return
      const facts = addressFacts(parsed.body, now)
      if (facts.categories.length > 64) throw new Error('the categories are not bounded')
      reportsFacts(parsed.body, 'bad.example.com', now)
      reportFacts(parsed.body, { host: 'bad.example.com', at: now, issues: [] }, now)
      reportSubjects(parsed.body)
    },
  },
  avro: {
    samples: valuesOf.avro.map((hex) => Buffer.from(hex, 'hex')),
    mutate: mutateBytes,
    share: 0.05,
    try: readValue,
  },
  protobuf: {
    samples: valuesOf.protobuf.map((hex) => Buffer.from(hex, 'hex')),
    mutate: mutateBytes,
    share: 0.05,
    try: readValue,
  },
  schema: {
    samples: [...avroSchemas, protoSchema],
    share: 0.01,
    try: async (bytes) => {
      schemaText = bytes.toString('utf8')
      const type = schemaText.startsWith('syntax') ? 'PROTOBUF' : 'AVRO'
      const own = registry(() => ({ status: 'found', schema: { type, schema: schemaText, references: [] } }))
      const value = Buffer.from(valuesOf[type === 'AVRO' ? 'avro' : 'protobuf'][0], 'hex')
      const record = { topic: 't', headers: [], value }
      await own.prepare([record])
      own.open(value, record)
      await own.close()
    },
  },
  feed: {
    samples: feeds,
    share: 0.03,
    try: (bytes) => {
      const collector = collect({ categories: [], now, modified: () => now })
      const chosen = parserOf(bytes)
      if ('parser' in chosen) chosen.parser(bytes, collector)
      collector.refusal()
      collector.index(7)
    },
  },
  rule: {
    samples: rules,
    share: 0.01,
    try: (bytes) => {
      const { rules: parsed } = parseRules('fuzz.yml', bytes.toString('utf8'), { fields })
      const set = createRuleSet(parsed, fields)
      const { annotation } = sample[0]
      set.match([annotation], () => ({ object: { message: 'src=198.51.100.7' } })).forEach((match) => match.why())
    },
  },
}

const random = createRandom(seed)
const only = given.only?.split(',')
const names = Object.keys(targets).filter((name) => only?.includes(name) ?? true)
const choose = () => {
  let at = random.next() * names.reduce((sum, name) => sum + targets[name].share, 0)
  return names.find((name) => (at -= targets[name].share) < 0) ?? names[0]
}
const failed = (name, bytes, what) => {
  const path = join(mkdtempSync(join(tmpdir(), 'threatweave-fuzz-')), name)
  writeFileSync(path, bytes)
  console.error(`${name}: ${what}\nthe input is in ${path}, seed ${seed}`)
  process.exit(1)
}
const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
const heapMb = () => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 1_048_576
}

/** Caches are bounded (see docs/operations.md) and evict half at a time, so fill them before measuring. */
const fillCaches = async () => {
  for (let at = 0; at < 200_000; at += 2) {
    const [source, destination] = [at, at + 1].map((n) => `${45 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}.9`)
    await allOf(app.pipeline, [{ bytes: Buffer.from(`src=${source} dst=${destination}`), origin: 'fuzz:0', time: now }])
  }
}

const counts = Object.fromEntries(names.map((name) => [name, 0]))
const slowest = Object.fromEntries(names.map((name) => [name, 0]))
const heaps = []
const sampleEvery = 20_000
const isLong = globalThis.gc !== undefined && inputs >= 500_000
if (isLong) await fillCaches()
const started = performance.now()
const elapsed = () => (performance.now() - started) / 1000
const attempt = async (name, bytes) => {
  try {
    const result = targets[name].try(bytes)
    if (result instanceof Promise) await result
  } catch (error) {
    failed(name, bytes, error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
}
let done = 0
for (; done < inputs && elapsed() < seconds; done++) {
  const name = choose()
  const { samples, mutate: change = mutate } = targets[name]
  const bytes = change(random.pick(samples), samples, random)
  const before = performance.now()
  await attempt(name, bytes)
  let took = performance.now() - before
  // Other processes and the garbage collector can delay a run. Only an input that repeatedly needs that much CPU time is slow.
  for (let again = 0; again < 3 && took > limitMs; again++) {
    const from = cpuMs()
    await attempt(name, bytes)
    took = cpuMs() - from
  }
  if (took > limitMs) failed(name, bytes, `took ${took.toFixed(1)} ms of CPU for ${bytes.length} bytes`)
  counts[name]++
  slowest[name] = Math.max(slowest[name], took)
  if ((done + 1) % sampleEvery === 0) heaps.push(heapMb())
}
await app.close()
await otlpApp.close()
console.log(`${done} inputs in ${elapsed().toFixed(0)} s, seed ${seed}: no crash, none over ${limitMs} ms`)
for (const name of names)
  console.log(`  ${name.padEnd(7)}${String(counts[name]).padStart(9)}   slowest ${slowest[name].toFixed(1)} ms`)
console.log(
  `  heap after collection, every ${sampleEvery} inputs, MB: ${heaps.map((size) => size.toFixed(1)).join(' ')}`,
)
const [early, late] = [heaps.slice(0, heaps.length / 2), heaps.slice(heaps.length / 2)].map((sizes) =>
  Math.max(...sizes),
)
if (isLong && done >= 500_000) {
  console.log(`  at most, MB: ${early.toFixed(1)} in the first half, ${late.toFixed(1)} in the second`)
  if (late > early * 1.05 + 1) {
    console.error('the heap grows')
    process.exitCode = 1
  }
}
