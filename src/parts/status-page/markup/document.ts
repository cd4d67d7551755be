// A page as one self-contained document, with a content security policy that allows no other resources.
import { createHash } from 'node:crypto'
import { pageScript } from '../browser/page-script.js'
import { pageStyle } from '../browser/page-style.js'
import { h, toHtml, type Node } from './node.js'

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

export const contentSecurityPolicy = [
  "default-src 'none'",
  `script-src ${hashOf(pageScript)}`,
  `style-src ${hashOf(pageStyle)}`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

/** `isLive`: a script updates the page; without scripts the browser reloads it. */
export const documentOf = (title: string, body: readonly Node[], isLive = false): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${toHtml(h('title', {}, `${title} · Threatweave`))}
<link rel="icon" href="data:,">
${isLive ? '<noscript><meta http-equiv="refresh" content="10"></noscript>\n' : ''}<style>${pageStyle}</style>
</head>
<body>
${body.map(toHtml).join('\n')}
<script>${pageScript}</script>
</body>
</html>
`
