// Rows whose columns nobody names: which addresses are the ends, whatever separates the cells and whatever the row begins with.
import { describe, expect, it } from 'vitest'
import { readLine } from '../../support/read-line.js'

describe('a row', () => {
  it.each([
    [
      'that backticks separate',
      '3`0`1`1`100000`6041`20261115`10:00:00`4`17`192.0.2.1`4993`198.51.100.7`13568`3007``name`desc`1234567`',
      'unknown',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'that semicolons separate, with each end and what it was translated to',
      '0;20261115 100000; ;192.0.2.1;203.0.113.1;5318;5318;198.51.100.7;203.0.113.7;80;80;6;1;537133067;4;name;Close; ; ;1',
      'unknown',
      ['192.0.2.1 source', '203.0.113.1 translated', '198.51.100.7 destination', '203.0.113.7 translated'],
    ],
    [
      'behind a tag that says what was done, and the address of the device',
      '[fw4_allow] [192.0.2.254] 2026-11-15 10:00:00,2026-11-15 10:00:05,5,FW1,93,Undefined,192.0.2.1,53363,198.51.100.7,33008,TCP,EXT,4,5,366',
      'allowed',
      ['192.0.2.1 source', '198.51.100.7 destination', '192.0.2.254 other'],
    ],
    [
      'that tells who did something behind the address of the device',
      '[audit] [192.0.2.254] 2026-11-15 10:00:00,localhost,alice,192.0.2.1,5,menu,COMMAND,OK,-,-',
      'unknown',
      ['192.0.2.1 source', '192.0.2.254 other'],
    ],
    [
      'that tells the sensor before the two that have ports',
      '[watch] 2026-11-15 10:00:00,localhost,192.0.2.254,192.0.2.1,40001,198.51.100.7,80,TCP,1 day,-',
      'unknown',
      ['192.0.2.254 other', '192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'with a protocol between the ends',
      '<206>[LOG_ADMITTED] 2026-11-15 10:00:00,1966,192.0.2.1,0,0/icmp,198.51.100.7,0,78,0,0,External',
      'allowed',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'inside a field',
      '2026-11-15 10:00:00 fw1 UI: prefix=AAL type=audit msg="2026-11-15 10:00:00;alice;192.0.2.1;3;SM;System Setting;Update;Success"',
      'unknown',
      ['192.0.2.1 source'],
    ],
    [
      'of a packet that came back',
      '11/15-10:00:00.017935 ,1,1000005,0,"UDP Connection",UDP,192.0.2.53,53,192.0.2.1,55475,00:25:90:3A:05:13,00:50:56:9D:A5:BE,0xC1',
      'unknown',
      ['192.0.2.53 source', '192.0.2.1 destination'],
    ],
    [
      'with nothing between the ends, however it is written',
      'Nov 15 10:00:00 4811234568;Signature;2026-11-15 10:00:00 CET;ICMP: Sweep;0x40208a01;Low;icmp-sweep;Low;Company;sensor1;1A-1B;192.0.2.1;N/A;198.51.100.7;N/A;Reconnaissance;sweep;Outbound',
      'unknown',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'that colons separate',
      '0:s:BRICK1:20261115100000:::in:192.0.2.1:198.51.100.7:6:4711:80:Pass',
      'allowed',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'of pairs in brackets is none',
      '[IPS-1] [Attack_Name=(30076)name], [Time=2026/11/15 10:00:00], [Hacker=192.0.2.1], [Victim=198.51.100.7], [Protocol=tcp/59939], [Risk=Medium], [SrcPort=3306]',
      'unknown',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'with a field that is yes or no',
      'kernel: (src_ip="192.0.2.1",src_port="46511",dest_ip="198.51.100.7",dest_port="80",block="no",sigid="110100016")',
      'allowed',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
  ] as const)('%s', (_, line, action, found) => {
    expect(readLine(line)).toEqual({ action, found })
  })
})
