/** The top of the page: the domain, the revision that decides, the one beside it, and the end of the session. */
import type { VNode } from 'preact';
import type { ApiState } from '../../api/api-state.ts';
import type { RevisionEntry } from '../../api/documents.ts';
import { chooseDomain, signOut } from '../../api/session.ts';
import { may } from '../../api/state.ts';
import { type PageState, setState } from '../../state.ts';
import { typedIn } from '../fields.ts';
import { html } from '../html.ts';
import { besideChoice } from '../top-bar.ts';
import { whenText } from './when.ts';

/** What the key may do, in two or three words; `null`: everything. */
function limitOf({ domain, readOnlyKey }: ApiState): string | null {
  if (domain === null) return null;
  if (readOnlyKey) return 'read-only key';
  return may('rules.edit') ? null : `${domain.my_role}: may not change rules`;
}

/** The choice of the domain. */
function domainChoice({ domains }: ApiState, { domain }: PageState): VNode {
  return html`<div class="choice">
    <label for="domain">Domain</label>
    <select id="domain" value=${domain ?? ''} onChange=${(event: Event) => void chooseDomain(typedIn(event))}>
      ${domains.map(({ name, status }) => html`<option key=${name} value=${name}>${name}${status === 'active' ? '' : ` (${status})`}</option>`)}
    </select>
  </div>`;
}

/** The newest revision as a choice. */
function newestText(newest: RevisionEntry | undefined): string {
  if (newest === undefined) return 'nothing is published';
  return `#${newest.revision}, the newest${newest.digest === null ? ': refuses every request' : ''}`;
}

/** The choice of the revision that decides. */
function planChoice({ revisions }: ApiState, { revision }: PageState): VNode {
  const choose = (event: Event): void => {
    const text = typedIn(event);
    setState({ revision: text === '' ? null : Number(text) });
  };
  const [newest] = revisions;
  const others = revisions.filter((one) => one !== newest && one.digest !== null && !one.pruned);
  const shown = others.some((one) => one.revision === revision) ? revision : null;
  return html`<div class="choice">
    <label for="plan">Plan</label>
    <select id="plan" value=${shown === null ? '' : String(shown)} onChange=${choose}>
      <option value="">${newestText(newest)}</option>
      ${others.map((one) => html`<option key=${one.revision} value=${String(one.revision)}>#${one.revision}, ${whenText(one.created_at)}</option>`)}
    </select>
  </div>`;
}

/** The bar. */
export function sessionBar({ state, api }: { readonly state: PageState; readonly api: ApiState }): VNode {
  const limit = limitOf(api);
  return html`<header class="top">
    <h1>edgeplan</h1>
    <div class="choices">
      ${api.domains.length > 0 && domainChoice(api, state)}
      ${api.domain !== null && planChoice(api, state)}
      <${besideChoice} state=${state} />
    </div>
    ${limit !== null && html`<span class="badge">${limit}</span>`}
    <span class=${api.live ? 'live' : 'live off'}>${api.live ? 'live' : 'not connected: the server does not answer'}</span>
    <button type="button" class="quiet" onClick=${() => signOut(null)}>Sign out</button>
  </header>`;
}
