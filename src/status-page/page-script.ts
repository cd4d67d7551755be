// The script of the status page: shows each update as text, never as markup.

export const pageScript = `(() => {
  'use strict'
  const byId = (id) => document.getElementById(id)
  const shown = {}
  const fill = (id, rows) => {
    const text = JSON.stringify(rows)
    if (shown[id] === text) return
    shown[id] = text
    const body = byId(id)
    if (!body) return
    body.replaceChildren(...rows.map((row) => {
      const line = document.createElement('tr')
      for (const cell of row) {
        const place = line.appendChild(document.createElement('td'))
        if (typeof cell === 'string') place.textContent = cell
        else {
          const link = place.appendChild(document.createElement('a'))
          link.textContent = cell.text
          link.setAttribute('href', cell.href)
        }
      }
      return line
    }))
  }
  const show = ({ texts, tones, paths, tables }) => {
    for (const [id, text] of Object.entries(texts)) {
      const element = byId(id)
      if (element && element.textContent !== text) element.textContent = text
    }
    for (const [id, tone] of Object.entries(tones)) {
      const element = byId(id)
      if (element) element.dataset.tone = tone
    }
    for (const [id, path] of Object.entries(paths)) {
      const element = byId(id)
      if (element) element.setAttribute('d', path)
    }
    for (const [id, rows] of Object.entries(tables)) fill(id, rows)
  }
  const live = byId('live')
  const source = new EventSource('events')
  source.onmessage = ({ data }) => {
    show(JSON.parse(data))
    live.textContent = 'live'
  }
  source.onerror = () => {
    live.textContent = 'connection lost, reconnecting'
  }
})()`
