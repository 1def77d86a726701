/** Renders the navigation: groups, their tags, and the operations of each. */
import { html, type Markup } from '../../base/text/html.ts';
import type { ApiDocument, ApiOperation } from './document.ts';
import { inline } from './markdown.ts';
import { methodBadge } from './operation.ts';

/** The anchor of a heading. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

/** What the navigation lists. */
export interface Contents {
  readonly document: ApiDocument;
  /** Headings before the operations. */
  readonly introduction: readonly string[];
  readonly operations: ReadonlyMap<string, readonly ApiOperation[]>;
  /** Headings after the operations. */
  readonly appendix: readonly string[];
}

/** The navigation of the reference. */
export function navigation({ document, introduction, operations, appendix }: Contents): Markup {
  const links = (headings: readonly string[]): Markup =>
    html`<ul>${headings.map((heading) => html`<li><a href="#${anchorOf(heading)}">${heading}</a></li>`)}</ul>`;
  return html`<div class="find"><label for="find">Find an operation, a field or a status</label>
<input id="find" type="search" autocomplete="off" spellcheck="false" placeholder="rate limit, window_sec, 412 …"><p id="found" role="status"></p></div>
${links(introduction)}
${document['x-tagGroups'].map(
  ({ name, tags }) => html`<h2>${name}</h2>${tags.map((tag) => tagEntry(tag, operations.get(tag) ?? []))}`,
)}
<h2>Objects</h2>${links(appendix)}`;
}

function tagEntry(tag: string, operations: readonly ApiOperation[]): Markup {
  return html`<details><summary>${tag}</summary><ul>${operations.map(operationEntry)}</ul></details>
`;
}

/** The link to an operation; the search compares `data-find`, and what the operation's section names, besides its text. */
function operationEntry({ operationId, method, path, summary }: ApiOperation): Markup {
  return html`<li><a href="#${operationId}" data-find="${path} ${operationId}">${methodBadge(method)}<span>${inline(summary)}</span></a></li>`;
}
