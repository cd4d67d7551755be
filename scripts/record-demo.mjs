// Records the demo as an animated image: runs it, times each printed line, and writes docs/images/demo.svg.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(import.meta.dirname, '..')
const target = join(root, 'docs/images/demo.svg')

const columns = 100
/** The visible lines; earlier ones scroll out. */
const rows = 32
const [charWidth, lineHeight, padding, barHeight] = [7.8, 18, 16, 30]
/** Longer pauses, for example while the broker starts, are cut to this. The last scene stays for `endMs`. */
const maxPauseMs = 4_000
const endMs = 8_000

/** Lines of standard output with their arrival times, in milliseconds since the first. */
const record = (command, args) =>
  new Promise((done, fail) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
    const lines = []
    let rest = ''
    child.stdout.on('data', (data) => {
      const parts = (rest + data).split('\n')
      rest = parts.pop()
      for (const text of parts) lines.push({ text, at: Date.now() })
    })
    child.once('error', fail)
    child.once('close', (code) => {
      if (code === 0) done(lines)
      else fail(new Error(`the demo exited with ${code}`))
    })
  })

/** Lines that arrive together form one scene. */
const scenesOf = (lines) => {
  const scenes = []
  let [clock, last] = [600, lines[0]?.at ?? 0]
  for (const { text, at } of lines) {
    if (scenes.length === 0 || at - last > 150) {
      clock += Math.min(maxPauseMs, at - last)
      scenes.push({ at: clock, lines: [] })
    }
    last = at
    scenes.at(-1).lines.push(text)
  }
  return scenes
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const unescaped = (text) => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')

/** Wraps a line like a terminal of this width. */
const wrapped = (text) => text.match(new RegExp(`.{1,${columns}}`, 'gu')) ?? ['']

/** Adds the colours of a terminal, with field names of alerts in grey. */
const painted = (text) =>
  escaped(text)
    .replace(/^(\d {2}.*|All events|Next)$/, '<tspan class="b">$1</tspan>')
    .replace(/ (HIGH|CRITICAL) {2}(.*)$/, ' <tspan class="high">$1</tspan>  <tspan class="b">$2</tspan>')
    .replace(/^( {2}(?:because|traffic|country|also|hosts|do|matches|event) +)/, '<tspan class="dim">$1</tspan>')
    .replace(/^(\$ )(.*)$/, '<tspan class="dim">$1</tspan>$2')
    .replace(/\b(malicious|suspicious)\b/g, '<tspan class="$1">$1</tspan>')

/** Draws the scenes. Every line is one `text` element, so that the text can be read back. */
const draw = (scenes) => {
  const totalMs = scenes.at(-1).at + endMs
  const percent = (ms) => ((100 * ms) / totalMs).toFixed(2)
  const styles = []
  const texts = []
  const scrolls = [`0%{transform:none}`]
  let row = 0
  let scrolled = 0
  scenes.forEach(({ at, lines }, nth) => {
    styles.push(
      `@keyframes s${nth}{0%,${percent(at - 1)}%{visibility:hidden}${percent(at)}%,100%{visibility:visible}}`,
      `.s${nth}{animation:s${nth} ${totalMs}ms infinite step-end}`,
    )
    for (const line of lines) {
      const pieces = wrapped(line)
      const y = barHeight + padding + row * lineHeight + 13
      const spans = pieces.map((piece, place) =>
        place === 0 ? painted(piece) : `<tspan x="${padding}" dy="${lineHeight}">${escaped(piece)}</tspan>`,
      )
      texts.push(`<text class="s${nth}" x="${padding}" y="${y}">${spans.join('')}</text>`)
      row += pieces.length
    }
    const beyond = Math.max(0, row - rows)
    if (beyond > scrolled) {
      scrolls.push(
        `${percent(at - 1)}%{transform:translateY(${-scrolled * lineHeight}px)}`,
        `${percent(at)}%{transform:translateY(${-beyond * lineHeight}px)}`,
      )
      scrolled = beyond
    }
  })
  scrolls.push(`100%{transform:translateY(${-scrolled * lineHeight}px)}`)
  const width = Math.ceil(columns * charWidth + 2 * padding)
  const height = barHeight + 2 * padding + rows * lineHeight
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A recording of threatweave demo: an alert, a late verdict with its correction and alert, and a retro alert">
<!-- Written by npm run record:demo from the running program; pauses over ${maxPauseMs / 1000} s are cut. -->
<style>
text{font:13px/1 ui-monospace,SFMono-Regular,"SF Mono",Menlo,"DejaVu Sans Mono",Consolas,monospace;fill:#d5dbe3;white-space:pre}
.b{font-weight:700;fill:#fff}.dim{fill:#8b98a9}.high{font-weight:700;fill:#ff7b72}.malicious{fill:#ff7b72}.suspicious{fill:#e3b341}
#all{animation:all ${totalMs}ms infinite step-end}
@keyframes all{${scrolls.join('')}}
${styles.join('\n')}
@media (prefers-reduced-motion:reduce){*{animation:none!important}}
</style>
<rect width="${width}" height="${height}" rx="8" fill="#0f141a"/>
<g fill="#3a4552"><circle cx="20" cy="16" r="5"/><circle cx="38" cy="16" r="5"/><circle cx="56" cy="16" r="5"/></g>
<svg y="${barHeight}" height="${height - barHeight - 4}" viewBox="0 ${barHeight} ${width} ${height - barHeight - 4}">
<g id="all">
${texts.join('\n')}
</g>
</svg>
</svg>
`
}

/** The lines of a recording as printed. */
export const recordedLines = (svg) =>
  [...svg.matchAll(/^<text [^>]*>(.*)<\/text>$/gm)].map(([, content]) => unescaped(content.replace(/<[^>]*>/g, '')))

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const lines = await record(process.execPath, [join(root, 'dist/cli.js'), 'demo'])
  const command = { text: '$ npm run demo', at: lines[0].at - 800 }
  writeFileSync(target, draw(scenesOf([command, ...lines])))
}
