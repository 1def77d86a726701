/**
 * Tables and other parts that the views of gateways have in common. On a narrow screen each row is a card whose cells have the titles of
 * their columns, so nothing scrolls sideways.
 */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ViewReading } from '../../api/registry.ts';
import { whenText } from '../api/modal.ts';
import { html } from '../parts.ts';

/** A column. */
interface Column {
  readonly title: string;
  /** `number`: aligned at its end; `buttons`: its title is for screen readers alone. */
  readonly kind?: 'number' | 'buttons';
}

/** A row; the first cell names it. */
export interface TableRow {
  readonly key: string | number;
  readonly cells: readonly (VNode | string | number | null)[];
}

interface TableProps {
  readonly label: string;
  readonly columns: readonly Column[];
  readonly rows: readonly TableRow[];
  /** What is said in place of a table without rows. */
  readonly empty: string;
}

/** Rows that are drawn at first, and that each press of the button adds. */
const MOST_ROWS = 100;

function titleOf({ title, kind }: Column): VNode | string {
  return kind === 'buttons' ? html`<span class="unseen">${title}</span>` : title;
}

/** The table. Its roles are written out, since browsers drop those of tables that are drawn as cards. */
export function table({ label, columns, rows, empty }: TableProps): VNode {
  const [most, setMost] = useState(MOST_ROWS);
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const left = rows.length - most;
  return html`<div class="cards"><table role="table" aria-label=${label}>
      <thead role="rowgroup"><tr role="row">${columns.map(
        (column) =>
          html`<th scope="col" role="columnheader" key=${column.title} class=${column.kind ?? ''}>${titleOf(column)}</th>`,
      )}</tr></thead>
      <tbody role="rowgroup">${rows.slice(0, most).map(
        ({ key, cells }) =>
          html`<tr role="row" key=${key}>${cells.map((cell, index) => {
            const { title, kind } = columns[index]!;
            return index === 0
              ? html`<th scope="row" role="rowheader">${cell}</th>`
              : html`<td role="cell" class=${kind ?? ''} data-title=${kind === 'buttons' ? null : title}>${cell}</td>`;
          })}</tr>`,
      )}</tbody>
    </table></div>
    ${left > 0 && html`<p class="more"><button type="button" class="quiet" onClick=${() => setMost(most + MOST_ROWS)}>Show ${Math.min(left, MOST_ROWS)} more of ${rows.length.toLocaleString()}</button></p>`}`;
}

/** What is shown while something is read, or why it cannot be read. */
export function unreadLine({ refused }: Pick<ViewReading<unknown>, 'refused'>): VNode {
  return refused === null
    ? html`<p class="empty">Loading…</p>`
    : html`<p class="refused" role="alert">${refused}</p>`;
}

/** The head of a view: its title, what it is about, and what can be done. */
export function viewHead(title: VNode | string, note: VNode | string, actions: VNode | false): VNode {
  return html`<div class="list-head"><div><h2>${title}</h2><p class="note">${note}</p></div>${actions}</div>`;
}

/** A time, or what its absence means. */
export function timeOr(at: string | null | undefined, absent: string): VNode | string {
  return at == null
    ? html`<span class="dim">${absent}</span>`
    : html`<time datetime=${at} title=${at}>${whenText(at)}</time>`;
}

/** A button that deletes or revokes something. */
export function removeButton(word: string, what: string, act: () => void): VNode {
  return html`<button type="button" class="quiet" aria-label=${`${word} ${what}`} onClick=${act}>${word}</button>`;
}
