// Rows whose columns nobody names: which addresses are the ends, whatever separates the cells and whatever the row begins with.
import { describe, expect, it } from 'vitest'
import { readLine } from '../../../support/read-line.js'

describe('a row', () => {
  it.each([
    [
      'that backticks separate',
      '3`0`1`1`100000`6041`20261115`10:00:00`4`17`192.0.2.1`4993`198.51.100.7`13568`3007``name`desc`1234567`',
      'unknown',
      ['192.0.2.1 source', '198.51.100.7 destination'],
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
