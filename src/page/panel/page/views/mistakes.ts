/** Why the text has no plan now: each mistake with its line and its remedy. The last plan goes on deciding. */
import type { VNode } from 'preact';
import type { FindingDocument } from '../../documents.ts';
import type { SourceState } from '../source.ts';
import { described } from './described.ts';
import { html } from './html.ts';

/** Mistakes that are listed; the rest is counted. */
const MOST_LISTED = 20;

/** `edge.yaml:12:7`. */
export function placeText({ at }: FindingDocument): string | null {
  return at === null ? null : `${at.file.split('/').at(-1)}:${at.line}:${at.column}`;
}

/** A mistake in one sentence, without its place and remedy. */
function sentenceOf({ path, message, found }: FindingDocument): VNode {
  return html`${path !== '' && html`<code>${path}</code>${' '}`}${described(message)}${found !== null && html`, found <code>${found.replace(/^`(.*)`$/s, '$1')}</code>`}`;
}

/** What lint found about a rule, with what to do. */
export function findingLine({ finding }: { readonly finding: FindingDocument }): VNode {
  const { severity, remedy } = finding;
  return html`<p class="finding ${severity}">${sentenceOf({ ...finding, path: '' })}${remedy !== null && html`; <span class="remedy">${described(remedy)}</span>`}</p>`;
}

/** The box. */
export function mistakesBox({ source }: { readonly source: SourceState }): VNode | null {
  const { mistakes, plans, title } = source;
  if (mistakes.length === 0) return null;
  const left = mistakes.length - MOST_LISTED;
  const [newest] = plans;
  return html`<section class="mistakes" aria-label="Mistakes in ${title}" role="alert">
    <h2>${title} does not compile</h2>
    <p>${newest === undefined ? 'Its first plan appears here once it does.' : `Plan ${newest.label}, the last one that compiled, decides below.`}</p>
    <ul>${mistakes.slice(0, MOST_LISTED).map(
      (one) => html`<li><span class="place">${placeText(one)}</span>
        <span>${sentenceOf(one)}${one.remedy !== null && html`<span class="remedy">${described(one.remedy)}</span>`}</span></li>`,
    )}</ul>
    ${left > 0 && html`<p>${left} more; the terminal lists them.</p>`}
  </section>`;
}
