// Rules see what the reader knows, however an event is written.
import { describe, expect, it } from 'vitest'
import { ruleEventOf } from '../../../src/alerts/annotated-event.js'
import { createReadEvent } from '../../../src/alerts/event-field.js'
import { createFields } from '../../../src/alerts/sigma/fields.js'
import { parseRules } from '../../../src/alerts/sigma/parse-rules.js'
import { createRuleSet, type RuleSet } from '../../../src/alerts/sigma/rule-set.js'
import { decode, decodeLimits } from '../../../src/pipeline/decode.js'
import { createExtract, extractLimits } from '../../../src/pipeline/extract/extract.js'
import { openTestAlerting } from '../../support/alerting.js'
import { annotation, ruleText } from '../../support/rules.js'

const bad = '203.0.113.99'
const spellings: Readonly<Record<string, (host: string, port: number) => string>> = {
  JSON: (host, port) =>
    JSON.stringify({ src_ip: host, src_port: port, dest_ip: bad, dest_port: 443, action: 'allowed', app: 'ssl' }),
  ECS: (host, port) =>
    JSON.stringify({
      source: { ip: host, port },
      destination: { ip: bad, port: 443 },
      event: { action: 'allowed' },
      app: 'ssl',
    }),
  'key=value': (host, port) =>
    `date=2026-11-15 time=08:00:00 devname="fw-1" srcip=${host} srcport=${port} dstip=${bad} dstport=443 action="accept" app="ssl"`,
  Zeek: (host, port) =>
    JSON.stringify({
      'id.orig_h': host,
      'id.orig_p': port,
      'id.resp_h': bad,
      'id.resp_p': 443,
      action: 'allow',
      app: 'ssl',
    }),
  CEF: (host, port) =>
    `CEF:0|Example|NGFW|6.6|100|Connection allowed|3|src=${host} spt=${port} dst=${bad} dpt=443 act=Allow app=ssl`,
  LEEF: (host, port) =>
    `LEEF:1.0|Example|NGFW|3.2|FLOW|src=${host}\tdst=${bad}\tsrcPort=${port}\tdstPort=443\taction=allowed\tapp=ssl`,
  'key=value in JSON': (host, port) =>
    JSON.stringify({ message: `srcip=${host} srcport=${port} dstip=${bad} dstport=443 action=accept app=ssl` }),
  ASA: (host, port) =>
    `Nov 15 2026 08:00:05 fw-1 : %ASA-6-302013: Built outbound TCP connection 8811 for outside:${bad}/443 (${bad}/443) to inside:${host}/${port} (192.0.2.1/${port})`,
}
const malicious = 'threatweave.verdict: malicious\n    threatweave.action: allowed'
const rule = (...lines: string[]): string =>
  ruleText(`sel:\n    ${[malicious, ...lines].join('\n    ')}\ncondition: sel`)

it('a rule on an inside range fires on 20 of 20 events in JSON, key=value, CEF and ASA spelling', async () => {
  const alertsOf = await openTestAlerting([rule('src_ip|cidr: 10.20.0.0/16')])
  const lines = ['JSON', 'key=value', 'CEF', 'ASA'].flatMap((name, at) =>
    Array.from({ length: 5 }, (_, n) => spellings[name]?.(`10.20.${at}.${n + 1}`, 50_000 + n) ?? ''),
  )
  expect(await alertsOf(lines)).toHaveLength(20)
  expect(await alertsOf(lines.map((line) => line.replaceAll('10.20.', '10.21.')))).toEqual([])
})

const vocabularies = {
  ECS: ['source.ip: 10.20.0.7', `destination.ip: ${bad}`, 'source.port: 50123', 'destination.port|gte: 443'],
  Sigma: ['src_ip: 10.20.0.7', `dst_ip: ${bad}`, 'src_port: 50123', 'dst_port: 443'],
  Sysmon: ['SourceIp: 10.20.0.7', `DestinationIp: ${bad}`, 'SourcePort: 50123', 'DestinationPort: 443'],
  Zeek: ['id.orig_h: 10.20.0.7', `id.resp_h: ${bad}`, 'id.orig_p: 50123', 'id.resp_p: 443'],
  'web servers': ['c-ip: 10.20.0.7', `s-ip: ${bad}`, 's-port: 443'],
  'what follows from it': ['network.direction: outbound', 'event.action: allowed', `related.ip: ${bad}`],
  'its own': ['app: ssl'],
}

it.each(Object.entries(spellings))('an event in %s has the names of every vocabulary', async (name, spell) => {
  const alertsOf = await openTestAlerting(
    Object.entries(vocabularies).map(([title, lines], n) =>
      rule(...lines)
        .replace('11111111', `1111111${n}`)
        .replace('A rule', title),
    ),
  )
  const fired = (await alertsOf([spell('10.20.0.7', 50_123)])).map((alert) => alert.rule.name)
  expect(fired).toEqual(Object.keys(vocabularies).filter((title) => name !== 'ASA' || title !== 'its own'))
})

