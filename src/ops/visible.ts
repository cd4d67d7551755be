// Makes hostile text safe to show: invisible and control characters are escaped.

const hidden = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

export const visible = (text: string, max = 400): string => {
  const clipped = text.length <= max ? text : `${text.slice(0, max - 1)}…`
  return clipped
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(hidden, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** For text between tags and for quoted attributes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
