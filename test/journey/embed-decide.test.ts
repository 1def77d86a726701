/** `edgeplan/decide`: a request as a proxy saw it, decided as the evaluator decides it. */
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  createDecider,
  type DeciderAnswer,
  type ProxiedRequest,
} from '../../src/edge/middleware/decide/index.ts';
import { loadSignatures } from '../../src/edge/middleware/fetch/index.ts';
import { createCounters, loadPlan } from '../../src/engine/evaluator/index.ts';
import { sealedPlan, sealedSignatures } from '../support/embed.ts';
import { type Random, seeded } from '../support/generate-random.ts';

const RULES = [
  { id: 1, type: 'drop', path_includes: ['/admin/*'] },
  { id: 2, type: 'rate_limit', path_includes: ['/busy'], limit: 2, window_sec: 3600 },
  { id: 3, type: 'waf', path_includes: ['/form'], paranoia: 1, threshold: 5, body_cap_kb: 1 },
  { id: 4, type: 'redirect', path_includes: ['/old/*'], target: '/new' },
  { id: 5, type: 'captcha', path_includes: ['/members/*'], ttl_sec: 120 },
  { id: 6, type: 'rewrite', path_includes: ['/moved'], path_target: '/there' },
  { id: 7, type: 'cache', path_includes: ['/stored'], edge_ttl_sec: 60 },
  { id: 8, type: 'origin_route', path_includes: ['/elsewhere'], address: '192.0.2.9' },
] as const;

const plan = sealedPlan({ rules: RULES, settings: { sec_no_sniff: true } });
const signatures = sealedSignatures();

const REQUEST: ProxiedRequest = {
  scheme: 'https',
  method: 'GET',
  host: 'shop.localhost',
  target: '/',
  protocol: 'HTTP/1.1',
  port: 443,
  headers: {},
  ip: '192.0.2.1',
  serverName: null,
  body: null,
};

function posted(text: string | Uint8Array, more: Partial<ProxiedRequest> = {}): ProxiedRequest {
  const octets = typeof text === 'string' ? Buffer.from(text) : text;
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...more.headers };
  return {
    ...REQUEST,
    method: 'POST',
    target: '/form',
    body: { octets, isWhole: true },
    ...more,
    headers: { 'content-length': String(octets.length), ...headers },
  };
}

function anyRequest(random: Random): ProxiedRequest {
  const target = random.pick([
    '/',
    '/admin/x',
    '/busy',
    '/old/a?b',
    '/members/1',
    '/moved',
    '/stored',
    '/form',
  ]);
  const shared = {
    target,
    host: random.pick(['shop.localhost', 'shop.localhost:8443', 'other.localhost', 'no host']),
    headers: random.pick([{}, { accept: 'text/html' }, { cookie: 'a=1; b=2', accept: 'text/html' }]),
    ip: random.pick(['192.0.2.1', '192.0.2.2', null]),
    method: random.pick(['GET', 'POST']),
  };
  if (shared.method === 'GET') return { ...REQUEST, ...shared };
  return posted(random.pick(['q=harmless', 'q=an+attack', `q=${'x'.repeat(1_500)}+attack`]), shared);
}

describe('a request that a program saw', () => {
  test('its outcome is the one of the evaluator', async () => {
    const decider = createDecider({ plans: [plan], signatures });
    const evaluator = loadPlan(plan, { waf: loadSignatures(signatures), counters: createCounters() });
    const random = seeded(20_261_129);
    const met = new Set<string>();
    for (let turn = 0; turn < 2_000; turn++) {
      const request = anyRequest(random);
      const decided = await decider.decide(request);
      if (decided.verdict === null) {
        met.add('refused');
        expect(['other.localhost', 'no host']).toContain(request.host);
        expect(decided.kind === 'answer' && decided.answer.status).toBe(
          request.host === 'no host' ? 400 : 421,
        );
        continue;
      }
      const { body } = request;
      const expected = evaluator.evaluate({
        ...request,
        body: body === null ? null : body.octets,
        now: decided.verdict.request.now,
      });
      expect(decided.verdict.decision).toEqual(expected);
      expect(decided.kind).toBe(expected.action === 'forward' ? 'forward' : 'answer');
      if (decided.kind === 'answer') expect(decided.answer.status).toBe(expected.status);
      met.add(expected.action);
    }
    expect([...met].sort()).toEqual(['block', 'challenge', 'forward', 'redirect', 'refused']);
  });

  test('it is decided at once where nothing is awaited', () => {
    const decider = createDecider({ plans: [plan] });
    expect(decider.decide(REQUEST)).not.toBeInstanceOf(Promise);
    expect(decider.decide({ ...REQUEST, target: '/form?q=attack' })).not.toBeInstanceOf(Promise);
  });
});

