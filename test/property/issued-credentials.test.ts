/**
 * Who issues credentials, against the verifier of the edge: on generated pairs of gateways no request with real keys and tokens is
 * admitted by one and refused by the other unless `proveAdmissions` shows a change of that side, or leaves its operation open.
 * `EDGEPLAN_ISSUED_PAIRS` sets how many pairs are tried.
 */
import { expect, test } from 'vitest';
import { sha256 } from '../../src/base/platform/cryptography.ts';
import { createCredentialVerifier } from '../../src/edge/credentials/verify.ts';
import { compile } from '../../src/engine/compiler/compile.ts';
import { loadPlan } from '../../src/engine/evaluator/index.ts';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import { seal } from '../../src/engine/plan/seal.ts';
import { parseRuleSet } from '../../src/rules/model/parse.ts';
import type { RuleSet } from '../../src/rules/model/types.ts';
import { proveAdmissions } from '../../src/workbench/proofs/gateway-changes.ts';
import { type Random, seeded } from '../support/generate.ts';
import { sizeOf } from '../support/size.ts';
import { makeKey, signToken } from '../support/tokens.ts';

const PAIRS = sizeOf('EDGEPLAN_ISSUED_PAIRS', { usual: 60, full: 2_000 });
const REQUESTS = 40;
/** After the first moment of proofs. */
const NOW = Date.UTC(2040, 0, 1);

const SIGNING = (
  [
    ['EdDSA', 'one'],
    ['EdDSA', 'two'],
    ['ES256', 'three'],
  ] as const
).map(([alg, kid]) => ({ alg, kid, ...makeKey(alg, kid) }));
const KEYS = ['first-key', 'second-key', 'third-key'];
const NAMES = ['ann', 'bob', 'cyd'];
const PLACES = [
  { in: 'header', name: 'Authorization' },
  { in: 'header', name: 'X-Api-Key' },
  { in: 'query', name: 'key' },
] as const;

function hashOf(text: string): string {
  return Buffer.from(sha256(text) as Uint8Array).toString('hex');
}

function generateIssuer(random: Random, name: string): object {
  const keys = random.some(SIGNING, 2);
  const algorithms = [...new Set(keys.map(({ alg }) => alg))];
  return {
    name,
    issuer: random.pick(['https://one.test/', 'https://one.test/', 'https://two.test/']),
    audiences: random.some(['api', 'web'], 2),
    keys: keys.map(({ jwk }) => jwk),
    algorithms,
    sources: random.some(PLACES, 2),
    required_claims: random.chance(0.3) ? { kind: random.pick(['access', 'other']) } : {},
    clock_skew_sec: random.pick([0, 60, 60]),
    consumer_claim: random.pick(['sub', 'sub', 'client']),
    scopes_claim: random.pick(['scope', 'scope', 'permissions']),
    default_consumer: random.chance(0.2) ? random.pick(NAMES) : null,
  };
}

