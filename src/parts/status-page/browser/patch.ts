// Browser script: updates the children of an element from a tree with minimal changes, which keeps focus and open details.

/** Leaves state alone that the reader controls, such as open details. */
export const patchScript = `
  const svg = 'http://www.w3.org/2000/svg'
  const readers = new Set(['open', 'hidden'])
  const patch = (element, nodes) => {
    const byId = new Map()
    for (const child of element.children) if (child.id) byId.set(child.id, child)
    let at = element.firstChild
    for (const node of nodes) {
      if (typeof node === 'string') {
        if (at && at.nodeType === 3) {
          if (at.data !== node) at.data = node
          at = at.nextSibling
        } else element.insertBefore(document.createTextNode(node), at)
        continue
      }
      const [tag, attributes, children] = node
      const isHere = at && at.nodeType === 1 && !at.id && !attributes.id && at.localName === tag
      let found = attributes.id ? byId.get(attributes.id) : isHere ? at : undefined
      if (!found || found.localName !== tag) {
        const isSvg = tag === 'svg' || element.namespaceURI === svg
        found = isSvg ? document.createElementNS(svg, tag) : document.createElement(tag)
      }
      if (found === at) at = at.nextSibling
      else element.insertBefore(found, at)
      for (const name of found.getAttributeNames())
        if (!(name in attributes) && !readers.has(name)) found.removeAttribute(name)
      for (const [name, value] of Object.entries(attributes))
        if (!readers.has(name) && found.getAttribute(name) !== value) found.setAttribute(name, value)
      patch(found, children)
    }
    while (at) {
      const next = at.nextSibling
      at.remove()
      at = next
    }
  }
  const replace = (id, nodes) => {
    const region = document.getElementById(id)
    if (!region) return
    const focused = document.activeElement
    patch(region, nodes)
    // A row that moved has lost it.
    if (focused && focused !== document.activeElement && region.contains(focused)) focused.focus({ preventScroll: true })
  }
`
