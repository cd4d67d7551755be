// Browser script: shows the chart value under the pointer, or selects one with the arrow keys.

export const readChartScript = `
  const reading = new Map()
  const pointsOf = (plot) =>
    (plot.dataset.points || '').split('|').filter(Boolean).map((text) => {
      const [x, y, ...rest] = text.split(' ')
      return { x: Number(x), y: Number(y), text: rest.join(' ') }
    })
  const readPoint = (plot, nth) => {
    const points = pointsOf(plot)
    if (points.length === 0) return
    const at = Math.max(0, Math.min(points.length - 1, nth))
    const { x, y, text } = points[at]
    reading.set(plot.closest('figure').id, at - points.length)
    plot.querySelector('.cross').setAttribute('d', 'M' + x + ' 0V100')
    plot.querySelector('.dot').setAttribute('d', 'M' + x + ' ' + y + 'h0')
    plot.setAttribute('aria-valuenow', String(at))
    plot.setAttribute('aria-valuetext', text)
    const now = plot.parentElement.querySelector('.now')
    now.textContent = text
    now.dataset.read = ''
  }
  const stopReading = (plot) => {
    if (document.activeElement === plot) return
    const figure = plot.closest('figure')
    if (!reading.delete(figure.id)) return
    for (const path of plot.querySelectorAll('.cross, .dot')) path.setAttribute('d', '')
    const now = figure.querySelector('.now')
    now.textContent = now.dataset.now
    delete now.dataset.read
  }
  /** Restores the selection after an update, which would show the newest value. */
  const readAgain = () => {
    for (const [id, fromEnd] of reading) {
      const plot = document.querySelector('#' + id + ' .plot')
      if (plot) readPoint(plot, pointsOf(plot).length + fromEnd)
    }
  }
  const charts = document.getElementById('charts')
  if (charts) {
    const plotOf = (event) => event.target.closest('.plot')
    charts.addEventListener('pointermove', (event) => {
      const plot = plotOf(event)
      if (!plot) return
      const { left, width } = plot.querySelector('svg').getBoundingClientRect()
      const x = (1000 * (event.clientX - left)) / width
      const points = pointsOf(plot)
      let nearest = 0
      points.forEach((point, nth) => {
        if (Math.abs(point.x - x) < Math.abs(points[nearest].x - x)) nearest = nth
      })
      readPoint(plot, nearest)
    })
    charts.addEventListener('pointerout', (event) => {
      const plot = plotOf(event)
      if (plot && !plot.contains(event.relatedTarget)) stopReading(plot)
    })
    charts.addEventListener('focusin', (event) => {
      const plot = plotOf(event)
      if (plot) readPoint(plot, pointsOf(plot).length - 1)
    })
    charts.addEventListener('focusout', (event) => {
      const plot = plotOf(event)
      if (plot) setTimeout(() => stopReading(plot))
    })
    charts.addEventListener('keydown', (event) => {
      const plot = plotOf(event)
      const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -Infinity, End: Infinity }[event.key]
      if (!plot || step === undefined) return
      event.preventDefault()
      readPoint(plot, Number(plot.getAttribute('aria-valuenow')) + step)
    })
  }
`
