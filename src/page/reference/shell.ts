/** The frame of the pages under `/docs/`, and their Content-Security-Policy. */
import { hash } from 'node:crypto';
import { sha256Hex } from '../../base/platform/sha256.ts';
import { html, type Markup, trusted } from '../../base/text/html.ts';
import { SCRIPT } from './script.ts';
import { STYLE } from './style.ts';

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
