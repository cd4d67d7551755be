// The content of the page as a tree of plain values, which the server renders as HTML and the script as elements. Text is always escaped.
import { escapeControls } from '../../../domain/control-characters.js'

type Attributes = Readonly<Record<string, string>>
/** Arrays, because it is sent to the page as JSON. */
export type Node = string | readonly [tag: string, attributes: Attributes, children: readonly Node[]]
type Child = Node | undefined | false

/** Text may be hostile; tags and attribute names are constants. */
export const h = (tag: string, attributes: Attributes, ...children: readonly Child[]): Node => [
  tag,
  Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, escapeControls(value)])),
  children
    .filter((child): child is Node => child !== undefined && child !== false && child !== '')
    .map((child) => (typeof child === 'string' ? escapeControls(child) : child)),
]

/** Cuts a text to `max` characters. */
export const clip = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max - 1)}…`)

export const toHtml = (node: Node): string => {
  if (typeof node === 'string') return escapeHtml(node)
  const [tag, attributes, children] = node
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${escapeHtml(value)}"`)
  const end = tag === 'input' ? '' : `</${tag}>`
  return `<${tag}${written.join('')}>${children.map(toHtml).join('')}${end}`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
