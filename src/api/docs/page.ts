/** The reference page: a shell around Redoc, and what a browser lets it do. */
import { hash } from 'node:crypto';

const OWN_STYLE = 'body{margin:0}';
/** SHA-256 of the scrollbar's styles in Redoc 2.5.4, as the browser names it when it refuses them. */
const SCROLLBAR_STYLE = 'QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc=';

/**
 * What the page may do: run the bundle, fetch the document, and search it in a worker that the bundle makes of its own
 * text. No code from text, nothing from elsewhere. Of `<style>` elements there are
 * the page's own, one text of the bundle's, and empty ones that the bundle fills rule by rule: three hashes.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  'worker-src blob:',
  `style-src ${[sha256(''), sha256(OWN_STYLE), SCROLLBAR_STYLE].map((one) => `'sha256-${one}'`).join(' ')}`,
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

function sha256(text: string): string {
  return hash('sha256', text, 'base64');
}

const FONTS = 'system-ui, sans-serif';
const CODE_FONTS = 'ui-monospace, monospace';
const THEME = {
  typography: {
    fontFamily: FONTS,
    headings: { fontFamily: FONTS },
    code: { fontFamily: CODE_FONTS },
  },
};

/** The page; the bundle and the document lie beside it. */
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
