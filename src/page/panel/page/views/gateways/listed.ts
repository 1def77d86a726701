/** A short list of objects with one form: usage plans, token issuers. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { deleteListed, listPath, type ViewReading } from '../../api/registry.ts';
import { getApi, may } from '../../api/state.ts';
import { editor } from '../api/editor.ts';
import { confirmDialog, modal } from '../api/modal.ts';
import { html } from '../parts.ts';
import { removeButton, type TableRow, table, unreadLine, viewHead } from './table.ts';

/** An object that others refer to by its name. */
interface Named {
  readonly id: number;
  readonly name: string;
  readonly updated_at: string;
}

/** The words of a list. */
interface ListWords {
  readonly title: string;
  readonly note: string;
  /** What one object is called. */
  readonly one: string;
  readonly empty: string;
  /** What a deletion means. */
  readonly effect: string;
}

interface ListedProps<One extends Named> {
  readonly kind: 'usage-plans' | 'token-issuers';
  readonly reading: ViewReading<readonly One[]>;
  readonly words: ListWords;
  readonly columns: readonly string[];
  /** The cells beside the name. */
  readonly cells: (one: One) => TableRow['cells'];
}

/** The form of each list. */
const FORMS = { 'usage-plans': 'usage_plan', 'token-issuers': 'token_issuer' } as const;

/** What is open above the list. */
type Open =
  | { readonly kind: 'new' }
  | { readonly kind: 'edit' | 'delete'; readonly one: Named }
  | { readonly kind: 'nothing' };

const NOTHING: Open = { kind: 'nothing' };

/** Dialogs. */
function dialogOf(
  open: Open,
  { kind, reading, words: { one, effect } }: ListedProps<Named>,
  close: () => void,
): VNode | null {
  if (open.kind === 'nothing') return null;
  if (open.kind === 'delete') {
    const { name } = open.one;
    const done = `The ${one} ${name} is deleted.`;
    return html`<${confirmDialog} title=${`Delete ${name}?`} word=${`Delete the ${one}`} text=${effect} close=${close}
      act=${() => deleteListed(kind, open.one, done).finally(reading.again)} />`;
  }
  const isNew = open.kind === 'new';
  const title = open.kind === 'new' ? `New ${one}` : `The ${one} ${open.one.name}`;
  const form = getApi().fields?.[FORMS[kind]];
  const path = listPath(kind, open.kind === 'new' ? '' : open.one.id);
  return html`<${modal} title=${title} close=${close} wide>
    <${editor} path=${path} isNew=${isNew} groups=${[{ title: form?.summary ?? '', fields: form?.fields ?? [] }]} options=${{}} editable=${may('rules.edit')}
      done=${isNew ? `The ${one} is added.` : `${title} is saved.`} close=${close} />
  <//>`;
}

/** The list. */
export function listedView<One extends Named>(props: ListedProps<One>): VNode {
  const [open, setOpen] = useState<Open>(NOTHING);
  const { reading, words, columns, cells } = props;
  const { title, note, one, empty } = words;
  const editable = may('rules.edit');
  const rows = (reading.body ?? []).map((each) => ({
    key: each.id,
    cells: [
      html`<button type="button" class="link" onClick=${() => setOpen({ kind: 'edit', one: each })}>${each.name}</button>`,
      ...cells(each),
      ...(editable ? [removeButton('Delete', each.name, () => setOpen({ kind: 'delete', one: each }))] : []),
    ],
  }));
  const heads = columns.map((name) => ({ title: name }));
  return html`${viewHead(title, note, editable && html`<button type="button" class="primary" onClick=${() => setOpen({ kind: 'new' })}>New ${one}</button>`)}
    ${
      reading.body === null
        ? html`<${unreadLine} refused=${reading.refused} />`
        : html`<${table} label=${title} columns=${editable ? [...heads, { title: 'Actions', kind: 'buttons' }] : heads} rows=${rows} empty=${empty} />`
    }
    ${dialogOf(open, props as unknown as ListedProps<Named>, () => setOpen(NOTHING))}`;
}
