// What devices say in other languages than English: which address is which end, and what was done.
import { describe, expect, it } from 'vitest'
import { readLine } from '../../../support/read-line.js'

const both = ['192.0.2.1 source', '198.51.100.1 destination']

describe('both ends', () => {
  it.each([
    ['来自192.0.2.1的连接被拒绝，目标198.51.100.1', 'blocked'],
    ['源地址：192.0.2.1；目的地址：198.51.100.1；动作：丢弃', 'blocked'],
    ['Подключение с 192.0.2.1 на 198.51.100.1 заблокировано', 'blocked'],
    ['Verbindung von 192.0.2.1 nach 198.51.100.1 beendet', 'unknown'],
    ['Verbindung von 192.0.2.1 nach 198.51.100.1 abgelehnt', 'blocked'],
    ['Connexion refusée depuis 192.0.2.1 vers 198.51.100.1', 'blocked'],
    ['Conexión bloqueada de 192.0.2.1 para 198.51.100.1', 'blocked'],
  ])('are told by %s', (text, action) => {
    const read = readLine(`<134>Nov 15 10:00:00 fw1 ${text}`)
    expect(read.action).toBe(action)
    expect(read.found).toStrictEqual(both)
  })

  it.each([
    ['{"源IP":"192.0.2.1","目的IP":"198.51.100.1","动作":"阻断"}', 'blocked'],
    ['{"출발지IP":"192.0.2.1","목적지IP":"198.51.100.1","조치":"허용"}', 'allowed'],
    ['{"送信元アドレス":"192.0.2.1","宛先アドレス":"198.51.100.1","アクション":"拒否"}', 'blocked'],
    ['{"Quell-IP":"192.0.2.1","Ziel-IP":"198.51.100.1","Aktion":"blockiert"}', 'blocked'],
    ['<134>Nov 15 10:00:00 fw1 mod=pf sa=192.0.2.1 sport=4711 da=198.51.100.1 dport=443', 'unknown'],
    ['<134>Nov 15 10:00:00 n1 access(INFO)(id=S01,server=web(198.51.100.1),account=root,from=192.0.2.1)', 'unknown'],
  ])('are told by the names of %s', (text, action) => {
    const read = readLine(text)
    expect(read.action).toBe(action)
    expect([...read.found].sort()).toStrictEqual(both)
  })
})

describe('the only address', () => {
  it.each([
    [
      'is whose login it was',
      'SSH用户成功地登录。（服务类型＝stelnet，用户名＝alice，IP地址＝192.0.2.1）',
      ['192.0.2.1 source'],
    ],
    ['is of who did something', '在2026-11-15 10:00:00通过192.0.2.1做登录操作，操作失败。', ['192.0.2.1 source']],
    [
      'is of who came, with an outcome behind a comma',
      'login(WEB)(service=native,identity=alice,from=192.0.2.1,login authorize success)',
      ['192.0.2.1 source'],
    ],
  ])('%s', (_, text, found) => {
    expect(readLine(`<134>Nov 15 10:00:00 fw1 ${text}`).found).toStrictEqual(found)
  })
})
