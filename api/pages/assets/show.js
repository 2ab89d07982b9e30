// Completes the snippets of "Show it": with the address of the service where it does not know that itself, and with a button that
// copies each.
for (const snippet of document.querySelectorAll('pre[data-copy]')) {
  const { copy: name, root } = snippet.dataset
  if (root !== undefined)
    snippet.textContent = snippet.textContent.replaceAll('$FVS_URL', location.origin + root)
  // Browsers offer the clipboard to pages over HTTPS only.
  if (!navigator.clipboard) continue
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = `Copy ${name}`
  const notice = document.createElement('span')
  notice.setAttribute('role', 'status')
  button.addEventListener('click', () => {
    navigator.clipboard.writeText(snippet.textContent).then(
      () => (notice.textContent = ' Copied.'),
      () => (notice.textContent = ' The browser did not allow it: select the text and copy it.'),
    )
  })
  const line = document.createElement('p')
  line.append(button, notice)
  snippet.after(line)
}
