import { expect, it } from 'vitest'
import { html } from '../../../api/pages/html.ts'

it('escapes what is not markup, in content and in attributes', () => {
  const name = `<b>"x" & 'y'</b>`
  expect(html`<i title="${name}">${name}</i>`.text).toBe(
    '<i title="&lt;b&gt;&quot;x&quot; &amp; &#39;y&#39;&lt;/b&gt;">&lt;b&gt;&quot;x&quot; &amp; &#39;y&#39;&lt;/b&gt;</i>',
  )
})

it('keeps markup, joins lists and leaves out what is not there', () => {
  const parts = [1, '<', html`<i></i>`, [null, undefined, false as const], 0]
  expect(html`<b>${parts}</b>`.text).toBe('<b>1&lt;<i></i>0</b>')
})
