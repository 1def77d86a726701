/** The page of codes: what each means and what to do about it, with an anchor for each. */
import type { CodeEntry } from '../../base/diagnostics/codes/code.ts';
import { CODE_AREAS, codeAnchor } from '../../base/diagnostics/codes/codes.ts';
import { html, type Markup } from '../../base/text/html.ts';
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
  (area) =>
    html`<details><summary>${area.title}</summary><ul>${Object.keys(area.codes).map((code) => html`<li><a href="#${codeAnchor(area, code)}">${code}</a></li>`)}</ul></details>
`,
)}`,
    content: html`<header class="opening"><h1>Codes</h1>
<p>The code of a message says what is wrong independently of its wording: in brackets in the terminal, as <code>code</code> in JSON. <code>edgeplan codes unknown_field</code> prints the same.</p></header>
${CODE_AREAS.map(
  (area) =>
    html`<section class="tag" id="${anchorOf(area.title)}"><h2><a href="#${anchorOf(area.title)}">${area.title}</a></h2>
${Object.entries(area.codes).map(([code, entry]) => codeSection(codeAnchor(area, code), code, entry))}</section>
`,
)}`,
  });
}

function codeSection(anchor: string, code: string, entry: CodeEntry): Markup {
  const { severity, meaning, remedy } = entry;
  const mark = severity === null ? null : html`<span class="severity">${severity}</span>`;
  return html`<section class="entry" id="${anchor}"><h3><a href="#${anchor}"><code>${code}</code></a>${mark}</h3>
<p>${inline(meaning)}</p><p class="remedy">${inline(remedy)}</p></section>
`;
}
