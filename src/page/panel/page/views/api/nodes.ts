/** How far the current revision has come: what each node has reported. */
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { NodeEntry } from '../../api/documents.ts';
import { readNodes, report } from '../../api/session.ts';
import { getApi } from '../../api/state.ts';
import { html } from '../html.ts';
import { whenText } from './when.ts';

/** The state of a node in words. */
function stateOf({ current, outcome, reason }: NodeEntry): VNode {
  if (outcome === 'nack') return html`<span class="bad">✘ refused it: ${reason}</span>`;
  if (current) return html`<span class="good">✔ serves the current revision</span>`;
  return outcome === null
    ? html`<span class="dim">has reported nothing yet</span>`
    : html`<span class="warn">◌ serves an older revision</span>`;
}

/** The section. */
export function nodesView(): VNode {
  const { nodes, revisions, domain } = getApi();
  useEffect(() => {
    readNodes().catch(report);
  }, [domain?.name]);
  if (nodes === null) return html`<p class="empty">Loading the nodes…</p>`;
  const live = nodes.filter(({ current }) => current).length;
  const [newest] = revisions;
  return html`<section class="list" aria-label="Nodes">
    <div class="list-head"><div><h2>Nodes</h2>
      <p class="note">Each node reports the revision that it serves, or why it refuses one and goes on with the one before. The list follows as reports come in.</p></div></div>
    ${nodes.length === 0 && html`<p class="empty">No node serves this domain yet. <code>edgeplan node-token create</code> makes a token for one.</p>`}
    ${
      nodes.length > 0 &&
      html`<p class="progress-line"><progress max=${nodes.length} value=${live} aria-label="Nodes that serve the current revision"></progress>
      <span>${live} of ${nodes.length} ${nodes.length === 1 ? 'node serves' : 'nodes serve'}${newest === undefined ? ' it' : ` revision ${newest.revision}`}</span></p>
    <div class="scroll" tabindex="0" role="region" aria-label="List of nodes"><table>
      <thead><tr><th scope="col">Node</th><th scope="col">Revision</th><th scope="col">State</th><th scope="col">Reported</th></tr></thead>
      <tbody>${nodes.map(
        (
          node,
        ) => html`<tr key=${node.id}><th scope="row">${node.name}</th><td>${node.revision === null ? '' : `#${node.revision}`}</td><td>${stateOf(node)}</td>
          <td>${node.reported_at === null ? '' : whenText(node.reported_at)}</td></tr>`,
      )}</tbody>
    </table></div>`
    }
  </section>`;
}
