/** The page over the management API: sign-in, then the sections of a domain. */
import type { VNode } from 'preact';
import { SIGNED_OUT } from '../../api/state.ts';
import { type PageState, SECTIONS, type SectionName, setState } from '../../state.ts';
import { bench } from '../app.ts';
import { html } from '../html.ts';
import { draftView } from './draft.ts';
import { historyView } from './history.ts';
import { nodesView } from './nodes.ts';
import { noticeBox } from './notice.ts';
import { recordsView } from './records.ts';
import { rulesSection } from './rules.ts';
import { sessionBar } from './session-bar.ts';
import { signInView } from './sign-in.ts';

/** The title of each section. */
const TITLES: Readonly<Record<SectionName, string>> = {
  request: 'Request',
  rules: 'Rules',
  draft: 'Draft',
  records: 'Records',
  history: 'History',
  nodes: 'Nodes',
};

/** The navigation. */
function sections({ section }: PageState): VNode {
  return html`<nav class="sections" aria-label="Sections">${SECTIONS.map(
    (name) => html`<button type="button" key=${name} aria-current=${name === section ? 'page' : null}
      onClick=${() => setState({ section: name })}>${TITLES[name]}</button>`,
  )}</nav>`;
}

/** The content of the chosen section. */
function sectionOf(state: PageState): VNode {
  switch (state.section) {
    case 'request':
      return html`<${bench} state=${state} />`;
    case 'rules':
      return html`<${rulesSection} state=${state} />`;
    case 'draft':
      return html`<${draftView} />`;
    case 'records':
      return html`<${recordsView} state=${state} />`;
    case 'history':
      return html`<${historyView} state=${state} />`;
    case 'nodes':
      return html`<${nodesView} state=${state} />`;
    default:
      return state.section satisfies never;
  }
}

/** What is shown while no domain is. */
function waitingText({ domains, session }: NonNullable<PageState['api']>): string {
  if (session === 'in' && domains.length === 0)
    return 'This account has no domain yet. Add one with the API or with edgeplan apply, then reload this page.';
  return 'Loading the domain…';
}

/** The page of a state. */
export function shell({ state }: { readonly state: PageState }): VNode {
  const api = state.api ?? SIGNED_OUT;
  if (api.session !== 'in') return html`<${signInView} api=${api} />`;
  return html`<${sessionBar} state=${state} api=${api} />
    ${sections(state)}
    <main tabindex="-1">
      <${noticeBox} api=${api} />
      ${api.domain === null ? html`<p class="empty">${waitingText(api)}</p>` : sectionOf(state)}
    </main>`;
}
