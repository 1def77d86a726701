/** Texts in HAProxy's log format (`https://%[hdr(host)]%[path]`), as pieces. */
import { parseSample, type SampleCall } from './parse-haproxy.ts';

/** A piece of a text. */
export type FormatPiece =
  | { readonly kind: 'text'; readonly text: string }
  /** `uri`: path and query as sent. */
  | { readonly kind: 'host' | 'path' | 'query' | 'uri' | 'client_ip' | 'method' | 'request_id' | 'scheme' }
  /** The host without `www.` before it. */
  | { readonly kind: 'bare_host' }
  | { readonly kind: 'sample'; readonly text: string; readonly calls: readonly SampleCall[] };

/** Variables by their short names. */
const ALIASES: Readonly<Record<string, FormatPiece>> = {
  ci: { kind: 'client_ip' },
  HM: { kind: 'method' },
  HP: { kind: 'path' },
  HPO: { kind: 'path' },
  HU: { kind: 'uri' },
  ID: { kind: 'request_id' },
};

/** The pieces of a text; a text is the part that is not read. */
export function formatPieces(format: string): readonly FormatPiece[] | string {
  const pieces: FormatPiece[] = [];
  let text = '';
  for (let at = 0; at < format.length; at++) {
    if (format[at] !== '%') {
      text += format[at];
      continue;
    }
    if (format[at + 1] === '%') {
      text += '%';
      at++;
      continue;
    }
    const read = variableAt(format, at);
    if (read === null) return format.slice(at, at + 20);
    if (text !== '') pieces.push({ kind: 'text', text });
    text = '';
    pieces.push(read.piece);
    at = read.end;
  }
  if (text !== '') pieces.push({ kind: 'text', text });
  return pieces;
}

function variableAt(
  format: string,
  at: number,
): { readonly piece: FormatPiece; readonly end: number } | null {
  const start = /^%(?:\{[^}]*\})?\[/.exec(format.slice(at, at + 32))?.[0];
  if (start === undefined) {
    const name = /^%(\w{1,3})/.exec(format.slice(at, at + 4))?.[1] ?? '';
    const known = Object.keys(ALIASES).find((one) => one === name);
    return known === undefined ? null : { piece: ALIASES[known]!, end: at + known.length };
  }
  let depth = 1;
  for (let end = at + start.length; end < format.length; end++) {
    if (format[end] === '[') depth++;
    if (format[end] !== ']' || --depth > 0) continue;
    const text = format.slice(at + start.length, end).trim();
    const calls = parseSample(text);
    return calls === null ? null : { piece: pieceOf(text, calls), end };
  }
  return null;
}

function pieceOf(text: string, calls: readonly [SampleCall, ...SampleCall[]]): FormatPiece {
  const [{ name, args }, ...converters] = calls;
  const isHost = ['hdr', 'req.hdr', 'req.fhdr'].includes(name) && args[0]?.toLowerCase() === 'host';
  const others = converters.filter((one) => !isHost || !isPlainHost(one));
  if (isHost && others.length === 0) return { kind: 'host' };
  const [only, ...more] = others;
  if (isHost && only?.name === 'regsub' && more.length === 0 && isWithoutWww(only.args))
    return { kind: 'bare_host' };
  if (converters.length > 0) return { kind: 'sample', text, calls };
  switch (name) {
    case 'src':
      return { kind: 'client_ip' };
    case 'path':
    case 'query':
    case 'method':
      return { kind: name };
    case 'pathq':
    case 'url':
    case 'capture.req.uri':
      return { kind: 'uri' };
    case 'unique-id':
      return { kind: 'request_id' };
    default:
      return { kind: 'sample', text, calls };
  }
}

/** Converters that leave the canonical host as it is. */
function isPlainHost({ name, args }: SampleCall): boolean {
  return name === 'lower' || name === 'host_only' || (name === 'field' && args.join() === '1,:');
}

/** `regsub(^www\.,,i)`. */
function isWithoutWww([regex = '', replacement = '']: readonly string[]): boolean {
  return /^\^\(?www\\?\.\)?$/.test(regex) && replacement === '';
}
