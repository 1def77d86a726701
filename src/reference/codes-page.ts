/** The page of codes: what each means and what to do about it, with an anchor for each. */

import type { CodeEntry } from '../base/codes/code.ts';
import { CODE_AREAS } from '../base/codes/codes.ts';
import { html, type Markup } from './html.ts';
import { inline } from './markdown.ts';
import { anchorOf } from './navigation.ts';
import { shell } from './shell.ts';

/** The page. */
export function codesPage(): string {
  return shell({
    title: 'Codes',
    current: 'codes',
    navigation: html`<div class="find"><label for="find">Find a code</label>
<input id="find" type="search" autocomplete="off" spellcheck="false" placeholder="unknown_field, path …"><p id="found" role="status"></p></div>
${CODE_AREAS.map(
  ({ title, codes }) =>
    html`<details><summary>${title}</summary><ul>${Object.keys(codes).map((code) => html`<li><a href="#${code}">${code}</a></li>`)}</ul></details>
`,
)}`,
    content: html`<header class="opening"><h1>Codes</h1>
<p>The code of a message says what is wrong independently of its wording: in brackets in the terminal, as <code>code</code> in JSON. <code>edgeplan codes unknown_field</code> prints the same.</p></header>
${CODE_AREAS.map(
  ({ title, codes }) =>
    html`<section class="tag" id="${anchorOf(title)}"><h2><a href="#${anchorOf(title)}">${title}</a></h2>
${Object.entries(codes).map(([code, entry]) => codeSection(code, entry))}</section>
`,
)}`,
  });
}

function codeSection(code: string, { severity, meaning, remedy }: CodeEntry): Markup {
  const mark = severity === null ? null : html`<span class="severity">${severity}</span>`;
  return html`<section class="entry" id="${code}"><h3><a href="#${code}"><code>${code}</code></a>${mark}</h3>
<p>${inline(meaning)}</p><p class="remedy">${inline(remedy)}</p></section>
`;
}
