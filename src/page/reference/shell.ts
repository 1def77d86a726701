/** The frame of the pages under `/docs/`: their navigation, and their Content-Security-Policy. */
import { hash } from 'node:crypto';
import { sha256Hex } from '../../base/platform/cryptography.ts';
import { html, type Markup, trusted } from '../../base/text/html.ts';
import type { ApiDocument, ApiOperation } from './document.ts';
import { inline } from './markup.ts';
import { methodBadge } from './operation.ts';
import { SCRIPT } from './script.ts';

// The style of the pages under `/docs/`: light and dark as the browser prefers, one column on narrow screens, print.

const STYLE = `
:root{color-scheme:light dark;--page:#fff;--panel:#f6f7f9;--text:#1d2127;--soft:#5b6470;--line:#e1e5ea;--accent:#0a5cc2;--mark:#fff4d6;
--code:#eef1f4;--string:#0b6e4f;--get:#0b6e4f;--post:#0a5cc2;--put:#8a5300;--patch:#6d3bb8;--delete:#b3261e}
@media (prefers-color-scheme:dark){:root{--page:#101418;--panel:#171c22;--text:#e4e8ed;--soft:#9aa5b1;--line:#2a323b;--accent:#7ab5ff;--mark:#3a3113;
--code:#20272f;--string:#7fd6b0;--get:#5fd3a2;--post:#7ab5ff;--put:#f0b35a;--patch:#c5a3ff;--delete:#ff8f86}}
*{box-sizing:border-box}
html{scroll-padding-top:4.5rem;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--text);font:1rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:break-word}
a{color:var(--accent);text-decoration:none}a:hover{text-decoration:underline}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:3px}
main:focus{outline:none}
code,pre,kbd{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;font-size:.875em}
code{background:var(--code);border-radius:4px;padding:.1em .3em;overflow-wrap:anywhere}
pre{margin:0;padding:.9rem 1rem;overflow-x:auto;background:var(--panel);border:1px solid var(--line);border-radius:8px;line-height:1.5}
pre{font-size:.84rem}pre code{background:none;padding:0;overflow-wrap:normal;font-size:1em}
p,ul,dl,table{margin:0 0 1rem}
h1,h2,h3,h4{line-height:1.25;margin:0 0 .6rem;font-weight:650;letter-spacing:-.01em;text-wrap:balance}
h1{font-size:2.1rem;letter-spacing:-.02em}h2{font-size:1.55rem}h3{font-size:1.2rem}
h4{font-size:.78rem;text-transform:uppercase;letter-spacing:.06em;color:var(--soft);margin:1.8rem 0 .3rem}
main h2 a,main h3 a{color:inherit}
.skip{position:absolute;left:-99rem}.skip:focus{left:.5rem;top:.5rem;z-index:3;background:var(--page);padding:.5rem 1rem}
.bar{position:sticky;top:0;z-index:2;display:flex;align-items:center;gap:1.5rem;height:3.4rem;padding:0 1.5rem;background:var(--page);border-bottom:1px solid var(--line);font-size:.92rem}
.bar .home{font-weight:700;color:var(--text);letter-spacing:-.01em}.bar nav{display:flex;gap:1.1rem}.bar nav a{color:var(--soft)}
.bar [aria-current]{color:var(--text);font-weight:600}.files{margin-left:auto;display:flex;gap:1.1rem}
.columns{display:grid;grid-template-columns:19rem minmax(0,1fr)}
.contents{position:sticky;top:3.4rem;height:calc(100vh - 3.4rem);overflow-y:auto;padding:1.2rem 1rem 3rem 1.5rem;border-right:1px solid var(--line);font-size:.9rem;line-height:1.4;overscroll-behavior:contain;scrollbar-width:thin}
.contents h2{font-size:.74rem;text-transform:uppercase;letter-spacing:.07em;color:var(--soft);margin:1.5rem 0 .4rem}
.contents ul{list-style:none;margin:0;padding:0}.contents a{display:flex;gap:.5rem;align-items:baseline;padding:.28rem .5rem;border-radius:6px;color:var(--text)}
.contents a:hover,.contents summary:hover{background:var(--panel);text-decoration:none}.contents a[aria-current]{background:var(--code);font-weight:600}
.contents summary{cursor:pointer;padding:.28rem .5rem;border-radius:6px}.contents details[open]>summary{font-weight:600}
.contents details ul{margin:.1rem 0 .5rem .35rem;padding-left:.4rem;border-left:1px solid var(--line)}
.contents code{background:none;padding:0}.contents .method{flex:none;width:3.3rem;font-size:.66rem}
[hidden]{display:none!important}
.find{display:none;margin:0 0 .8rem}.find.usable{display:block}.find label{display:block;font-size:.8rem;color:var(--soft);margin-bottom:.25rem}
.find input{width:100%;font:inherit;color:inherit;background:var(--page);border:1px solid var(--line);border-radius:8px;padding:.4rem .6rem}
.find p{margin:.25rem 0 0;font-size:.8rem;color:var(--soft)}.find p:empty{display:none}
.menu{position:absolute;opacity:0;pointer-events:none}.menu-label{display:none}
@media (min-width:901px){.menu{display:none}}
main{padding:2.4rem 2.5rem 6rem;max-width:80rem;min-width:0}
.opening{max-width:46rem;margin-bottom:2.5rem}.opening p{font-size:1.12rem;color:var(--soft)}
.version{font-size:.85rem;font-weight:500;color:var(--soft);letter-spacing:0;vertical-align:middle;border:1px solid var(--line);border-radius:99px;padding:.1rem .6rem;white-space:nowrap}
.prose{max-width:46rem;margin-bottom:2.6rem}.prose pre{margin-bottom:1rem}.prose li{margin-bottom:.35rem}.prose ul{padding-left:1.2rem}
table{border-collapse:collapse;width:100%;font-size:.94rem}th,td{text-align:left;vertical-align:top;padding:.5rem .8rem .5rem 0;border-bottom:1px solid var(--line)}th{color:var(--soft);font-weight:600}
.tag{margin-top:3.5rem;padding-top:2.2rem;border-top:1px solid var(--line)}.tag>p{color:var(--soft);max-width:46rem}
.operation{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,24rem);gap:2.5rem;padding:2rem 0;border-top:1px solid var(--line);content-visibility:auto;contain-intrinsic-size:auto 60rem}
.small{content-visibility:visible;padding:1.2rem 0}
.tag>p+.operation,.tag>h2+.operation{border-top:0}
.object{padding:1.5rem 0;max-width:50rem;content-visibility:auto;contain-intrinsic-size:auto 30rem}
.text>p{max-width:42rem}.place{margin-bottom:.9rem}.place code{background:none;padding:0;font-size:.95em}
var{font-style:normal;color:var(--accent)}
.method{font:700 .74rem/1 ui-monospace,Menlo,Consolas,monospace;letter-spacing:.02em}
.get{color:var(--get)}.post{color:var(--post)}.put{color:var(--put)}.patch{color:var(--patch)}.delete{color:var(--delete)}
.fields{border-top:1px solid var(--line);margin-bottom:.5rem}.field{padding:.6rem 0;border-bottom:1px solid var(--line)}.field:last-child{border-bottom:0}
.field:target{background:var(--mark)}
dt{display:flex;flex-wrap:wrap;align-items:baseline;gap:.1rem .6rem;font-size:.9rem}dt .name{color:var(--text)}dt .name code{background:none;padding:0;font-weight:650;font-size:.95em}
dd{margin:.1rem 0 0;font-size:.94rem}dd p{margin:0}
.type,.bounds{color:var(--soft);font-size:.86rem;min-width:0}.type code,.bounds code{font-size:.93em}
.mark{font-size:.7rem;font-weight:600;color:var(--soft)}.required{color:var(--delete)}.answer .required{color:var(--soft);font-weight:400}
.inner{margin:.5rem 0 0 .2rem;padding-left:1rem;border-left:2px solid var(--line)}.inner>.fields{border-top:0;margin:0}
.content{margin:.3rem 0 .6rem;font-size:.92rem}.only{font-size:.92rem}.only .type+*{margin-left:.5rem}
.status{display:inline-block;font:600 .78rem/1.5 ui-monospace,Menlo,Consolas,monospace;border:1px solid var(--line);border-radius:5px;padding:.05rem .4rem;color:var(--text)}
.content .status{color:var(--get);border-color:currentColor}.refusals{font-size:.9rem;color:var(--soft)}
.answer{margin:0 0 .8rem}.answer>summary,.more>summary{cursor:pointer;color:var(--accent);font-size:.92rem;margin-bottom:.4rem}
.samples{position:sticky;top:4.6rem;align-self:start;display:grid;gap:1rem;min-width:0}
.code{margin:0;min-width:0}.code figcaption{font-size:.78rem;color:var(--soft);font-weight:600;margin-bottom:.25rem}.code pre{max-height:min(28rem,60vh);overflow:auto}.code code{white-space:pre-wrap;overflow-wrap:anywhere}
.code b{font-weight:600;color:var(--text)}.code i{font-style:normal;color:var(--string)}
.entry{padding:1.1rem 0;border-top:1px solid var(--line);max-width:46rem}.entry h3{font-size:1rem;margin-bottom:.3rem}.entry h3 code{background:none;padding:0;font-size:1em}.entry p{margin:0 0 .25rem}
.entry .severity{font-size:.75rem;font-weight:600;color:var(--soft);margin-left:.6rem}.entry .remedy::before{content:"→ ";color:var(--accent)}
@media (max-width:1180px){.operation{grid-template-columns:minmax(0,1fr);gap:1rem}.samples{position:static}}
@media (max-width:900px){html{scroll-padding-top:6.5rem}.bar{gap:1rem;padding:0 1rem}.files{display:none}.columns{display:block}
.menu-label{display:block;position:sticky;top:3.4rem;z-index:2;padding:.55rem 1rem;background:var(--panel);border-bottom:1px solid var(--line);font-weight:600;font-size:.92rem;cursor:pointer}
.menu-label::before{content:"☰";margin-right:.6rem}.menu:checked+.menu-label::before{content:"✕"}.menu:focus-visible+.menu-label{outline:2px solid var(--accent);outline-offset:-2px}
.contents{display:none;position:sticky;top:6rem;z-index:1;height:calc(100vh - 6rem);background:var(--page);border-right:0;padding:1rem}.menu:checked~.columns .contents{display:block}
main{padding:1.6rem 1rem 4rem}h1{font-size:1.7rem}h2{font-size:1.35rem}.contents a,.contents summary{padding:.45rem .5rem}.prose{overflow-x:auto}}
@media print{.bar,.contents,.menu,.menu-label,.skip{display:none!important}.columns{display:block}.operation,.object{content-visibility:visible;break-inside:avoid-page}.samples{position:static}.code pre{max-height:none;white-space:pre-wrap}main{padding:0}}
`;

