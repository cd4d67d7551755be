// The script of the page: all parts in one scope, and live updates.
import { copyScript } from './copy.js'
import { filterScript } from './filter.js'
import { patchScript } from './patch.js'
import { readChartScript } from './read-chart.js'

const liveScript = `
  const live = document.getElementById('live')
  if (live) {
    const say = (text) => { if (live.textContent !== text) live.textContent = text }
    const source = new EventSource('events')
    source.onmessage = ({ data }) => {
      for (const [id, nodes] of Object.entries(JSON.parse(data))) replace(id, nodes)
      applyFilter()
      readAgain()
      say('live')
    }
    source.onerror = () => say('connection lost, reconnecting')
  }
`

export const pageScript = `(() => {
  'use strict'
${patchScript}${filterScript}${readChartScript}${copyScript}${liveScript}})()`
