/** The examples in `fixtures/signatures`: what each starter signature finds and what it lets pass. */
import { readdirSync, readFileSync } from 'node:fs';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';

/**
 * One example. A text goes into an argument of the query; `path` and `query` are written raw into the request line, the
 * others are encoded as their place requires; `upload` is the name of a file in a multipart form.
 */
export type Example =
  | string
  | { readonly in: 'path' | 'query'; readonly value: string }
  | { readonly in: 'header'; readonly name: string; readonly value: string | readonly string[] }
  | { readonly in: 'cookie' | 'body-form'; readonly name: string; readonly value: string }
  | { readonly in: 'body-json'; readonly name: string; readonly value: unknown }
  | { readonly in: 'upload'; readonly name: string; readonly filename: string }
  | {
      readonly method: string;
      readonly target: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body?: string;
      readonly protocol?: string;
    };

export interface SignatureExamples {
  readonly id: number;
  readonly hits: readonly Example[];
  readonly passes: readonly Example[];
}

export interface SignatureFamily {
  readonly name: string;
  readonly signatures: readonly SignatureExamples[];
}

const FOLDER = new URL('../../fixtures/signatures/', import.meta.url);
const HOST = 'shop.example.com';
const HEADERS = { host: HOST, 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)', accept: '*/*' };

/** Every family, by name. */
export function signatureFamilies(): readonly SignatureFamily[] {
  return readdirSync(FOLDER)
    .sort()
    .map((file) => ({
      name: file.replace('.json', ''),
      signatures: JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as SignatureExamples[],
    }));
}

/** The request of one example. */
export function exampleRequest(example: Example): EdgeRequest {
  if (typeof example === 'string') return get(`/search?q=${encodeURIComponent(example)}`);
  if ('method' in example) return { scheme: 'https', host: HOST, ip: '203.0.113.7', ...example };
  switch (example.in) {
    case 'path':
      return get(example.value);
    case 'query':
      return get(`/?${example.value}`);
    case 'header':
      return get('/', { [example.name]: example.value });
    case 'cookie':
      return get('/', { cookie: `${example.name}=${example.value}` });
    case 'body-form': {
      const body = `${encodeURIComponent(example.name)}=${encodeURIComponent(example.value)}`;
      return post(body, 'application/x-www-form-urlencoded');
    }
    case 'body-json':
      return post(JSON.stringify({ [example.name]: example.value }), 'application/json');
    case 'upload':
      return post(uploadOf(example.name, example.filename), 'multipart/form-data; boundary=edge7');
    default:
      return example satisfies never;
  }
}

function get(
  target: string,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): EdgeRequest {
  return {
    scheme: 'https',
    method: 'GET',
    host: HOST,
    target,
    headers: { ...HEADERS, ...headers },
    ip: '203.0.113.7',
  };
}

function post(body: string, contentType: string): EdgeRequest {
  const headers = {
    ...HEADERS,
    'content-type': contentType,
    'content-length': String(Buffer.byteLength(body)),
  };
  return { scheme: 'https', method: 'POST', host: HOST, target: '/form', headers, body, ip: '203.0.113.7' };
}

function uploadOf(name: string, filename: string): string {
  return [
    '--edge7',
    `Content-Disposition: form-data; name="${name}"; filename="${filename}"`,
    'Content-Type: application/octet-stream',
    '',
    'x',
    '--edge7--',
    '',
  ].join('\r\n');
}
