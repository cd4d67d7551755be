// Browser script: shows rows that contain all words of the filter, or the first few rows without one. / focuses the box, Escape clears it.

export const filterScript = `
  const box = document.getElementById('filter')
  const applyFilter = () => {
    if (!box) return
    const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean)
    let all = 0
    let shown = 0
    let unfolded = 0
    for (const row of document.querySelectorAll('#alerts tr, #findings tr')) {
      const text = row.dataset.find || row.textContent.toLowerCase()
      row.hidden = !words.every((word) => text.includes(word))
      all++
      if (row.hidden) continue
      shown++
      if (row.parentElement.id === 'alerts') unfolded++
    }
    if (words.length > 0) document.body.dataset.filtered = ''
    else delete document.body.dataset.filtered
    const fold = document.getElementById('no-alert')
    if (fold && shown > 0 && unfolded === 0 && words.length > 0) fold.open = true
    const text = words.length === 0 ? '' : shown + ' of ' + all + ' shown'
    const found = document.getElementById('found')
    if (found.textContent !== text) found.textContent = text
  }
  document.addEventListener('click', ({ target }) => {
    if (target.id === 'show-all') delete document.body.dataset.few
  })
  if (box) {
    document.body.dataset.few = ''
    box.parentElement.hidden = false
    box.addEventListener('input', applyFilter)
    box.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return
      box.value = ''
      applyFilter()
    })
    document.addEventListener('keydown', (event) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target === box) return
      event.preventDefault()
      box.focus()
    })
  }
`
