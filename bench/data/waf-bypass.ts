/**
 * The payloads of `nemesida-waf/waf-bypass`, which are not part of this repository, in the positions and encodings in which that
 * tool sends them. `EDGEPLAN_SUITES` names the folder of the checkout, `waf-bypass`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import { BROWSER } from './comparison-project.ts';

/** The encodings of the tool besides none, which is `''`. */
export const ENCODINGS = ['', 'BASE64', 'UTF-16', 'HTML-ENTITY'] as const;
export type PayloadEncoding = (typeof ENCODINGS)[number];

const POSITIONS = ['URL', 'ARGS', 'BODY', 'COOKIE', 'USER-AGENT', 'REFERER', 'HEADER'] as const;
type Position = (typeof POSITIONS)[number];

/** Positions whose payloads are sent as written only. */
const PLAIN_ONLY: ReadonlySet<Position> = new Set(['URL', 'USER-AGENT', 'REFERER']);

/** A payload file. */
interface PayloadFile extends Readonly<Partial<Record<Position, string>>> {
  readonly METHOD?: string;
  readonly ENCODE?: string;
  readonly BOUNDARY?: string;
  readonly JSON?: boolean;
  /** Whether the request should be stopped; absent: it should. */
  readonly BLOCKED?: boolean;
}

/** A request of the tool. */
export interface BypassRequest {
  readonly encoding: PayloadEncoding;
  readonly isAttack: boolean;
  readonly request: EdgeRequest;
}

/** The folder of the payloads; `null`: there is no checkout. */
export function wafBypass(): string | null {
  const root = process.env['EDGEPLAN_SUITES'] ?? '';
  const folder = join(root, 'waf-bypass', 'utils', 'payload');
  return root !== '' && existsSync(folder) ? folder : null;
}

/** All requests, in the order of the files. */
export function bypassRequests(folder: string): readonly BypassRequest[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.json'))
    .sort()
    .flatMap((file) => {
      const { payload } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
        readonly payload: readonly PayloadFile[];
      };
      return requestsOf(payload[0]!, file.split('/', 1)[0]!);
    });
}

function requestsOf(file: PayloadFile, group: string): readonly BypassRequest[] {
  const isWhole = group === 'API' || group === 'MFD';
  const named = isWhole ? [] : (file.ENCODE ?? '').toUpperCase().split(/[\s,]+/);
  const encodings = ENCODINGS.filter((one) => one === '' || named.includes(one));
  return POSITIONS.flatMap((position) => {
    const payload = file[position]?.replaceAll('%RND%', 'a1b2c3') ?? '';
    // A URL of its own would name another host.
    if (payload === '' || (position === 'URL' && /^[a-z]+:\/\//i.test(payload))) return [];
    return encodings
      .filter((encoding) => encoding === '' || !PLAIN_ONLY.has(position))
      .map((encoding) => {
        const text = encoded(payload, encoding, position === 'ARGS' || position === 'BODY');
        return { encoding, isAttack: file.BLOCKED ?? true, request: placed(position, text, { file, group }) };
      });
  });
}

/** The payload in an encoding; of pairs, each value by itself. */
function encoded(payload: string, encoding: PayloadEncoding, isForm: boolean): string {
  if (encoding === '') return payload;
  if (!isForm) return encodedValue(payload, encoding);
  const pairs = payload.split('&').map((pair) => {
    const equals = pair.indexOf('=') + 1;
    return pair.slice(0, equals) + encodedValue(pair.slice(equals), encoding);
  });
  return pairs.join('&');
}

function encodedValue(text: string, encoding: Exclude<PayloadEncoding, ''>): string {
  switch (encoding) {
    case 'BASE64':
      return Buffer.from(text).toString('base64');
    case 'UTF-16':
      return [...text].map((one) => `\\u00${one.charCodeAt(0).toString(16)}`).join('');
    default: {
      const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#x27;' } as const;
      const escaped = text.replace(/[&<>"']/g, (mark) => entities[mark as keyof typeof entities]);
      return encodeURIComponent(escaped).replaceAll('%20', '+').replaceAll("'", '%27');
    }
  }
}

/** Octets that the tool's HTTP client escapes in a URL. */
const ESCAPED = new Set(Buffer.from('"<>\\^`{|}'));

function urlText(text: string): string {
  const octets = [...Buffer.from(text)].map((octet) =>
    octet > 0x20 && octet < 0x7f && !ESCAPED.has(octet)
      ? String.fromCharCode(octet)
      : `%${octet.toString(16).toUpperCase().padStart(2, '0')}`,
  );
  return octets.join('');
}

function placed(
  position: Position,
  text: string,
  { file, group }: { readonly file: PayloadFile; readonly group: string },
): EdgeRequest {
  const host = 'shop.example.com';
  const method = (file.METHOD ?? (position === 'BODY' ? 'POST' : 'GET')).toUpperCase();
  const base: EdgeRequest = {
    ...{ scheme: 'http', method, host, target: '/', ip: '203.0.113.7' },
    headers: { host, 'user-agent': BROWSER, accept: '*/*' },
  };
  const sent = Buffer.from(text).toString('latin1');
  const withHeader = (name: string, value: string): EdgeRequest => ({
    ...base,
    headers: { ...base.headers, [name]: value },
  });
  switch (position) {
    case 'URL':
      return { ...base, target: urlText(text.startsWith('/') ? text : `/${text}`) };
    case 'ARGS':
      return { ...base, target: `/?${urlText(text)}` };
    case 'COOKIE':
      return withHeader('cookie', `WBC-a1b2c3=${sent}`);
    case 'USER-AGENT':
      return withHeader('user-agent', sent);
    case 'REFERER':
      return withHeader('referer', sent);
    case 'HEADER':
      return withHeader('wbh-a1b2c3', sent);
    default:
      return withBody(base, text, { file, group });
  }
}

function withBody(
  base: EdgeRequest,
  text: string,
  { file, group }: { readonly file: PayloadFile; readonly group: string },
): EdgeRequest {
  const boundary = file.BOUNDARY ?? 'a1b2c3a1b2c3a1b2c3';
  const isPart = group === 'MFD' && file.BOUNDARY === undefined;
  const part = `--${boundary}\r\nContent-Disposition: form-data; name="a1b2c3"\r\n\r\n${text}\r\n--${boundary}--\r\n`;
  const body = Buffer.from(isPart ? part : text);
  const isJson = group === 'API' || file.JSON === true;
  const type = group === 'MFD' ? `multipart/form-data; boundary=${boundary}` : 'application/json';
  const typed = group === 'MFD' || isJson ? { 'content-type': type } : {};
  return { ...base, body, headers: { ...base.headers, ...typed, 'content-length': String(body.length) } };
}
