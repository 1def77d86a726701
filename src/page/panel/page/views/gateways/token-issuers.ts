/** The token issuers of a domain: whose JSON Web Tokens its gateways accept, and how it is with their keys. */
import type { VNode } from 'preact';
import { listPath, type TokenIssuerShown, useReading } from '../../api/registry.ts';
import { html } from '../parts.ts';
import { listedView } from './listed.ts';
import { timeOr } from './table.ts';

/** The keys that are in force, and why a fetch failed. */
function keysState({ keys = [], keys_status: status }: TokenIssuerShown): VNode {
  if (status === undefined) return html`<span>${keys.length} listed here</span>`;
  const { kids, fetched_at, error, left_out } = status;
  const left = left_out.map(({ kid, reason }) => `${kid ?? 'without kid'}: ${reason}`).join('; ');
  return html`<span>${
    fetched_at === null
      ? html`<span class="warn">◌ not fetched yet</span>`
      : html`<span>${kids.length} fetched ${timeOr(fetched_at, '')}</span>`
  }
    ${error !== undefined && html`<br /><span class="bad">✘ ${error.reason}, ${timeOr(error.at, '')}</span>`}
    ${left !== '' && html`<br /><span class="dim">not used: ${left}</span>`}</span>`;
}

/** The list. */
export function tokenIssuersView(): VNode {
  const reading = useReading<readonly TokenIssuerShown[]>(listPath('token-issuers'));
  return html`<${listedView} kind="token-issuers" reading=${reading} words=${{
    title: 'Token issuers',
    note: 'Whose JSON Web Tokens gateways accept. The server fetches the keys of an issuer with a JWKS URL, or they are listed here.',
    one: 'token issuer',
    empty: 'This domain has no token issuers yet: gateways accept no token.',
    effect: 'No gateway may name it: the server refuses the deletion of an issuer in use.',
  }} columns=${['Name', 'Issuer', 'Audiences', 'Algorithms', 'Keys']}
    cells=${(one: TokenIssuerShown) => [
      html`<span class="place">${one.issuer}</span>`,
      one.audiences.join(', '),
      one.algorithms.join(', '),
      keysState(one),
    ]} />`;
}
