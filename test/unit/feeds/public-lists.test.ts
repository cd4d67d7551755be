import { describe, expect, it } from 'vitest'
import { parsed, valuesIn } from '../../support/feed-files.js'

/** A few lines in the shape that each maker documents, with addresses and names of our own. */
const lists: readonly (readonly [maker: string, content: string, values: readonly string[]])[] = [
  [
    'FireHOL netset',
    '#\n# firehol_level1\n#\n# ipv4 hash:net ipset\n#\n# Maintainer      : FireHOL\n#\n198.51.100.0/24\n203.0.113.9\n',
    ['198.51.100.0/24', '203.0.113.9'],
  ],
  [
    'ipsum',
    '# IPsum Threat Intelligence Feed\n#\n# IP\tnumber of (black)lists\n#\n198.51.100.7\t10\n198.51.100.8\t3\n',
    ['198.51.100.7', '198.51.100.8'],
  ],
  [
    'maltrail',
    '# Copyright (c) x\n\n# Aliases: a, b\n\n# Reference: https://example.org/a,b\n\n198.51.100.7:443\nhttp://198.51.100.8\nbad.example.com\nbad.example.net/gate/five.php\n/gate/five.php\n',
    ['198.51.100.7:443', 'http://198.51.100.8', 'bad.example.com', 'bad.example.net/gate/five.php', '/gate/five.php'],
  ],
  [
    'Spamhaus DROP, text',
    '; Spamhaus DROP List 2026/11/15 - (c) 2026 The Spamhaus Project SLU\n; Last-Modified: Sun, 15 Nov 2026 04:00:00 GMT\n198.51.100.0/24 ; SBL100001\n203.0.113.0/24 ; SBL100002\n',
    ['198.51.100.0/24', '203.0.113.0/24'],
  ],
  [
    'Spamhaus DROP, JSON lines',
    '{"cidr":"198.51.100.0/24","sblid":"SBL100001","rir":"apnic"}\n{"cidr":"2001:db8:1::/48","sblid":"SBL100002","rir":"ripencc"}\n{"type":"metadata","timestamp":1794700000,"size":90,"records":2,"copyright":"x","terms":"x"}\n',
    ['198.51.100.0/24', '2001:db8:1::/48'],
  ],
  [
    'URLhaus CSV',
    '################################################################\r\n# abuse.ch URLhaus Database Dump (CSV - recent URLs only)      #\r\n################################################################\r\n#\r\n# id,dateadded,url,url_status,last_online,threat,tags,urlhaus_link,reporter\r\n"1","2026-11-15 10:00:05","http://198.51.100.7:4000/i","online","2026-11-15 10:00:05","malware_download","32-bit,elf,mips","https://example.org/url/1/","x"\r\n"2","2026-11-15 09:00:05","https://bad.example.com/a,b","offline","None","malware_download","None","https://example.org/url/2/","x"\r\n',
    ['http://198.51.100.7:4000/i', 'https://bad.example.com/a,b'],
  ],
  [
    'URLhaus JSON',
    '{"1":[{"dateadded":"2026-11-15 10:00:05 UTC","url":"http://198.51.100.7:4000/i","url_status":"online","threat":"malware_download","tags":["elf","mips"],"urlhaus_link":"https://example.org/url/1/","reporter":"x"}],"2":[{"dateadded":"2026-11-15 09:00:05 UTC","url":"https://bad.example.com/a","url_status":"offline","threat":"malware_download","tags":null}]}',
    ['http://198.51.100.7:4000/i', 'https://bad.example.com/a'],
  ],
  [
    'ThreatFox CSV',
    '# ThreatFox IOCs: recent additions\n#\n# "first_seen_utc","ioc_id","ioc_value","ioc_type","threat_type","fk_malware","malware_alias","malware_printable","last_seen_utc","confidence_level","is_compromised","reference","tags","anonymous","reporter"\n"2026-11-15 10:00:00", "1", "198.51.100.7:443", "ip:port", "botnet_cc", "win.x", "None", "X", "", "75", "False", "", "c2", "0", "y"\n"2026-11-15 10:00:00", "2", "bad.example.com", "domain", "payload_delivery", "win.x", "None", "X", "", "100", "False", "", "", "0", "y"\n',
    ['198.51.100.7:443', 'bad.example.com'],
  ],
  [
    'ThreatFox JSON',
    '{"1":[{"ioc_value":"198.51.100.7:443","ioc_type":"ip:port","threat_type":"botnet_cc","malware":"win.x","malware_printable":"X","first_seen_utc":"2026-11-15 10:00:00","last_seen_utc":null,"confidence_level":75,"tags":"c2"}]}',
    ['198.51.100.7:443'],
  ],
  [
    'Feodo Tracker CSV',
    '# Feodo Tracker Botnet C2 IP Blocklist (CSV)\n#\n"first_seen_utc","dst_ip","dst_port","c2_status","last_online","malware"\n"2026-11-01 10:00:00","198.51.100.7","443","online","2026-11-15","Emotet"\n# END 1 entries\n',
    ['198.51.100.7'],
  ],
  [
    'Feodo Tracker JSON',
    '[\n {"ip_address":"198.51.100.7","port":443,"status":"offline","hostname":"host.example.com","as_number":64496,"as_name":"X","country":"DE","first_seen":"2026-11-01 10:00:00","last_online":"2026-11-15","malware":"Emotet"}\n]',
    ['198.51.100.7'],
  ],
  [
    'SSLBL CSV',
    '# abuse.ch SSLBL SSL Certificate Blacklist (C2 IPs)\n#\n# Firstseen,DstIP,DstPort\n2026-11-15 06:00:00,198.51.100.7,4449\n2026-11-14 06:00:00,198.51.100.8,443\n',
    ['198.51.100.7', '198.51.100.8'],
  ],
  [
    'DShield block list',
    '#   primary URL: https://example.org/block.txt\n#\nStart\tEnd\tNetmask\tAttacks\tName\tCountry\temail\n198.51.100.0\t198.51.100.255\t24\t7000\tEXAMPLE-NET\tDE\tabuse@example.com\n203.0.113.0\t203.0.113.255\t24\t6000\t\t\t\n',
    ['198.51.100.0-198.51.100.255', '203.0.113.0-203.0.113.255'],
  ],
  [
    'DShield block list, as it is headed today',
    '#   columns (tab delimited):\n#\nStart\tEnd\tNetblock\tAttacks\tName\tCountry\temail\n198.51.100.0\t198.51.100.255\t24\t7000\tEXAMPLE-NET\tDE\tabuse@example.com\n203.0.113.0\t203.0.113.255\t24\t6000\t\t\t\n',
    ['198.51.100.0-198.51.100.255', '203.0.113.0-203.0.113.255'],
  ],
  [
    'AlienVault reputation',
    '198.51.100.7#4#2#Scanning Host#CN#Beijing#39.9,116.3#11\n198.51.100.8#4#3#Malicious Host;Scanning Host#US##37.7,-97.8#3;11\n',
    ['198.51.100.7', '198.51.100.8'],
  ],
  [
    'AlienVault reputation, generic',
    '# Generic format\n198.51.100.7 # Scanning Host CN,Beijing,39.9,116.3\n198.51.100.8 # Malicious Host\n',
    ['198.51.100.7', '198.51.100.8'],
  ],
  [
    'OpenPhish',
    'https://bad.example.com/login\nhttp://198.51.100.7/a?b=c,d\n',
    ['https://bad.example.com/login', 'http://198.51.100.7/a?b=c,d'],
  ],
  ['hosts', '# hosts\n127.0.0.1\tlocalhost\n0.0.0.0 bad.example.com\n', ['bad.example.com']],
  ['dnsmasq', 'address=/bad.example.com/0.0.0.0\n', ['bad.example.com']],
  [
    'RPZ',
    '$TTL 30\n@ SOA a.example.org. b.example.org. 1 2 3 4 5\n NS localhost.\nbad.example.com CNAME . ; x\n',
    ['bad.example.com'],
  ],
]