function generateSide(random: Random): RuleSet {
  const spare = [...KEYS];
  const consumers = NAMES.map((username) => ({
    username,
    enabled: !random.chance(0.1),
    custom_id: random.chance(0.3) ? `id-${username}` : null,
    scopes: random.chance(0.2) ? ['read'] : [],
    keys: random.chance(0.7) ? [{ sha256: hashOf(random.shuffled(spare).pop() ?? '') }] : [],
  }));
  const taken = new Set<string>();
  for (const consumer of consumers) {
    consumer.keys = consumer.keys.filter(({ sha256: hash }) => !taken.has(hash));
    for (const { sha256: hash } of consumer.keys) taken.add(hash);
  }
  const which = random.int(3);
  const parsed = parseRuleSet({
    domain: { name: 'example.com' },
    records: [{ id: 1, name: '@', type: 'A', destination: '198.51.100.1', proxied: true }],
    rules: [
      {
        ...{ id: 1, type: 'gateway', base_path: '/v1' },
        auth: {
          require: which === 1 ? random.pick(['any', 'all']) : 'any',
          ...(which < 2 ? { api_key: { sources: random.some(PLACES, 2) } } : {}),
          ...(which > 0 ? { jwt: { issuers: random.some(['login', 'other'], 2) } } : {}),
        },
        operations: [
          { methods: ['GET'], path: '/orders', ...(random.chance(0.3) ? { scopes: ['read'] } : {}) },
        ],
      },
    ],
    registry: { consumers, token_issuers: ['login', 'other'].map((name) => generateIssuer(random, name)) },
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
  return parsed.ruleSet;
}

/** The rule set with some parts of another one. */
function mixed(random: Random, one: RuleSet, other: RuleSet): RuleSet {
  const pick = <T>(a: T, b: T): T => (random.chance(0.75) ? a : b);
  const [mine, theirs] = [one.registry, other.registry];
  if (!mine || !theirs || !('consumers' in mine) || !('consumers' in theirs)) throw new Error('no registry');
  return {
    ...one,
    rules: pick(one.rules, other.rules),
    registry: {
      ...mine,
      consumers: pick(mine.consumers, theirs.consumers),
      token_issuers: mine.token_issuers.map((issuer, index) => {
        const fields = Object.entries(issuer).map(([name, value]) => {
          const changed = (theirs.token_issuers[index] as unknown as Record<string, unknown>)[name];
          return [name, ['keys', 'algorithms'].includes(name) ? value : random.chance(0.9) ? value : changed];
        });
        return random.chance(0.85)
          ? (Object.fromEntries(fields) as typeof issuer)
          : theirs.token_issuers[index]!;
      }),
    },
  };
}

const TOKENS = new Map<string, string>();

function tokenOf(random: Random): string {
  const key = random.int(SIGNING.length);
  const late = random.chance(0.15);
  const claims = {
    iss: random.pick(['https://one.test/', 'https://one.test/', 'https://two.test/']),
    aud: random.pick(['api', 'web']),
    exp: NOW / 1_000 + (late ? -30 : 3_600),
    ...(random.chance(0.5) ? { kind: random.pick(['access', 'other']) } : {}),
    ...(random.chance(0.8) ? { sub: random.pick([...NAMES, 'id-ann', 'id-bob']) } : {}),
    ...(random.chance(0.3) ? { client: random.pick(NAMES) } : {}),
    ...(random.chance(0.6) ? { [random.pick(['scope', 'permissions'])]: 'read' } : {}),
  };
  const text = JSON.stringify([key, claims]);
  const { alg, kid, privateKey } = SIGNING[key]!;
  const known = TOKENS.get(text) ?? signToken({ alg, kid }, claims, privateKey);
  TOKENS.set(text, known);
  return known;
}

function requireOf({ rules }: RuleSet): string {
  return rules.flatMap((rule) => (rule.type === 'gateway' ? [rule.auth.require] : []))[0]!;
}

function requestWith(
  random: Random,
  parts: { readonly hasKey: boolean; readonly hasToken: boolean },
): EdgeRequest {
  const headers: Record<string, string> = {};
  let query = '';
  const put = (place: (typeof PLACES)[number], value: string, scheme: string): void => {
    if (place.in === 'query') query = `?key=${value}`;
    else headers[place.name.toLowerCase()] = place.name === 'Authorization' ? `${scheme} ${value}` : value;
  };
  const places = random.shuffled(PLACES);
  if (parts.hasKey) put(places[0]!, random.pick(KEYS), 'ApiKey');
  if (parts.hasToken) put(places[1]!, tokenOf(random), 'Bearer');
  return {
    ...{ scheme: 'https', method: 'GET', host: 'example.com', target: `/v1/orders${query}` },
    ...{ ip: '192.0.2.1', headers, now: NOW },
  };
}

test(`real credentials show no change of ${PAIRS} pairs that is not claimed`, {
  timeout: 3_600_000,
}, async () => {
  const counts = { changes: 0, open: 0, same: 0, differing: 0, admitted: 0, requests: 0 };
  const { verify } = createCredentialVerifier(sha256);
  for (let seed = 1; seed <= PAIRS; seed++) {
    const random = seeded(seed + 12_000);
    const before = generateSide(random);
    const after = mixed(random, before, generateSide(random));
    const proved = proveAdmissions(before, after)!;
    counts.changes += proved.changes.length;
    counts.open += proved.open.length;
    if (proved.changes.length + proved.open.length === 0) counts.same++;
    const sides = [before, after].map((side) => loadPlan(seal(compile(side).plan, { revision: 1 })));
    for (let index = 0; index < REQUESTS; index++) {
      const [hasKey, hasToken] = [random.chance(0.5), random.chance(0.7)];
      const isBoth = hasKey && hasToken;
      const request = requestWith(random, { hasKey, hasToken });
      const admits = await Promise.all(
        sides.map(async (evaluator) => {
          const wanted = evaluator.credentialsWanted(request);
          const identity = wanted === null ? undefined : await verify(request, wanted, { now: NOW });
          const given = identity === undefined ? request : { ...request, identity };
          return evaluator.evaluate(given).action === 'forward';
        }),
      );
      counts.requests++;
      if (admits.includes(true)) counts.admitted++;
      const [was, now] = admits;
      if (was === now) continue;
      const side = was === true ? 'before' : 'after';
      // Credentials that the admitting side does not need are not compared.
      if (isBoth && requireOf(side === 'before' ? before : after) !== 'all') continue;
      counts.differing++;
      const isClaimed = [...proved.changes, ...proved.open].some(({ by }) => by === side);
      if (!isClaimed) throw new Error(`seed ${seed}: ${side} alone admits ${JSON.stringify(request)}`);
    }
  }
  if (process.env['SHOW'] !== undefined) console.log(counts);
  expect(counts.same).toBeGreaterThan(PAIRS / 20);
  expect(counts.admitted).toBeGreaterThan(PAIRS);
  expect(counts.differing).toBeGreaterThan(PAIRS / 4);
  expect(counts.open).toBe(0);
});
