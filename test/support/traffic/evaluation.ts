/**
 * The evaluation sets in `fixtures/waf`: attacks by class, and ordinary requests by kind of application and language. They
 * were written without sight of any signature. Signatures are improved with the open halves; the closed ones only measure.
 */
import { readFileSync } from 'node:fs';
import type { EdgeRequest } from '../../../src/engine/evaluator/request.ts';

export const HALVES = ['open', 'closed'] as const;
export type Half = (typeof HALVES)[number];

/** An attack; `in`: the only position that it works in, any argument without one. */
interface WrittenAttack {
  readonly class: string;
  readonly value: string;
  readonly in?: string;
}

interface WrittenOrdinary {
  readonly kind: string;
  readonly lang: string;
  readonly method: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly type?: string;
  readonly body?: string;
  /** The text quotes a whole attack. */
  readonly lesson?: boolean;
}

export interface EvaluatedRequest {
  /** The class of an attack, the kind of an application. */
  readonly kind: string;
  readonly lesson: boolean;
  readonly request: EdgeRequest;
}

const FOLDER = new URL('../../../fixtures/waf/', import.meta.url);
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';
const FORM = 'application/x-www-form-urlencoded';

function linesOf<T>(file: string): readonly T[] {
  const text = readFileSync(new URL(file, FOLDER), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/** The attacks of a half; those of any argument are in a query and in a form by turns. */
export function attacksOf(half: Half): readonly EvaluatedRequest[] {
  return linesOf<WrittenAttack>(`attacks-${half}.jsonl`).map((attack, at) => ({
    kind: attack.class,
    lesson: false,
    request: placed(attack, at % 2 === 0 ? 'query' : 'form'),
  }));
}

function placed({ value, in: only }: WrittenAttack, argument: 'query' | 'form'): EdgeRequest {
  const [place, detail = ''] = split(only ?? argument);
  switch (place) {
    case 'path':
      return asked({ target: value });
    case 'raw-query':
      return asked({ target: `/list?${value}` });
    case 'name':
      return asked({ target: `/list?${encodeURIComponent(value)}=1` });
    case 'cookie':
      return asked({ headers: { cookie: `theme=${latin1(value)}` } });
    case 'header':
      return asked({ headers: { [detail.toLowerCase()]: latin1(value) } });
    case 'body':
      return asked({ method: 'POST', type: detail, body: value });
    case 'upload':
      return asked({ method: 'POST', type: 'multipart/form-data; boundary=edge7', body: upload(value) });
    case 'form':
      return asked({ method: 'POST', type: FORM, body: `id=1&text=${encodeURIComponent(value)}` });
    default:
      return asked({ target: `/list?id=1&text=${encodeURIComponent(value)}` });
  }
}

function split(place: string): readonly string[] {
  const colon = place.indexOf(':');
  return colon < 0 ? [place] : [place.slice(0, colon), place.slice(colon + 1)];
}

/** A header's octets, a character each. */
function latin1(value: string): string {
  return Buffer.from(value, 'utf8').toString('latin1');
}

function upload(filename: string): string {
  return [
    '--edge7',
    `Content-Disposition: form-data; name="file"; filename="${filename}"`,
    'Content-Type: application/octet-stream',
    '',
    'x',
    '--edge7--',
    '',
  ].join('\r\n');
}

/** The ordinary requests of a half. */
export function ordinaryOf(half: Half): readonly EvaluatedRequest[] {
  return linesOf<WrittenOrdinary>(`ordinary-${half}.jsonl`).map(({ kind, lesson = false, ...written }) => ({
    kind,
    lesson,
    request: asked(written),
  }));
}

function asked({
  method = 'GET',
  target = '/api/items',
  headers = {},
  type,
  body,
}: Partial<WrittenOrdinary>): EdgeRequest {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return {
    scheme: 'https',
    method,
    host: 'app.example.com',
    target,
    headers: {
      host: 'app.example.com',
      'user-agent': BROWSER,
      accept: '*/*',
      ...(type === undefined ? {} : { 'content-type': type }),
      ...length,
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
    ip: '203.0.113.7',
  };
}
