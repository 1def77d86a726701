/** The reference page: a shell around Redoc, and its Content-Security-Policy. */
import { hash } from 'node:crypto';

/** The style of the shell; the policy lists its digest. */
const OWN_STYLE = 'body{margin:0}';
/** SHA-256 of the scrollbar's styles in Redoc 2.5.4, from the browser's error message for the blocked styles. */
const SCROLLBAR_STYLE = 'QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc=';

/**
 * The Content-Security-Policy of the page. It allows the bundle, a fetch of the document, and the search worker that the
 * bundle creates from a blob; no `eval`, and no other host. The three style hashes are of the shell's own style, of one
 * text of the bundle, and of the empty `<style>` elements that the bundle fills rule by rule.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  'worker-src blob:',
  `style-src ${[sha256(''), sha256(OWN_STYLE), SCROLLBAR_STYLE].map((digest) => `'sha256-${digest}'`).join(' ')}`,
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** SHA-256 of a text in base64, as a policy writes it. */
function sha256(text: string): string {
  return hash('sha256', text, 'base64');
}

/** Fonts of the system, since the policy allows no others. */
const FONTS = 'system-ui, sans-serif';
const CODE_FONTS = 'ui-monospace, monospace';
/** Redoc's theme. */
const THEME = {
  typography: {
    fontFamily: FONTS,
    headings: { fontFamily: FONTS },
    code: { fontFamily: CODE_FONTS },
  },
};

/** The HTML of the page; `bundle` is the file name of the script, relative to the page like the document. */
export function referencePage({ bundle }: { readonly bundle: string }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>edgeplan API reference</title>
<link rel="icon" href="data:,">
<style>${OWN_STYLE}</style>
</head>
<body>
<noscript>This page needs JavaScript; the same is in <a href="openapi.yaml">openapi.yaml</a>.</noscript>
<redoc spec-url="openapi.yaml" theme='${JSON.stringify(THEME)}'></redoc>
<script src="${bundle}"></script>
</body>
</html>
`;
}