describe('a public list, as it is', () => {
  it.each(lists)('%s', (_, content, values) => {
    expect(valuesIn(content)).toEqual(values)
    expect(parsed(content).skipped).toEqual([])
  })

  it('says how sure its maker is, and when it was seen, where it does', () => {
    const details = Object.fromEntries(lists.map(([maker, content]) => [maker, parsed(content).added[0]?.[2]]))
    expect(details).toMatchObject({
      ipsum: { score: 100 },
      'URLhaus CSV': {
        categories: ['malware_download', '32-bit', 'elf', 'mips'],
        seen: Date.UTC(2026, 10, 15, 10, 0, 5),
      },
      'URLhaus JSON': { categories: ['malware_download', 'elf', 'mips'] },
      'ThreatFox CSV': { score: 75, seen: Date.UTC(2026, 10, 15, 10) },
      'ThreatFox JSON': { score: 75 },
      'Feodo Tracker CSV': { categories: ['Emotet'], seen: Date.UTC(2026, 10, 15) },
      'AlienVault reputation': { score: 40, categories: ['Scanning Host'] },
    })
  })

  it('of networks by number does not accuse the names of their owners', () => {
    const asn =
      '{"asn":64496,"rir":"ripencc","domain":"owner.example.com","cc":"DE","asname":"OWNER"}\n{"type":"metadata","records":1}\n'
    expect(parsed(asn)).toEqual({ added: [], skipped: [1] })
  })

  it('of what is harmless is refused, with where it belongs', () => {
    const warninglist = '{"name":"Public DNS","type":"cidr","version":1,"list":["198.51.100.7"]}'
    expect(parsed(warninglist).problem?.message).toContain('intel.safeguard')
  })

  it('in JSON may be texts alone', () => {
    expect(valuesIn('["198.51.100.7", "bad.example.com"]')).toEqual(['198.51.100.7', 'bad.example.com'])
    expect(parsed('{"a": 1}').problem?.message).toContain('no address, name or URL')
  })
})
