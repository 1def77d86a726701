/**
 * The HAProxy importer beside HAProxy: each configuration of `fixtures/import/haproxy` runs in HAProxy, and the file that the
 * importer writes in the evaluator; where the report claims that a line was carried over, both decide alike. Nothing that HAProxy
 * refuses reaches an origin.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CheckedOutcome } from '../../src/cli/check-nginx/run-nginx.ts';
import type { Decision } from '../../src/engine/evaluator/decision.ts';
import { importHaproxy } from '../../src/workbench/importers/haproxy/import-haproxy.ts';
import { countOpened, type ImportOutcome, type SourceFile } from '../../src/workbench/importers/report.ts';
import { type EvaluatedImport, evaluateImport } from '../support/importers/evaluate-import.ts';
import {
  type HaproxyAnswer,
  type HaproxyRequest,
  type RunningHaproxy,
  runHaproxy,
} from '../support/importers/run-haproxy.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { missingProgram, requires } from '../support/requires.ts';

const FOLDER = new URL('../../fixtures/import/haproxy/', import.meta.url);

/** What a configuration is asked. */
interface HaproxyConfiguration {
  readonly file: string;
  readonly hosts: readonly string[];
  /** Beside the paths that are derived from the text of the configuration. */
  readonly paths?: readonly string[];
  readonly ips?: readonly string[];
  readonly methods?: readonly string[];
  readonly headers?: readonly Readonly<Record<string, string>>[];
  /** Requests that a line decides which is not carried over, or with a stated difference. */
  readonly except?: (request: HaproxyRequest) => boolean;
  /** Outcomes of lines that are not `exact` or `not_needed`, by the beginning of their text. */
  readonly outcomes?: Readonly<Record<string, ImportOutcome>>;
  /** Origins of one pool; which is chosen is not compared. */
  readonly pool?: readonly string[];
  /** Headers of the request, then of the response, that are compared. */
  readonly compared?: { readonly request: readonly string[]; readonly response: readonly string[] };
}

const IPS = ['192.0.2.1', '198.51.100.9', '203.0.113.5', '10.1.2.3', '2001:db8:1::7', '2001:db8:2::7'];

