/**
 * The edge's own responses, one function for each kind of decision, and the service's own pages for refusals and
 * failures: small, plain, readable in the dark and by a screen reader.
 */
import type { EdgeAnswer } from '../../base/http/header-fields.ts';
import type { Decision } from '../../engine/evaluator/index.ts';
import type { UnservedHelp } from './unserved.ts';

/** What a page is about. */
interface PageSubject {
  readonly status: number;
  /** The decision id, which a visitor can pass on. */
  readonly id: string;
  /** Of a 421: what helps the client to ask for a host that is served. */
  readonly help?: UnservedHelp;
}

interface Wording {
  readonly title: string;
  readonly advice: string;
}

const WORDINGS: Readonly<Record<number, Wording>> = {
  400: { title: 'The request could not be read', advice: 'Check the address and try again.' },
  403: {
    title: 'Access denied',
    advice: 'If you think this is a mistake, tell the owner of this site the reference below.',
  },
  404: { title: 'There is nothing here', advice: 'Check the address and try again.' },
  405: { title: 'This method is not served here', advice: 'Check the request and try again.' },
  408: { title: 'The request took too long to arrive', advice: 'Check your connection and try again.' },
  410: {
    title: 'This is no longer here',
    advice: 'It was removed. Other pages of this site may have what you look for.',
  },
  413: { title: 'This is too much at once', advice: 'Send less and try again.' },
  414: { title: 'The address is too long', advice: 'Shorten the address and try again.' },
  421: { title: 'This site is not served here', advice: 'Check the address in the address bar.' },
  429: { title: 'Too many requests', advice: 'Wait a moment, then try again.' },
  431: {
    title: 'The request is too large',
    advice: 'Clear the cookies of this site in your browser, then try again.',
  },
  451: {
    title: 'Not available for legal reasons',
    advice: 'This site must not show it. Its owner has the reference below.',
  },
  502: { title: 'The site did not answer', advice: 'Try again in a few minutes.' },
  503: { title: 'The site is not available', advice: 'Try again in a few minutes.' },
  504: { title: 'The site took too long to answer', advice: 'Try again in a few minutes.' },
  508: {
    title: 'The site leads back to itself',
    advice: 'Its owner has to choose an origin that does not pass requests on to this edge.',
  },
};

const REFUSED: Wording = { title: 'The request was refused', advice: 'Check the request and try again.' };
const FAILED: Wording = { title: 'Something went wrong', advice: 'Try again in a few minutes.' };

/** The explanation of a status for visitors. */
function wordingOf(status: number): string {
  return (WORDINGS[status] ?? (status < 500 ? REFUSED : FAILED)).title.toLowerCase();
}

/** The look of every page of ours; their own colours, since a browser's defaults differ in how well they read. */
export const PAGE_STYLE = [
  ':root{color-scheme:light dark;--paper:#f3f4f6;--card:#fff;--ink:#1b1f24;--soft:#57606a;--line:#d8dce1}',
  '@media(prefers-color-scheme:dark){:root{--paper:#14171a;--card:#1d2125;--ink:#e7eaed;--soft:#a3abb3;--line:#383e45}}',
  'body{font:1rem/1.5 system-ui,sans-serif;margin:0;padding:12vh 1rem 2rem;background:var(--paper);color:var(--ink)}',
  'main{max-width:34rem;margin:0 auto;padding:1.75rem;background:var(--card);border:1px solid var(--line);border-radius:.75rem}',
  'h1{font-size:1.5rem;line-height:1.25;margin:0 0 .5rem}',
  'p{margin:.5rem 0}',
  '.code{font-variant-numeric:tabular-nums;color:var(--soft);margin:0 0 .25rem}',
  '.reference{color:var(--soft);font-size:.875rem;margin:1.5rem 0 0;padding:1rem 0 0;border-top:1px solid var(--line)}',
  'code{overflow-wrap:anywhere}',
].join('');

/** The decision id, which a visitor can pass on; `id` is ours and holds no markup. */
export function referenceLine(id: string): string {
  return `<p class="reference">Reference: <code>${id}</code></p>`;
}

/** Text inside an element or a quoted attribute. */
export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** The lines of a 421 that name the host and, for clients on this machine, the way to a served one. */
function helpLines({ host, local }: UnservedHelp): readonly string[] {
  const lines = [`<p>The request was for the host <code>${escaped(host)}</code>.</p>`];
  if (local === null) return lines;
  const { hosts, more, command } = local;
  if (hosts !== null) {
    const listed = hosts.map((one) => `<code>${escaped(one)}</code>`).join(', ');
    const text = hosts.length === 0 ? 'No host is served here now.' : `Hosts served here: ${listed}`;
    lines.push(`<p>${text}${more ? ' and more' : ''}</p>`);
  }
  return [...lines, `<p>From this machine: <code>${escaped(command)}</code></p>`];
}

