// Bakes credentials into SVG, and takes them out again as wallets and pages do
// (https://www.imsglobal.org/spec/ob/v3p0#baked-badge).
const NAMESPACE = 'https://purl.imsglobal.org/ob/v3p0'

/** Returns the picture with a credential as its first element. It has to begin with `<svg `. */
export function bakedSvg(svg: string, credential: string): string {
  const start = svg.indexOf('>') + 1
  const tag = svg.slice(0, start).replace('<svg ', `<svg xmlns:openbadges="${NAMESPACE}" `)
  // Only texts hold these characters, where JSON has another way to write them.
  const json = credential.replaceAll(']]>', ']]\\u003e')
  const element = `<openbadges:credential><![CDATA[${json}]]></openbadges:credential>`
  return `${tag}\n${element}${svg.slice(start)}`
}

/** Returns the JSON of the credential in an SVG; undefined for every other file. */
export function credentialInPicture(file: Uint8Array): string | undefined {
  const element = /^\s*<[^]*<openbadges:credential\b[^>]*>\s*<!\[CDATA\[([^]*?)\]\]>/
  return element.exec(Buffer.from(file).toString())?.[1]
}