describe('a forwarded request', () => {
  const decider = createDecider({ plans: [plan], signatures, enforced: ['rewrite'] });
  const forwarded = async (
    request: Partial<ProxiedRequest>,
  ): Promise<DeciderAnswer & { kind: 'forward' }> => {
    const decided = await decider.decide({ ...REQUEST, ...request });
    if (decided.kind !== 'forward') throw new Error(`answered ${decided.answer.status}`);
    return decided;
  };

  test('it has the changes, and the parts that the program does not enforce', async () => {
    const moved = await forwarded({ target: '/moved?a=1' });
    expect(moved.changes.target).toBe('/there?a=1');
    expect(moved.changes.origin?.address).toBe('127.0.0.1');
    expect(moved.changes.responseHeaders).toContain('X-Content-Type-Options');
    expect(moved.changes.responseHeaders).toContain(moved.verdict.id);
    expect(moved.verdict.unenforced).toEqual(['response']);
    expect((await forwarded({ target: '/stored' })).verdict.unenforced).toEqual(['cache', 'response']);
    const elsewhere = await forwarded({ target: '/elsewhere' });
    expect(elsewhere.changes.origin?.address).toBe('192.0.2.9');
    expect(elsewhere.verdict.unenforced).toEqual(['origin', 'response']);
  });

  test('a body that did not come whole is named, and its part inspected', async () => {
    const cut = posted('q=harmless', { body: { octets: Buffer.from('q=harml'), isWhole: false } });
    const decided = await forwarded(cut);
    expect(decided.verdict.unenforced).toContain('body');
    expect(decided.verdict.decision.matches.map(({ type }) => type)).toEqual(['waf']);
    const bad = await decider.decide(
      posted('q=attack', { body: { octets: Buffer.from('q=attack&rest'), isWhole: false } }),
    );
    expect(bad.kind === 'answer' && bad.answer.status).toBe(403);
    const none = await forwarded(posted('q=attack', { body: { octets: null, isWhole: false } }));
    expect(none.verdict.unenforced).toContain('body');
    expect(none.verdict.decision.waf?.uninspected ?? null).toBe(null);
  });

  test('a body longer than the rule inspects is not one that did not come', async () => {
    const long = await forwarded(posted(`q=${'x'.repeat(5_000)}`));
    expect(long.verdict.unenforced).not.toContain('body');
  });

  test('a compressed body is inspected inflated', async () => {
    const zipped = gzipSync('q=an+attack');
    const bad = await decider.decide(posted(zipped, { headers: { 'content-encoding': 'gzip' } }));
    expect(bad.kind === 'answer' && bad.answer.status).toBe(403);
  });
});

describe('wrong input', () => {
  test('a header that may occur once is refused twice', async () => {
    const decider = createDecider({ plans: [plan] });
    const twice = await decider.decide({ ...REQUEST, headers: { 'content-length': ['1', '2'] } });
    expect(twice.kind === 'answer' && twice.answer.status).toBe(400);
    const trace = await decider.decide({ ...REQUEST, method: 'TRACE' });
    expect(trace.kind === 'answer' && trace.answer.status).toBe(405);
  });

  test('options are checked by name', () => {
    expect(() => createDecider({ enforced: ['everything'] as never })).toThrow(
      /`enforced` must be a list of `origin`/,
    );
    expect(() => createDecider({ plan: [] } as never)).toThrow(/`plan`/);
    expect(() => createDecider({ secret: 'short' })).toThrow(/`secret` has 5 octets/);
  });

  test.each([
    ['no name', '', 'forward'],
    ['the name in capitals', 'Shop.LOCALHOST', 'forward'],
    ['the name as a root', 'shop.localhost.', 'forward'],
    ['an address, which counts as none', '127.0.0.1', 'forward'],
    ['an address of version 6', '2001:db8::1', 'forward'],
    ['the name of another host', 'other.localhost', 'answer'],
    ['a name with a port', 'shop.localhost:443', 'answer'],
    ['a text that is no name', 'shop localhost', 'answer'],
  ])('of a handshake with %s', async (_, serverName, kind) => {
    const decider = createDecider({ plans: [plan] });
    const decided = await decider.decide({ ...REQUEST, serverName });
    expect(decided.kind).toBe(kind);
    if (decided.kind === 'answer') expect(decided.answer.status).toBe(421);
  });

  test('a plan is replaced whole, and its hosts are refused after it is removed', async () => {
    const decider = createDecider();
    expect(decider.size).toBe(0);
    expect(decider.install(plan)).toEqual({ domain: 'shop.localhost', revision: 1 });
    expect((await decider.decide(REQUEST)).kind).toBe('forward');
    decider.remove('shop.localhost');
    const gone = await decider.decide(REQUEST);
    expect(gone.kind === 'answer' && gone.answer.status).toBe(421);
  });
});
