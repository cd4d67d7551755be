// Sample events: the corpus if available, otherwise built-in samples of well-known formats.
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const corpus = fileURLToPath(new URL('../../shared/corpus/firewall-logs.ndjson', import.meta.url))

const ownJson = [
  (n) => ({
    '@timestamp': '2026-11-15T08:00:00.000Z',
    event: {
      kind: 'event',
      category: ['network'],
      type: ['connection', 'allowed'],
      action: 'accept',
      duration: 1200000,
    },
    source: { ip: `198.51.100.${n % 250}`, port: 51515, bytes: 2048, packets: 14 },
    destination: { ip: `10.0.${n % 250}.5`, port: 443, bytes: 40960, packets: 40 },
    network: { transport: 'tcp', type: 'ipv4', bytes: 43008, direction: 'inbound' },
    observer: { vendor: 'Example', product: 'Firewall', hostname: 'fw-01', ip: ['10.0.0.1'] },
    rule: { id: '1007', name: 'allow-web' },
    url: { original: `https://shop${n % 30}.example.com/cart?id=${n}`, domain: `shop${n % 30}.example.com` },
    user_agent: { original: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/129.0.0.0 Safari/537.36' },
  }),
  (n) => ({
    timestamp: '2026-11-15T08:00:00.123456+0000',
    flow_id: 1_800_000_000_000_000 + n,
    in_iface: 'eth1',
    event_type: 'alert',
    src_ip: `203.0.113.${n % 250}`,
    src_port: 44444,
    dest_ip: `192.168.${n % 250}.20`,
    dest_port: 80,
    proto: 'TCP',
    alert: {
      action: 'allowed',
      gid: 1,
      signature_id: 2_000_000 + n,
      rev: 3,
      signature: 'Suspicious download',
      category: 'Misc',
      severity: 2,
    },
    http: {
      hostname: `cdn${n % 40}.example.net`,
      url: '/a/b.js',
      http_user_agent: 'curl/8.5.0',
      http_method: 'GET',
      status: 200,
      length: 5120,
    },
    app_proto: 'http',
  }),
  (n) => ({
    ts: 1_763_193_600.25 + n,
    uid: `C${n}abcdef`,
    'id.orig_h': `10.1.${n % 250}.7`,
    'id.orig_p': 53123,
    'id.resp_h': '192.0.2.53',
    'id.resp_p': 53,
    proto: 'udp',
    query: `host${n % 60}.example.org`,
    qtype_name: 'A',
    rcode_name: 'NOERROR',
    AA: false,
    answers: [`198.51.100.${n % 200}`],
    TTLs: [300],
    rejected: false,
  }),
]
const ownText = [
  (n) =>
    `<134>Nov 15 08:00:00 fw-01 %ASA-6-302013: Built inbound TCP connection ${n} for outside:198.51.100.${n % 250}/51515 (198.51.100.${n % 250}/51515) to inside:10.1.2.3/443 (203.0.113.5/443)`,
  (n) =>
    `<189>date=2026-11-15 time=08:00:00 devname="fw-02" type="traffic" subtype="forward" srcip=10.2.0.${n % 250} srcport=50001 dstip=203.0.113.${n % 250} dstport=443 action="close" service="HTTPS" hostname="www${n % 30}.example.com" sentbyte=1200 rcvdbyte=9000`,
  (n) =>
    `CEF:0|Example|Gateway|1.0|100|Connection denied|5|src=198.51.100.${n % 250} spt=4431 dst=10.3.0.${n % 250} dpt=22 act=blocked proto=TCP request=http://files${n % 20}.example.net/x.zip msg=policy`,
]

const own = (makers, count) => Array.from({ length: count }, (_, n) => makers[n % makers.length](n))
const isObject = (text) => {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

export const samples = () => {
  const real = existsSync(corpus)
  const lines = real
    ? readFileSync(corpus, 'utf8')
        .trim()
        .split('\n')
        .map((row) => JSON.parse(row).raw)
    : [...own(ownJson, 300).map((value) => JSON.stringify(value)), ...own(ownText, 300)]
  const json = lines.filter(isObject)
  const text = lines.filter((line) => !isObject(line))
  const buffers = (list) => list.map((line) => Buffer.from(line))
  return { from: real ? 'real log lines' : 'samples of our own', json: buffers(json), text: buffers(text) }
}