describe('fields of an event', () => {
  const fires = async (lines: readonly string[], line: string): Promise<boolean> => {
    const alertsOf = await openTestAlerting([ruleText(`sel:\n    ${lines.join('\n    ')}\ncondition: sel`)])
    return (await alertsOf([line])).length > 0
  }

  it('of a JSON object win over what the reader found', async () => {
    const line = JSON.stringify({ src_ip: 'own', source: { ip: '10.20.0.7' }, dest_ip: bad, action: 'accept' })
    expect(await fires(['src_ip: own', 'source.ip: 10.20.0.7', 'action: accept'], line)).toBe(true)
    expect(await fires(['src_ip: 10.20.0.7'], line)).toBe(false)
  })

  it('of text win over the meaning that the reader gave them', async () => {
    const line = spellings['key=value']?.('10.20.0.7', 50_123) ?? ''
    expect(await fires(['action: accept', 'event.action: allowed', 'srcip: 10.20.0.7'], line)).toBe(true)
  })

  it.each([
    [
      'the name asked for',
      ['query|endswith: .botnet.example.org', 'QueryName|startswith: c2.', 'src_ip: 10.0.0.81'],
      '[INFO] 10.0.0.81:42114 - 64820 "A IN c2.botnet.example.org. udp 57 false 1232" NOERROR qr,aa,rd 66 0.000150566s',
    ],
    [
      'the host and path of a URL',
      ['cs-host: cdn.malware.example.org', 'url.path: /payload.bin', 'url.query: id=7'],
      JSON.stringify({ src: '10.0.0.5', url: 'http://cdn.malware.example.org/payload.bin?id=7' }),
    ],
    [
      'the whole URL',
      ['c-uri|endswith: payload.bin'],
      'CEF:0|Example|Proxy|1|1|Web|3|src=10.0.0.5 request=http://cdn.malware.example.org/payload.bin',
    ],
    [
      'the device that wrote the line',
      ['observer.name: edge-asa'],
      'Nov 15 2026 08:00:05 edge-asa : %ASA-6-302013: Built outbound TCP connection 1 for outside:203.0.113.99/443 (203.0.113.99/443) to inside:10.0.0.31/51022 (192.0.2.1/51022)',
    ],
    [
      'labelled fields of CEF',
      ['cs1: guest-wifi', 'Policy Name: guest-wifi'],
      'CEF:0|Example|NGFW|1|1|Allowed|3|src=10.0.0.5 dst=203.0.113.99 cs1Label=Policy Name cs1=guest-wifi',
    ],
    [
      'JSON behind a syslog header',
      ['app.name: ssl', 'src_ip: 10.0.0.5'],
      '<13>Nov 15 08:00:00 fw-1 agent: {"src_ip":"10.0.0.5","dest_ip":"203.0.113.99","app":{"name":"ssl"}}',
    ],
    [
      'XML',
      ['EventData.Image|endswith: curl.exe', 'DestinationIp: 203.0.113.99'],
      '<Event><EventData><Data Name="Image">C:\\curl.exe</Data><Data Name="DestinationIp">203.0.113.99</Data></EventData></Event>',
    ],
  ])('include %s', async (_, lines, line) => {
    expect(await fires(lines, line)).toBe(true)
  })

  it('that nothing in the event says do not exist', async () => {
    const line = JSON.stringify({ src: bad })
    expect(
      await fires(['destination.ip: null', 'dst_port: null', 'event.action: null', 'observer.name: null'], line),
    ).toBe(true)
    expect(await fires(['dst_port|exists: true'], line)).toBe(false)
  })
})

describe('the text of an event', () => {
  const setOf = (lines: string): RuleSet => {
    const fields = createFields('threatweave')
    const { rules } = parseRules('r.yml', ruleText(`sel:\n    ${lines}\ncondition: sel`), { fields })
    return createRuleSet(rules, fields)
  }
  const line = 'srcip=10.20.0.7 dstip=203.0.113.99 action=accept app=ssl user=ann policy=guests'
  let set = setOf('app: ssl')
  const extract = createExtract({ ...extractLimits, names: () => set.names })
  const read = (named: () => Record<string, unknown>): Parameters<typeof ruleEventOf> => {
    const event = decode(Buffer.from(line), decodeLimits)
    return [{ event, extraction: extract(event) }, named]
  }
  const refuse = (): never => {
    throw new Error('was read again')
  }

  it('is read once for rules on its fields alone, and for the rules that replace them', () => {
    const matches = (): number => set.match([annotation()], () => ruleEventOf(...read(refuse))).length
    expect(matches()).toBe(1)
    set = setOf('user: bob')
    expect(matches()).toBe(0)
    set = setOf('policy: guests\n    c-useragent: null')
    expect(matches()).toBe(1)
  })

  it('is read again for a name that no rule has, and only that is noted which a rule has', () => {
    set = setOf('app: ssl')
    const [about] = read(refuse)
    expect(about.extraction.noted?.values).toEqual({ app: 'ssl' })
    const event = ruleEventOf(...read(() => ({ user: 'ann' })))
    expect(createReadEvent('user')(event, annotation())).toBe('ann')
  })

  it('is not noted where the annotation tells which events to look at', () => {
    set = setOf('app: ssl\n    threatweave.verdict: malicious')
    expect(read(refuse)[0].extraction.noted).toBeUndefined()
  })
})
