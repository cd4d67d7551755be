// Text in the page's markup.
import { expect, it } from 'vitest'
import { h, toHtml } from '../../../../src/parts/status-page/markup/node.js'

it('has no character that steers, hides or reorders text, in attributes and content', () => {
  const hostile = `a\u001b[2Jb\u0000c\u009b31md\u202ee\u200bf\u2028g\ud800h\u{e0041}i`
  const html = toHtml(h('p', { title: hostile }, hostile))
  expect(html).toContain('\\u001b')
  expect(html).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
})
