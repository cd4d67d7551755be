// Makes hostile text safe to show on a page.
import { escapeControls } from '../domain/control-characters.js'

export const visible = (text: string, max = 400): string =>
  escapeControls(text.length <= max ? text : `${text.slice(0, max - 1)}…`)

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** For text between tags and for quoted attributes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