/** The parts of a page that the edge makes itself. */
interface Page {
  readonly title: string;
  /** A style sheet, for the one `style` element. */
  readonly style: string;
  /** Lines inside `main`. */
  readonly main: readonly string[];
  /** Lines after `main`, such as a script. */
  readonly after?: readonly string[];
}

/** The HTML document around a page that the edge makes itself; all texts are inserted as they are, unescaped. */
export function htmlPage({ title, style, main, after = [] }: Page): string {
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="robots" content="noindex">',
    `<title>${title}</title>`,
    `<style>${style}</style>`,
    '</head>',
    '<body>',
    '<main>',
    ...main,
    '</main>',
    ...after,
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

/** The service's own page for a status, as a whole HTML document. */
function servicePage({ status, id, help }: PageSubject): string {
  const { title, advice } = WORDINGS[status] ?? (status < 500 ? REFUSED : FAILED);
  const main = [
    `<p class="code">${status}</p>`,
    `<h1>${title}</h1>`,
    ...(help === undefined ? [] : helpLines(help)),
    `<p>${advice}</p>`,
    referenceLine(id),
  ];
  return htmlPage({ title: `${status} ${title}`, style: PAGE_STYLE, main });
}

/** The header that carries the decision id, by which `edgeplan explain` finds what was decided. */
export const ID_HEADER = 'X-Edgeplan-Id';

const HTML = ['Content-Type', 'text/html; charset=utf-8'] as const;
const TEXT = ['Content-Type', 'text/plain; charset=utf-8'] as const;
/** A response about one visitor must not be stored for another. */
const NOT_STORED = ['Cache-Control', 'no-store'] as const;

const PLAIN_HTTP: Wording = {
  title: 'This port expects HTTPS',
  advice: 'The request came without encryption. Begin the address with <code>https:</code> and try again.',
};

/** The answer to HTTP without TLS on a port for TLS. @param hasBody whether its method lets a response have a body */
export function plainHttpAnswer(hasBody: boolean): EdgeAnswer {
  const { title, advice } = PLAIN_HTTP;
  const main = ['<p class="code">400</p>', `<h1>${title}</h1>`, `<p>${advice}</p>`];
  const body = htmlPage({ title: `400 ${title}`, style: PAGE_STYLE, main });
  return { status: 400, headers: [...HTML, ...NOT_STORED, ...PAGE_CSP], body: hasBody ? body : null };
}

/** The service's own page for a status, as HTML for clients that list it in Accept, as JSON for all others. */
export function pageAnswer(subject: PageSubject, accept: string, more: readonly string[] = []): EdgeAnswer {
  const headers = [...NOT_STORED, ...more, ID_HEADER, subject.id];
  if (listsHtml(accept)) {
    const body = servicePage(subject);
    return { status: subject.status, headers: [...HTML, ...headers, ...PAGE_CSP], body };
  }
  const { status, id, help } = subject;
  const body = `${JSON.stringify({ error: wordingOf(status), id, ...helpFields(help) })}\n`;
  return { status, headers: ['Content-Type', 'application/json', ...headers], body };
}

/** The fields of a 421: `host`, and for clients on this machine `served`, `more` and `try`. */
function helpFields(help: UnservedHelp | undefined): object {
  if (help === undefined) return {};
  const { host, local } = help;
  if (local === null) return { host };
  const { hosts, more, command } = local;
  return { host, ...(hosts === null ? {} : { served: hosts }), ...(more ? { more } : {}), try: command };
}

/** Blocks scripts and external resources on the edge's own pages. Customers' custom pages do not get this header. */
const PAGE_CSP = [
  'Content-Security-Policy',
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; frame-ancestors 'none'",
] as const;

/** Whether an Accept header lists HTML by name; `*`/`*` does not (semantics §5 captcha). */
export function listsHtml(accept: string): boolean {
  return accept.toLowerCase().includes('text/html');
}

/** A customer's own page for an error status. */
export function customPage(subject: PageSubject, html: string, more: readonly string[] = []): EdgeAnswer {
  const { status, id } = subject;
  return { status, headers: [...HTML, ...NOT_STORED, ...more, ID_HEADER, id], body: html };
}

/** The response to a `redirect` decision. */
export function redirectAnswer({ status, location }: Decision, id: string): EdgeAnswer {
  const headers = ['Location', location ?? '/', ID_HEADER, id];
  return { status: status ?? 302, headers, body: null };
}

/** The content of a bot_route rule with `alt_content`. */
export function contentAnswer({ status, body }: Decision, id: string): EdgeAnswer {
  const text = body ?? '';
  const type = text.trimStart().startsWith('<') ? HTML : TEXT;
  return { status: status ?? 200, headers: [...type, ...NOT_STORED, ID_HEADER, id], body: text };
}