/** The file name of the script: another version has another name. */
export const SCRIPT_FILE = `reference.${sha256Hex(SCRIPT).slice(0, 16)}.js`;

/**
 * The policy of the pages: one script of this server, one style by its digest, nothing else; no other host. Everything is
 * readable without the script, which finds operations and opens what a link leads to.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The pages that the frame links. */
const PAGES = [
  { name: 'reference', path: './', title: 'API' },
  { name: 'codes', path: 'codes', title: 'Codes' },
] as const;

/** One page. */
export interface Page {
  readonly title: string;
  readonly current: (typeof PAGES)[number]['name'];
  readonly navigation: Markup;
  readonly content: Markup;
}

/** The whole HTML. The checkbox opens the contents on narrow screens without a script. */
export function shell({ title, current, navigation, content }: Page): string {
  const links = PAGES.map(({ name, path, title }) =>
    name === current
      ? html`<a href="${path}" aria-current="page">${title}</a>`
      : html`<a href="${path}">${title}</a>`,
  );
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · edgeplan</title>
<link rel="icon" href="data:,">
<style>${trusted(STYLE)}</style>
<script src="${SCRIPT_FILE}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<div class="bar"><a class="home" href="./">edgeplan</a><nav aria-label="Pages">${links}</nav>
<span class="files"><a href="openapi.yaml">openapi.yaml</a><a href="openapi.json">openapi.json</a></span></div>
<input type="checkbox" id="menu" class="menu"><label for="menu" class="menu-label">Contents</label>
<div class="columns">
<nav class="contents" aria-label="Contents">${navigation}</nav>
<main id="content" tabindex="-1">${content}</main>
</div>
</body>
</html>
`.text;
}

// Renders the navigation: groups, their tags, and the operations of each.

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
