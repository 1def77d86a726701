/**
 * Reads the Core Rule Set's regression tests (YAML, the ftw-tests-schema) and turns each stage into the request that
 * go-ftw would put on the wire. Nothing of the suite is part of this project: the directory is given.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

interface Input {
  readonly method?: string;
  readonly uri?: string;
  readonly version?: string;
  readonly headers?:
    | Readonly<Record<string, string>>
    | readonly { readonly name: string; readonly value: string }[];
  readonly data?: string;
  readonly encoded_data?: string;
  readonly encoded_request?: string;
  readonly autocomplete_headers?: boolean;
  readonly follow_redirect?: boolean;
}

interface Output {
  readonly status?: number;
  readonly expect_error?: boolean;
  readonly response_contains?: string;
  readonly log?: {
    readonly expect_ids?: readonly number[];
    readonly no_expect_ids?: readonly number[];
    readonly match_regex?: string;
    readonly no_match_regex?: string;
  };
}

interface TestFile {
  readonly rule_id: number;
  readonly tests: readonly {
    readonly test_id: number;
    readonly stages: readonly { readonly input: Input; readonly output: Output }[];
  }[];
}

/** A request as it would arrive: octets as Latin-1 text. */
export interface WireRequest {
  readonly method: string;
  readonly target: string;
  readonly protocol: string;
  /** In the order and case they were sent. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly body: Uint8Array;
}

export interface FtwStage {
  readonly request: WireRequest;
  readonly output: Output;
}

export interface FtwCase {
  /** `<rule id>-<test id>`. */
  readonly name: string;
  readonly stages: readonly FtwStage[];
}

/** Every case below `directory`, in the order of the rules. */
export function readFtwCases(directory: string): readonly FtwCase[] {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.yaml'))
    .sort();
  return files.flatMap((file) => {
    const read = parse(readFileSync(join(directory, file), 'utf8')) as TestFile | null;
    if (read === null) return [];
    const { rule_id, tests } = read;
    return tests.map(({ test_id, stages }) => ({
      name: `${rule_id}-${test_id}`,
      stages: stages.map(({ input, output }) => ({ request: wireRequest(input), output })),
    }));
  });
}

function latin1(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function wireRequest(input: Input): WireRequest {
  if (input.encoded_request !== undefined) return parseRaw(Buffer.from(input.encoded_request, 'base64'));
  const complete = input.autocomplete_headers !== false;
  const headers = listHeaders(input.headers ?? {});
  const has = (name: string): boolean => headers.some((one) => one.name.toLowerCase() === name);
  const type = (): string => headers.find((one) => one.name.toLowerCase() === 'content-type')?.value ?? '';
  let data =
    input.encoded_data === undefined
      ? latin1(input.data ?? '')
      : Buffer.from(input.encoded_data, 'base64').toString('latin1');
  if (data !== '' && complete) {
    if (!has('content-type'))
      headers.push({ name: 'Content-Type', value: 'application/x-www-form-urlencoded' });
    if (type() === 'application/x-www-form-urlencoded') data = encodeForm(data);
  }
  if (type().includes('multipart/form-data;')) data = data.replaceAll('\n', '\r\n');
  const method = input.method ?? 'GET';
  if (complete) {
    if (!has('connection')) headers.push({ name: 'Connection', value: 'close' });
    if (data !== '' || ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method)) {
      if (!has('content-length')) headers.push({ name: 'Content-Length', value: String(data.length) });
    }
  }
  return {
    method,
    target: latin1(input.uri ?? '/'),
    // A request line without a version is HTTP/0.9.
    protocol: input.version === '' ? 'HTTP/0.9' : (input.version ?? 'HTTP/1.1'),
    headers,
    body: Buffer.from(data, 'latin1'),
  };
}

function listHeaders(given: NonNullable<Input['headers']>): { name: string; value: string }[] {
  const pairs = Array.isArray(given)
    ? (given as readonly { name: string; value: string }[])
    : Object.entries(given).map(([name, value]) => ({ name, value }));
  return pairs.map(({ name, value }) => ({ name: latin1(name), value: latin1(String(value ?? '')) }));
}

/** Go's `url.QueryEscape` over names and values, when unescaping changes nothing. */
function encodeForm(data: string): string {
  if (unescapeQuery(data) !== data) return data;
  return data
    .split('&')
    .map((pair) => pair.split(/=(.*)/s, 2).map(escapeQuery).join('='))
    .join('&');
}

/** `null` for text with a bad escape, which Go refuses and therefore leaves as it is. */
function unescapeQuery(text: string): string | null {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return '';
  return text
    .replaceAll('+', ' ')
    .replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function escapeQuery(text: string): string {
  return text.replace(/[^A-Za-z0-9\-_.~]/g, (char) =>
    char === ' ' ? '+' : `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

function parseRaw(octets: Buffer): WireRequest {
  const text = octets.toString('latin1');
  const end = text.search(/\r?\n\r?\n/);
  const head = end < 0 ? text : text.slice(0, end);
  const gap = end < 0 ? '' : (/^\r?\n\r?\n/.exec(text.slice(end))?.[0] ?? '');
  const [line = '', ...fields] = head.split(/\r?\n/);
  const [method = '', target = '/', protocol = 'HTTP/0.9'] = line.split(' ');
  const headers = fields
    .filter((field) => field.includes(':'))
    .map((field) => ({
      name: field.slice(0, field.indexOf(':')),
      value: field.slice(field.indexOf(':') + 1).trim(),
    }));
  const body = end < 0 ? '' : text.slice(end + gap.length);
  return { method, target, protocol, headers, body: Buffer.from(body, 'latin1') };
}
