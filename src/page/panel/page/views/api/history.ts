/** What was published: revisions with author and reason, the difference of two, and the way back. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { callText, nextOf } from '../../api/call.ts';
import { domainPath, type RevisionEntry } from '../../api/documents.ts';
import { sentence } from '../../api/session.ts';
import { getApi, may } from '../../api/state.ts';
import { rollBack } from '../../api/writes.ts';
import { type PageState, setState } from '../../state.ts';
import { html } from '../parts.ts';
import { confirmDialog, whenText } from './modal.ts';

/** Two revisions, the older first. */
interface Pair {
  readonly from: number;
  readonly to: number;
}

/** The class of a line of a unified diff. */
function toneOf(line: string): string {
  if (line.startsWith('+++') || line.startsWith('---') || line.startsWith('@@')) return 'dim';
  if (line.startsWith('+')) return 'added';
  return line.startsWith('-') ? 'deleted' : '';
}

/** A page of the difference, and the path of the next. */
interface DiffText {
  readonly text: string;
  readonly next: string | null;
  readonly error: string | null;
}

const LOADING: DiffText = { text: '', next: null, error: null };

/** The difference of two revisions. */
function diffView({ from, to }: Pair): VNode {
  const [diff, setDiff] = useState<DiffText | null>(null);
  const first = `${domainPath(getApi().domain?.name ?? '')}/plans/${from}/diff/${to}`;
  const shown = useRef(first);
  const read = async (path: string, before: string): Promise<void> => {
    let found: DiffText;
    try {
      const { body, headers } = await callText(path);
      found = { text: `${before}${body}`, next: nextOf(headers), error: null };
    } catch (error) {
      found = { ...LOADING, text: before, error: sentence(error) };
    }
    // Another pair may have been chosen meanwhile.
    if (shown.current === first) setDiff(found);
  };
  useEffect(() => {
    shown.current = first;
    setDiff(null);
    void read(first, '');
  }, [first]);
  if (diff === null) return html`<p class="note">Comparing…</p>`;
  const { text, next, error } = diff;
  const lines = text.replace(/\n$/, '').split('\n');
  return html`<section class="diff" aria-label=${`Revision ${from} and revision ${to}`}>
    <h3 class="diff-title">From revision ${from} to revision ${to}</h3>
    ${error !== null && html`<p class="refused">${error}</p>`}
    ${
      text === ''
        ? error === null && html`<p class="note">The two decide alike: nothing differs but the number.</p>`
        : html`<pre tabindex="0">${lines.map((line) => html`<span class=${toneOf(line)}>${line}\n</span>`)}</pre>`
    }
    ${next !== null && html`<button type="button" class="quiet" onClick=${() => void read(next, text)}>Show more of it</button>`}
  </section>`;
}

/** The state of a revision in a few words. */
function stateOf({ digest, pruned, revision }: RevisionEntry, current: RevisionEntry | undefined): VNode {
  return html`${revision === current?.revision && html`<span class="badge current">current</span> `}
    ${digest === null && html`<span class="badge">refuses every request</span>`}
    ${pruned && html`<span class="badge">no longer stored</span>`}`;
}

/** What the buttons of a row do. */
interface RowActions {
  readonly compare: (pair: Pair) => void;
  readonly back: (revision: number) => void;
}

/** One revision. */
function row(entry: RevisionEntry, { compare, back }: RowActions, state: PageState): VNode {
  const { revisions } = getApi();
  const [current] = revisions;
  const before = revisions[revisions.indexOf(entry) + 1];
  const stored = !entry.pruned && entry.digest !== null;
  const decides = (state.revision ?? current?.revision) === entry.revision;
  return html`<tr key=${entry.revision}>
    <th scope="row">#${entry.revision}</th>
    <td class="when">${whenText(entry.created_at)}</td>
    <td class="why">${entry.reason} ${stateOf(entry, current)}</td>
    <td>${entry.account ?? html`<span class="dim">the service</span>`}</td>
    <td class="end"><span class="actions straight">
      ${
        stored &&
        html`<button type="button" class="quiet" aria-pressed=${decides} aria-label=${`Try it: revision ${entry.revision}`}
        onClick=${() => setState({ revision: entry === current ? null : entry.revision, section: 'request' })}>Try it</button>`
      }
      ${
        stored &&
        before !== undefined &&
        !before.pruned &&
        html`<button type="button" class="quiet" aria-label=${`Changes of revision ${entry.revision}`}
        onClick=${() => compare({ from: before.revision, to: entry.revision })}>Changes</button>`
      }
      ${
        stored &&
        entry !== current &&
        current !== undefined &&
        html`<button type="button" class="quiet" aria-label=${`Compare revision ${entry.revision} with the current one`}
        onClick=${() => compare({ from: entry.revision, to: current.revision })}>Compare</button>`
      }
      ${
        stored &&
        entry !== current &&
        may('rules.edit') &&
        html`<button type="button" class="quiet" aria-label=${`Roll back to revision ${entry.revision}`}
        onClick=${() => back(entry.revision)}>Roll back</button>`
      }
    </span></td>
  </tr>`;
}

/** The section. */
export function historyView({ state }: { readonly state: PageState }): VNode {
  const [pair, setPair] = useState<Pair | null>(null);
  const [back, setBack] = useState<number | null>(null);
  const { revisions } = getApi();
  return html`<section class="list" aria-label="History">
    <div class="list-head"><div><h2>History</h2>
      <p class="note">Every change is published as a revision. A rollback publishes the content of an older one under a new number.</p></div></div>
    ${revisions.length === 0 && html`<p class="empty">Nothing was published yet.</p>`}
    ${pair !== null && html`<${diffView} from=${pair.from} to=${pair.to} />`}
    <div class="scroll" tabindex="0" role="region" aria-label="List of revisions"><table>
      <thead><tr><th scope="col">Revision</th><th scope="col">When</th><th scope="col">Why</th><th scope="col">Who</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
      <tbody>${revisions.map((entry) => row(entry, { compare: setPair, back: setBack }, state))}</tbody>
    </table></div>
    ${
      back !== null &&
      html`<${confirmDialog} title=${`Roll back to revision ${back}?`} word="Roll back" close=${() => setBack((now) => (now === back ? null : now))} act=${() => rollBack(back)}
      text="Nodes get its content at once. The stored rules stay as they are, and the next change of a rule publishes them again." />`
    }
  </section>`;
}