const CONFIGURATIONS: readonly HaproxyConfiguration[] = [
  {
    file: '01-https-redirect',
    hosts: ['example.com', 'www.example.com'],
    compared: { request: [], response: ['strict-transport-security'] },
  },
  {
    file: '02-hosts',
    hosts: [
      'shop.example.com',
      'store.example.com',
      'api.example.com',
      'docs.example.com',
      'a.blog.example.com',
      'blog.example.com',
      'example.com',
      'other.example.com',
    ],
    paths: ['/v1/', '/v1', '/v2/x', '/api/x', '/apix'],
  },
  {
    file: '03-paths',
    hosts: ['example.com'],
    paths: [
      '/public/x/.git/config',
      '/public/a.php',
      '/public/A.PHTML',
      '/index.php',
      '/public/cgi-bin/x',
      '/public/cgi-binx',
      '/assets/cgi-bin',
      '/item/12345',
      '/item/1234',
      '/item/123456/x',
      '/publicx',
    ],
    ips: IPS,
  },
  {
    file: '04-admin',
    hosts: ['intranet.example.com'],
    paths: [
      '/ADMIN',
      '/admin/assets/x',
      '/admin/assets/private',
      '/Wp-Admin/x',
      '/a.bak',
      '/admin/assets/x.bak',
    ],
    ips: [...IPS, '192.0.2.127', '192.0.2.128', '203.0.112.1'],
    outcomes: { 'tcp-request connection reject': 'differs', 'http-request tarpit': 'differs' },
    except: ({ ip }) => ip.startsWith('203.0.113.'),
  },
  {
    file: '05-bots',
    hosts: ['example.com'],
    paths: ['/api/x'],
    headers: [
      {},
      { 'User-Agent': 'Mozilla/5.0 (SQLMAP 1.2)' },
      { 'User-Agent': 'curl/8.1' },
      { 'User-Agent': 'x curl/8.1' },
      { 'User-Agent': 'x, Wget/1.1' },
      { 'User-Agent': 'Mozilla/5.0 (KHTML, like Gecko)' },
      { Referer: 'https://www.casino.example/x', 'User-Agent': 'a' },
      { Referer: 'https://mycasino.example/x', 'User-Agent': 'a' },
      { Referer: 'https://casino.examples/', 'User-Agent': 'a' },
      { 'X-Scanner': 'acme' },
      { 'X-Scanner': 'acme2' },
      { 'X-Scanner': 'gamma, beta' },
      { 'X-Scanner': 'BETA' },
    ],
    outcomes: { 'http-request silent-drop': 'differs' },
    except: ({ headers }) => /acme$|beta$/.test(headers?.['X-Scanner'] ?? ''),
  },
  {
    file: '06-methods',
    hosts: ['api.example.com'],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    headers: [{}, { 'Content-Type': 'multipart/form-data; boundary=x' }, { 'Content-Type': 'text/plain' }],
  },
  {
    file: '07-redirects',
    // HAProxy redirects it to itself.
    except: ({ target }) => target === '/article/',
    hosts: ['example.com', 'www.example.com', 'old.example.com'],
    paths: [
      '/article/x',
      '/article/x/',
      '/article/x/y',
      '/article/',
      '/about-us',
      '/jobs.html',
      '/a/b',
      '/a/b/c',
    ],
    outcomes: { 'http-request redirect code 301 location http://%[hdr(host),regsub': 'differs' },
  },
  {
    file: '08-rewrites',
    hosts: ['example.com'],
    paths: [
      '/api/orders',
      '/api/secret',
      '/api/secretx',
      '/api/x/api/y',
      '/legacy/a/b/c',
      '/legacy/a',
      '/api/a%20b',
      '/x/y',
      '/en?x=1',
    ],
    outcomes: {
      'http-request set-path /health': 'differs',
      'http-request set-query': 'differs',
      'http-request set-path /app': 'differs',
    },
    except: ({ target }) => /^\/api\/(?:_status|en|legacy|x\/)/.test(target),
  },
  {
    file: '09-limits',
    hosts: ['example.com'],
    paths: ['/api/x'],
    outcomes: { 'http-request deny deny_status 429': 'differs', 'http-request deny if abuse': 'differs' },
  },
  {
    file: '10-balanced',
    hosts: ['app.example.com', 'big.example.com'],
    paths: ['/static/x', '/x.css', '/x.css/y'],
    pool: ['192.0.2.40:80', '192.0.2.41:80'],
    outcomes: { cookie: 'not_carried', 'server a1': 'differs' },
  },
  {
    file: '11-headers',
    hosts: ['example.com'],
    paths: ['/api/x', '/private/x', '/?debug=1', '/?x=1&debug=2', '/?debugx=1'],
    headers: [
      {},
      { 'X-Internal': '1' },
      { 'X-Proto': 'https' },
      { 'X-Token': 's3cret' },
      { 'X-Token': 'other' },
      { Cookie: 'a=1; release=beta' },
      { Cookie: 'release=betas' },
      { Cookie: 'release=alpha' },
    ],
    compared: {
      request: ['x-client', 'x-proto', 'x-internal', 'x-api', 'x-token'],
      response: ['x-frame-options', 'server'],
    },
  },
  {
    file: '12-listen',
    hosts: ['shop.example.com', 'example.com'],
    paths: ['/gone/x', '/internal/x'],
    outcomes: { 'http-request return': 'differs', 'listen database': 'not_carried' },
  },
  {
    file: '13-map-hosts',
    hosts: ['one.example.com', 'two.example.com', 'uno.example.com', 'ONE.example.com'],
    paths: ['/phpmyadmin', '/PHPMYADMIN/', '/xmlrpc.php'],
    ips: ['203.0.113.64', '203.0.113.63', '203.0.113.127', '198.51.100.7', '198.51.100.8', '2001:db8:bad::1'],
    outcomes: { 'tcp-request connection reject': 'differs' },
    except: ({ ip }) => /^203\.0\.113\.(?:64|127)$|^198\.51\.100\.7$|^2001:db8:bad:/.test(ip),
  },
  {
    file: '14-password',
    hosts: ['example.com'],
    paths: ['/team/x', '/dump.sql', '/flag/x'],
    outcomes: { 'http-request auth': 'closed' },
    except: ({ target }) => target.startsWith('/team'),
  },
  {
    file: '15-quoting',
    hosts: ['example.com'],
    paths: ['/single', '/a/1', '/A/22', '/c/x.html', '/needle', '/xneedle', '/HAY', '/x/hay'],
  },
];

