// Every page in every state, by what a reader would call it: a line each. Paths with ids are those of
// test/support/worlds/page-world.ts.
import type { PageServices } from '../support/worlds/page-world.ts'
import { HOSTILE_OWNER, HOSTILE_QUESTION, agentIdOf } from '../support/worlds/page-world.ts'
import { HOLDERS } from '../support/worlds/certified-world.ts'
import { QUESTION, forecasterId } from '../support/worlds/world.ts'

export interface PageRoute {
  name: string
  service: keyof Omit<PageServices, 'stop'>
  path: string
  /** 200 unless another one is named. */
  status?: number
}

export const PAGE_ROUTES: readonly PageRoute[] = [
  { name: 'landing', service: 'full', path: '/' },
  { name: 'landing of the sandbox', service: 'full', path: '/sandbox/' },
  { name: 'landing of an empty store', service: 'empty', path: '/' },
  { name: 'agents', service: 'full', path: '/view/agents' },
  { name: 'agents of an empty store', service: 'empty', path: '/view/agents' },
  { name: 'agents of a sandbox without agents', service: 'full', path: '/sandbox/view/agents' },
  { name: 'forecasters', service: 'full', path: '/view/forecasters' },
  { name: 'forecasters of the sandbox', service: 'full', path: '/sandbox/view/forecasters' },
  { name: 'agents of a topic', service: 'full', path: '/view/agents?category=simulated' },
  { name: 'forecasters of a topic', service: 'full', path: '/view/forecasters?category=simulated' },
  { name: 'topics', service: 'full', path: '/view/topics' },
  { name: 'topics of an empty store', service: 'empty', path: '/view/topics' },
  { name: 'topic', service: 'full', path: '/view/topics/simulated' },
  { name: 'topic without a board', service: 'full', path: '/view/topics/%3Ci%3Ecategory%3C%2Fi%3E' },
  { name: 'unknown topic', service: 'full', path: '/view/topics/none', status: 404 },
  { name: 'profile, ranked', service: 'full', path: `/view/agents/${agentIdOf(0)}` },
  { name: 'profile, early', service: 'full', path: `/view/agents/${agentIdOf(2)}` },
  { name: 'profile, without forecasts', service: 'full', path: `/view/agents/${agentIdOf(3)}` },
  { name: 'profile of a forecaster', service: 'full', path: `/view/forecasters/${forecasterId(0)}` },
  { name: 'profile of a holder', service: 'full', path: `/sandbox/view/forecasters/${HOLDERS[0]}` },
  { name: 'all questions of an agent', service: 'full', path: `/view/agents/${agentIdOf(0)}/questions` },
  {
    name: 'all questions of a forecaster',
    service: 'full',
    path: `/view/forecasters/${forecasterId(0)}/questions`,
  },
  { name: 'report on an agent', service: 'full', path: `/view/agents/${agentIdOf(0)}/report` },
  { name: 'owner', service: 'full', path: `/view/owners/${encodeURIComponent(HOSTILE_OWNER)}` },
  { name: 'unknown agent', service: 'full', path: `/view/agents/${agentIdOf(99)}`, status: 404 },
  { name: 'questions', service: 'full', path: '/view/questions' },
  { name: 'questions of the sandbox', service: 'full', path: '/sandbox/view/questions?status=resolved' },
  { name: 'no question that fits', service: 'full', path: '/view/questions?q=zebra&category=%22%3E%3Cb%3E' },
  { name: 'questions of an empty store', service: 'empty', path: '/view/questions' },
  ...Object.entries(QUESTION).map(([state, id]) => ({
    name: `question, ${state}`,
    service: 'full' as const,
    path: `/view/questions/${id}`,
  })),
  { name: 'event', service: 'full', path: '/view/events/event-0' },
  { name: 'unknown event', service: 'full', path: '/view/events/%3Cb%3Enone', status: 404 },
  { name: 'hostile question', service: 'full', path: `/view/questions/${HOSTILE_QUESTION}` },
  { name: 'search', service: 'full', path: '/view/search' },
  { name: 'search that finds', service: 'full', path: '/view/search?q=question' },
  { name: 'search of agents', service: 'full', path: '/view/search?q=1&in=agents' },
  { name: 'search that finds nothing', service: 'full', path: '/view/search?q=%3Cb%3Ezebra' },
  { name: 'search of an empty store', service: 'empty', path: '/view/search?q=anna' },
  { name: 'compare', service: 'full', path: '/view/compare' },
  {
    name: 'compare two',
    service: 'full',
    path: `/view/compare?a=${agentIdOf(0)}&b=${forecasterId(3)}`,
  },
  {
    name: 'compare two who said the same',
    service: 'full',
    path: `/view/compare?a=${agentIdOf(0)}&b=${forecasterId(0)}`,
  },
  {
    name: 'compare four',
    service: 'full',
    path: `/view/compare?a=${agentIdOf(0)}&b=${forecasterId(0)}&c=${agentIdOf(1)}&d=${forecasterId(1)}`,
  },
  {
    name: 'compare without a shared question',
    service: 'full',
    path: `/view/compare?a=${agentIdOf(3)}&b=${forecasterId(0)}`,
  },
  {
    name: 'compare to choose',
    service: 'full',
    path: '/sandbox/view/compare?a=simulated-forecaster&b=nobody',
  },
  { name: 'releases', service: 'full', path: '/view/releases' },
  { name: 'releases of the sandbox', service: 'full', path: '/sandbox/view/releases' },
  { name: 'releases of an empty store', service: 'empty', path: '/view/releases' },
  { name: 'release of the sandbox', service: 'full', path: '/sandbox/view/releases/2' },
  { name: 'forecasters of an earlier release', service: 'full', path: '/sandbox/view/forecasters?release=1' },
  {
    name: 'profile of an earlier release',
    service: 'full',
    path: `/sandbox/view/forecasters/${HOLDERS[0]}?release=1`,
  },
  { name: 'method', service: 'full', path: '/view/methodology' },
  { name: 'how it works', service: 'full', path: '/view/how' },
  { name: 'calls for developers', service: 'full', path: '/docs' },
  { name: 'data', service: 'full', path: '/docs/data' },
  { name: 'calls of the sandbox', service: 'full', path: '/sandbox/docs' },
  { name: 'terms', service: 'full', path: '/view/terms' },
  { name: 'terms of the sandbox', service: 'full', path: '/sandbox/view/terms' },
  { name: 'check', service: 'full', path: '/view/verify' },
  { name: 'check of what is nothing', service: 'full', path: '/view/verify?q=%3Cb%3E', status: 200 },
  {
    name: 'check of a link to elsewhere',
    service: 'full',
    path: '/view/verify?q=https://example.org/x',
    status: 404,
  },
  { name: 'check in the sandbox', service: 'full', path: '/sandbox/view/verify' },
  { name: 'operator', service: 'full', path: '/operator' },
  { name: 'operator of the sandbox', service: 'full', path: '/sandbox/operator' },
  { name: 'unknown path', service: 'full', path: '/view/nothing', status: 404 },
  { name: 'unknown page of the leaderboard', service: 'full', path: '/view/agents?page=7', status: 404 },
  { name: 'wrong input', service: 'full', path: '/view/questions/%3Cb%3E', status: 422 },
]
