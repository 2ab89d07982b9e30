// Pages that no release changes: the method, how the service works, its terms, the page of the operator.
import type { Html } from '../pages/html.ts'
import type { Site } from '../pages/site.ts'
import { termsPage, howPage, methodologyPage } from '../pages/explanations.ts'
import { operatorPage } from '../pages/operator.ts'
import type { Route } from '../http/route.ts'
import { pageRoute } from './page-route.ts'

export function fixedPages(methodologyText: Uint8Array): Route[] {
  return [method(methodologyText), how, terms, operator]
}

/** Renders a page that stays the same. */
function fixed(render: (site: Site) => Html | Promise<Html>) {
  return ({ site }: { site: Site }) => ({ render: () => render(site) })
}

function method(text: Uint8Array): Route {
  return pageRoute({
    path: '/view/methodology',
    operationId: 'showMethodology',
    summary: 'The method in full',
    follows: false,
    render: fixed((site) => methodologyPage(site, new TextDecoder().decode(text))),
  })
}

const how = pageRoute({
  path: '/view/how',
  operationId: 'showHow',
  summary: 'How it works, in five sentences',
  follows: false,
  render: fixed(howPage),
})

const terms = pageRoute({
  path: '/view/terms',
  operationId: 'showTerms',
  summary: 'What the words of the pages mean',
  follows: false,
  render: fixed(termsPage),
})

/** The page is the same for everyone, and has no data. */
const operator = pageRoute({
  path: '/operator',
  operationId: 'showOperator',
  summary: 'The page of the person who resolves questions',
  follows: false,
  render: fixed(operatorPage),
})
