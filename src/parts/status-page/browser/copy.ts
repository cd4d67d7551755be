// Browser script: copies a command, or selects it if the browser denies access to the clipboard.

export const copyScript = `
  document.addEventListener('click', (event) => {
    const button = event.target.closest && event.target.closest('button.copy')
    if (!button) return
    const select = () => {
      const range = document.createRange()
      range.selectNodeContents(button.previousElementSibling)
      getSelection().removeAllRanges()
      getSelection().addRange(range)
      return 'Selected'
    }
    const copied = navigator.clipboard
      ? navigator.clipboard.writeText(button.dataset.copy).then(() => 'Copied', select)
      : Promise.resolve(select())
    void copied.then((said) => {
      button.textContent = said
      setTimeout(() => { button.textContent = 'Copy' }, 2000)
    })
  })
`
