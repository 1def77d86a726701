/** The DNS records of the domain, and which of them go through the edge. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { RecordShown } from '../../api/documents.ts';
import { getApi, may } from '../../api/state.ts';
import { deleteRecord, recordPath } from '../../api/writes.ts';
import { html } from '../html.ts';
import { editor, type FieldGroup } from './editor.ts';
import { confirmDialog, modal } from './modal.ts';

/** Fields that matter only to proxied records. */
const EDGE: ReadonlySet<string> = new Set(['captcha', 'scheme', 'port', 'host_header', 'monitor', 'timeout']);

/** What a new record begins with. */
const PROPOSED = { type: 'A' } as const;

/** What is open above the list. */
type Open =
  | { readonly kind: 'edit' | 'delete'; readonly record: RecordShown }
  | { readonly kind: 'new' }
  | { readonly kind: 'nothing' };

const NOTHING: Open = { kind: 'nothing' };

function groupsOf(isNew: boolean): readonly FieldGroup[] {
  const all = getApi().fields?.record.fields ?? [];
  // The type of a record cannot change.
  const fields = all.filter(({ name }) => isNew || name !== 'type');
  return [
    { title: 'The record', fields: fields.filter(({ name }) => !EDGE.has(name)) },
    { title: 'Through the edge', fields: fields.filter(({ name }) => EDGE.has(name)) },
  ];
}

/** Dialogs. @param close closes this one: another may be open by the time that its change is made */
function dialogOf(open: Open, close: () => void): VNode | null {
  if (open.kind === 'nothing') return null;
  if (open.kind === 'delete') {
    const { record } = open;
    const effect = record.proxied ? ' The edge refuses requests for it then.' : '';
    return html`<${confirmDialog} title=${`Delete ${record.name} ${record.type}?`} word="Delete the record" close=${close}
      text=${`Its destination is ${record.destination}.${effect}`} act=${() => deleteRecord(record)} />`;
  }
  const isNew = open.kind === 'new';
  const title = open.kind === 'new' ? 'New record' : `Record ${open.record.name} ${open.record.type}`;
  const path = recordPath(open.kind === 'new' ? null : open.record.id);
  return html`<${modal} title=${title} close=${close} wide>
    <${editor} path=${path} isNew=${isNew} groups=${groupsOf(isNew)} options=${{}} proposed=${PROPOSED} editable=${may('records.edit')}
      done=${isNew ? 'The record is added.' : `${title} is saved.`} close=${close} />
  <//>`;
}

/** The section. */
export function recordsView(): VNode {
  const [open, setOpen] = useState<Open>(NOTHING);
  const { records } = getApi();
  if (records === null) return html`<p class="empty">Loading the records…</p>`;
  const editable = may('records.edit');
  return html`<section class="list" aria-label="Records">
    <div class="list-head">
      <div><h2>Records</h2><p class="note">Requests for a proxied record go through the edge, where the rules apply; of the others only the DNS answers.</p></div>
      ${editable && html`<button type="button" class="primary" onClick=${() => setOpen({ kind: 'new' })}>New record</button>`}
    </div>
    ${records.length === 0 && html`<p class="empty">This domain has no records yet.</p>`}
    <div class="scroll" tabindex="0" role="region" aria-label="List of records"><table>
      <thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Destination</th><th scope="col">Edge</th>${editable && html`<th scope="col"><span class="unseen">Actions</span></th>`}</tr></thead>
      <tbody>${records.map(
        (record) => html`<tr key=${record.id}>
          <th scope="row"><button type="button" class="link" onClick=${() => setOpen({ kind: 'edit', record })}>${record.name}</button></th>
          <td>${record.type}</td><td class="place">${record.destination}</td>
          <td>${record.proxied ? html`<span class="badge proxied">proxied</span>` : html`<span class="dim">DNS only</span>`}</td>
          ${editable && html`<td class="end"><button type="button" class="quiet" aria-label=${`Delete ${record.name} ${record.type}`} onClick=${() => setOpen({ kind: 'delete', record })}>Delete</button></td>`}
        </tr>`,
      )}</tbody>
    </table></div>
    ${dialogOf(open, () => setOpen((now) => (now === open ? NOTHING : now)))}
  </section>`;
}