/** Paths in the text of a configuration, with the neighbours at which matching goes wrong. */
function pathsOf(text: string): readonly string[] {
  const found = new Set<string>(['/', '/a', '/a/b.png?x=1']);
  for (const [path] of text.matchAll(/(?<=[\s^"(=])\/[\w.~/-]*/g)) {
    if (path.startsWith('/etc/')) continue;
    const bare = path.replace(/\/$/, '');
    for (const one of [
      path,
      bare,
      `${bare}/`,
      `${bare}/x`,
      `${bare}x`,
      bare.toUpperCase(),
      `${path}?q=1&r=2`,
      `/x${path}`,
    ]) {
      // Paths that are written otherwise than decided are in a test of their own.
      if (one.startsWith('/') && !/\/\.{1,2}(?:[/?]|$)/.test(one)) found.add(one.replace(/\/{2,}/g, '/'));
    }
  }
  return [...found];
}

/** Requests that are asked at once: each takes a round trip to HAProxy and to its origin. */
const AT_ONCE = 24;

/** Calls a function for each request, several at a time. */
async function forEachRequest(
  requests: Iterable<HaproxyRequest>,
  ask: (request: HaproxyRequest) => Promise<void>,
): Promise<void> {
  const waiting = [...requests];
  const worker = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await ask(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Every request of a configuration. */
function* requestsOf(
  configuration: HaproxyConfiguration,
  paths: Iterable<string>,
): Generator<HaproxyRequest> {
  const { hosts, ips = ['192.0.2.77'], methods = ['GET'], headers = [{}], except } = configuration;
  for (const scheme of ['http', 'https'] as const)
    for (const host of hosts)
      for (const target of paths)
        for (const ip of ips)
          for (const method of methods)
            for (const fields of headers) {
              const request = { scheme, method, host, target, ip, headers: fields };
              if (except?.(request) !== true) yield request;
            }
}

/** The files of the folder that a configuration may name. */
function openFixture(pattern: string): readonly SourceFile[] | { readonly reason: string } {
  try {
    return [{ name: pattern, text: readFileSync(new URL(pattern, FOLDER), 'utf8') }];
  } catch {
    return { reason: `\`${pattern}\` is missing` };
  }
}

function evaluate(file: string): EvaluatedImport {
  const text = readFileSync(new URL(`${file}.cfg`, FOLDER), 'utf8');
  const options = { domain: null, origin: 'origin.invalid' };
  return evaluateImport(importHaproxy([{ name: `${file}.cfg`, text }], openFixture, options));
}

/** The decision in the form of an outcome. */
function outcomeOf(decision: Decision, { scheme, host, target }: HaproxyRequest): CheckedOutcome {
  const { action, status, location, origin, path, query } = decision;
  if (action === 'redirect')
    return {
      kind: 'redirect',
      status: status!,
      url: new URL(location!, `${scheme}://${host}${target}`).href,
    };
  if (action !== 'forward') return { kind: 'answer', status: status! };
  const { address, port, hostHeader } = origin!;
  return {
    kind: 'forward',
    origin: `${address}:${port}`,
    target: query === null || query === '' ? path! : `${path}?${query}`,
    host: hostHeader === '' ? host : hostHeader,
  };
}

/** The names of hosts compare without case; an empty query counts as none. */
function compared(outcome: CheckedOutcome, { pool = [] }: HaproxyConfiguration): CheckedOutcome {
  if (outcome.kind === 'redirect') return { ...outcome, url: outcome.url.replace(/\?$/, '') };
  if (outcome.kind !== 'forward') return outcome;
  const origin = pool.includes(outcome.origin) ? 'pool' : outcome.origin;
  return { ...outcome, origin, host: outcome.host.toLowerCase(), target: outcome.target.replace(/\?$/, '') };
}

/** The headers of a message after the changes of a decision. */
function changedHeaders(
  headers: Readonly<Record<string, unknown>>,
  changes: Decision['requestHeaders'] = [],
): Readonly<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(headers)) fields[name.toLowerCase()] = value;
  for (const { op, name, value } of changes) {
    const lower = name.toLowerCase();
    if (op === 'remove' || value === null) delete fields[lower];
    else fields[lower] = op === 'add' && fields[lower] !== undefined ? `${fields[lower]}, ${value}` : value;
  }
  return fields;
}

/** Checks the headers that a configuration is about, of a request that both forward. */
function compareHeaders(
  { compared: names }: HaproxyConfiguration,
  request: HaproxyRequest,
  { theirs, ours }: { readonly theirs: HaproxyAnswer; readonly ours: Decision },
): void {
  if (names === undefined || ours.action !== 'forward') return;
  const asked = changedHeaders(request.headers ?? {}, ours.requestHeaders);
  for (const name of names.request)
    expect([name, asked[name]], JSON.stringify(request)).toEqual([name, theirs.received[name]]);
  const answered = changedHeaders({ server: 'origin' }, ours.responseHeaders);
  for (const name of names.response)
    expect([name, answered[name]], JSON.stringify(request)).toEqual([name, theirs.sent[name]]);
}

test('every configuration of the folder is compared', () => {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.cfg'));
  expect(files.sort()).toEqual(CONFIGURATIONS.map(({ file }) => `${file}.cfg`));
});

test.each(CONFIGURATIONS)(
  '$file: the report names what is not carried over and what differs',
  ({ file, outcomes = {} }) => {
    const { edge } = evaluate(file);
    const expected = Object.entries(outcomes);
    for (const { source, outcome, reasons } of edge.entries) {
      if (outcome === 'exact' || outcome === 'not_needed') continue;
      const isExpected = expected.some(([start, is]) => source.startsWith(start) && is === outcome);
      expect(isExpected, `${outcome} ${source}: ${reasons.join('; ')}`).toBe(true);
    }
    for (const [start, is] of expected)
      expect(
        edge.entries.some(({ source, outcome }) => source.startsWith(start) && outcome === is),
        start,
      ).toBe(true);
    expect(countOpened(edge.entries)).toBe(0);
  },
);

describe('HAProxy', requires(missingProgram('haproxy'), OPENSSL_MISSING), () => {
  describe.each(CONFIGURATIONS)('$file', (configuration) => {
    const text = readFileSync(new URL(`${configuration.file}.cfg`, FOLDER), 'utf8');
    let source: RunningHaproxy;
    let imported: EvaluatedImport;

    beforeAll(async () => {
      source = await runHaproxy(text, fileURLToPath(FOLDER));
      imported = evaluate(configuration.file);
    });
    afterAll(() => source?.stop());

    test('HAProxy and the imported file decide alike', async () => {
      const paths = new Set([...pathsOf(text), ...(configuration.paths ?? [])]);
      let count = 0;
      await forEachRequest(requestsOf(configuration, paths), async (request) => {
        const theirs = await source.ask(request);
        if (theirs === null) return;
        const ours = imported.decide({ ...request, headers: request.headers ?? {} });
        expect(compared(outcomeOf(ours, request), configuration), JSON.stringify(request)).toEqual(
          compared(theirs.outcome, configuration),
        );
        compareHeaders(configuration, request, { theirs, ours });
        count++;
      });
      expect(count).toBeGreaterThanOrEqual(10);
    });

    test('what HAProxy refuses is not forwarded, however its path is written', async () => {
      const paths = new Set<string>();
      for (const path of [...pathsOf(text), ...(configuration.paths ?? [])]) {
        const [bare = ''] = path.split('?');
        const escaped = bare.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
        for (const one of [`/${bare}`, `/.${bare}`, `/x/..${bare}`, escaped, `${bare};x`]) paths.add(one);
      }
      const { headers: _, ...others } = configuration;
      await forEachRequest(requestsOf(others, paths), async (request) => {
        const theirs = await source.ask(request);
        if (theirs === null || theirs.outcome.kind !== 'answer') return;
        const { action, path } = imported.decide({ ...request, headers: {} });
        if (action !== 'forward') return;
        // A path that is the same as one that HAProxy lets through, as the notes say.
        const target = decodeURIComponent(path!.replace(';x', ''));
        const same = await source.ask({ ...request, target });
        expect(same?.outcome.kind, `${JSON.stringify(request)} ${path}`).toBe('forward');
      });
    });
  });
});
