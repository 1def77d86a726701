/** The edge's own responses, one function for each kind of decision. */
import type { EdgeAnswer } from '../../base/http/header-fields.ts';
import type { Decision } from '../../engine/evaluator/index.ts';
import { type PageSubject, servicePage, wordingOf } from './pages.ts';
import type { UnservedHelp } from './unserved.ts';

/** The header that carries the decision id, by which `edgeplan explain` finds what was decided. */
export const ID_HEADER = 'X-Edgeplan-Id';

const HTML = ['Content-Type', 'text/html; charset=utf-8'] as const;
const TEXT = ['Content-Type', 'text/plain; charset=utf-8'] as const;
/** A response about one visitor must not be stored for another. */
const NOT_STORED = ['Cache-Control', 'no-store'] as const;

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
