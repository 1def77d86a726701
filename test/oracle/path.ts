/** Targets: canonical path, twin, forwarded path and query (semantics §1.1). */
import { type Authority, parseAuthority } from './host.ts';
import { encodeUri, hasBadEscape, percentDecode, utf8, wellFormed } from './text.ts';

export interface Target {
  /** What path filters see. */
  readonly path: string;
  /** The path without `;params` in any segment; `null` when it has none. */
  readonly twin: string | null;
  /** What the origin gets where no rewrite acts, percent-encoded. */
  readonly forwarded: string;
  /** Percent-encoded; `null` when the target holds no `?`. */
  readonly query: string | null;
}

/** The default port of `http` or `https`. */
export function defaultPort(scheme: string): number {
  return scheme === 'http' ? 80 : 443;
}

function withoutParams(segment: string): string {
  return segment.split(';')[0]!;
}

/** Whether a decoded path holds a dot segment in any spelling. */
export function hasDotSegment(decoded: string): boolean {
  return decoded
    .replaceAll('\\', '/')
    .split('/')
    .some((segment) => ['.', '..'].includes(withoutParams(segment)));
}

function canonical(raw: string): Target | null {
  if (hasBadEscape(raw) || raw.includes('%00') || /;[^/]*(?:%2f|%5c|\\)/i.test(raw)) return null;
  const decoded = percentDecode(raw).replaceAll('\\', '/');
  const segments = decoded.split('/').slice(1);
  const sent = raw.split(/\/|\\|%2f|%5c/i).slice(1);
  const kept: { segment: string; sent: string }[] = [];
  for (const [index, segment] of segments.entries()) {
    const judged = withoutParams(segment);
    if (judged === '..') kept.pop();
    else if (judged !== '' && judged !== '.') kept.push({ segment, sent: sent[index]! });
  }
  const last = withoutParams(segments.at(-1)!);
  const slash = kept.length > 0 && ['', '.', '..'].includes(last) ? '/' : '';
  const join = (parts: string[]) => `/${parts.join('/')}${slash}`;
  const path = join(kept.map((one) => one.segment));
  const rebuilt = raw.includes('\\') || hasDotSegment(decoded);
  return {
    path,
    twin: path.includes(';') ? join(kept.map((one) => withoutParams(one.segment))) : null,
    forwarded: encodeUri(rebuilt ? join(kept.map((one) => one.sent)) : raw.replace(/^\/+/, '/')),
    query: null,
  };
}

/** Whether an absolute-form target names the place that Host names. */
function agrees(written: Authority | null, writtenScheme: string, host: Authority, scheme: string): boolean {
  if (written === null || written.host !== host.host) return false;
  if (written.port === null && host.port === null) return true;
  return (written.port ?? defaultPort(writtenScheme)) === (host.port ?? defaultPort(scheme));
}

/** Reads the target; a number is the status of the refusal. */
export function readTarget(sent: unknown, host: Authority, scheme: string): Target | 400 | 414 {
  if (typeof sent !== 'string') return 400;
  let text = wellFormed(sent);
  if (utf8(text).length > 16 * 1024) return 414;
  if (/[\x00-\x20\x7f#]/.test(text)) return 400;
  const absolute = /^(https?):\/\/([^/?]*)/i.exec(text);
  if (absolute !== null) {
    const [whole, writtenScheme, authority] = absolute as unknown as [string, string, string];
    if (!agrees(parseAuthority(authority), writtenScheme.toLowerCase(), host, scheme)) return 400;
    text = text.slice(whole.length);
    if (!text.startsWith('/')) text = `/${text}`;
  }
  if (text === '' || text.startsWith('?')) text = `/${text}`;
  if (!text.startsWith('/')) return 400;
  const mark = text.indexOf('?');
  const target = canonical(mark < 0 ? text : text.slice(0, mark));
  if (target === null) return 400;
  return { ...target, query: mark < 0 ? null : encodeUri(text.slice(mark + 1)) };
}
