/** A trace of a small shop with every kind of outcome, as the evaluator would tell it. */
import type { ActionMode, RuleType } from '../../../../src/base/vocabulary/vocabulary.ts';
import type { Decision, Effect } from '../../../../src/engine/evaluator/decision.ts';
import type { EdgeRequest } from '../../../../src/engine/evaluator/request.ts';
import type {
  CheckTrace,
  Phase,
  PhaseTrace,
  ReasonCode,
  RuleOutcome,
  RuleTrace,
  Trace,
} from '../../../../src/engine/evaluator/trace.ts';
import type { TraceDocument } from '../../../../src/workbench/simulation/document.ts';
import { type AccountInput, traceDocument } from '../../../../src/workbench/simulation/simulate.ts';

interface RuleSketch {
  readonly type: RuleType;
  readonly id: number;
  readonly mode?: ActionMode;
  readonly outcome: RuleOutcome;
  readonly effect?: Effect | 'none';
  readonly reason: [ReasonCode, string];
  readonly checks?: readonly CheckTrace[];
}

export function rule(sketch: RuleSketch): RuleTrace {
  const [code, text] = sketch.reason;
  return {
    type: sketch.type,
    id: sketch.id,
    priority: 100,
    mode: sketch.mode ?? 'enforce',
    outcome: sketch.outcome,
    effect: sketch.effect ?? 'none',
    reason: { code, text },
    checks: sketch.checks ?? [],
  };
}

export function phase(name: Phase, rules: readonly RuleTrace[], note: string | null = null): PhaseTrace {
  return { name, outcome: 'continue', note, rules };
}

export const FORWARDED: Decision = {
  action: 'forward',
  status: null,
  rule: { type: 'origin_route', id: 71 },
  location: null,
  body: null,
  origin: {
    address: '10.0.4.9',
    port: 8443,
    scheme: 'https',
    hostHeader: 'api.internal',
    source: 'origin_route',
    timeoutSec: null,
  },
  path: '/v2/orders',
  query: 'id=7',
  cache: null,
  tags: [],
  retryAfter: null,
  waf: null,
  matches: [],
  shadow: null,
  revision: 41,
};

export const BLOCKED: Decision = {
  ...FORWARDED,
  action: 'block',
  status: 403,
  rule: { type: 'drop', id: 57 },
  origin: null,
  path: null,
  query: null,
};

export const SHOP_PHASES: readonly PhaseTrace[] = [
  phase('gate', [], 'record 12 shop.example.com → 198.51.100.20'),
  phase('drop', [
    rule({
      type: 'drop',
      id: 57,
      mode: 'dry_run',
      outcome: 'matched',
      effect: 'block',
      reason: ['country_listed', 'country RU is in countries [RU, BY]'],
    }),
    rule({
      type: 'drop',
      id: 41,
      outcome: 'skipped',
      reason: ['path_not_included', 'path /api/orders is not in path_includes [/admin/*]'],
      checks: [
        {
          check: 'host',
          pass: true,
          text: 'shop.example.com matches *.example.com',
          entry: 'host_includes[0]',
        },
        {
          check: 'path',
          pass: false,
          text: '/api/orders does not match /admin/*',
          entry: 'path_includes[0]',
        },
      ],
    }),
    rule({ type: 'drop', id: 90, outcome: 'skipped', reason: ['out_of_scope', 'bound to record 99'] }),
    rule({ type: 'drop', id: 91, outcome: 'skipped', reason: ['disabled', 'switched off'] }),
  ]),
  phase('fingerprint', [
    rule({
      type: 'fingerprint',
      id: 5,
      outcome: 'skipped',
      reason: ['missing_input', 'no JA4 was given, so nothing to compare'],
      checks: [{ check: 'ja4', pass: null, text: 'not given' }],
    }),
  ]),
  phase('bot_route', []),
  phase('rate_limit', [
    rule({
      type: 'rate_limit',
      id: 18,
      outcome: 'matched',
      effect: 'counted',
      reason: ['under_limit', 'request 1 of 100 in 60 s for ip 203.0.113.7'],
    }),
  ]),
  phase('waf', []),
  phase('redirect', []),
  phase('captcha', []),
  phase('rewrite', [
    rule({
      type: 'rewrite',
      id: 64,
      outcome: 'matched',
      effect: 'rewrite',
      reason: ['rewritten', '/api/orders → /v2/orders'],
    }),
  ]),
  phase('cache', []),
  phase('origin', [
    rule({
      type: 'origin_route',
      id: 71,
      outcome: 'matched',
      effect: 'origin',
      reason: ['chosen', 'path /api/orders matches /api/*'],
    }),
    rule({
      type: 'origin_pool',
      id: 80,
      outcome: 'not_reached',
      reason: ['overridden', 'origin_route #71 takes precedence over pools'],
    }),
  ]),
  phase('error_page', [
    rule({
      type: 'error_page',
      id: 12,
      outcome: 'conditional',
      reason: ['needs_response', 'applies to 502, 503 and 504'],
    }),
  ]),
];

export const SHOP_TRACE: Trace = {
  decision: { ...FORWARDED, shadow: BLOCKED },
  facts: {
    scheme: 'https',
    method: 'GET',
    host: 'shop.example.com',
    path: '/api/orders',
    pathWithoutParameters: null,
    query: 'id=7',
    ip: '203.0.113.7',
    country: 'RU',
    asn: null,
    bot: { kind: 'gptbot', verified: false, from: 'user-agent' },
    ja4: null,
    ja4h: null,
    records: [{ id: 12, name: 'shop.example.com', destination: '198.51.100.20' }],
  },
  phases: SHOP_PHASES,
};

const SHOP_REQUEST: EdgeRequest = {
  scheme: 'https',
  method: 'GET',
  host: 'shop.example.com',
  target: '/api/orders?id=7',
  ip: '203.0.113.7',
  country: 'RU',
};

export function shopInput(changes: Partial<AccountInput> = {}): AccountInput {
  return {
    trace: SHOP_TRACE,
    plan: {
      version: 41,
      digest: `sha256:9f2c51d0${'0'.repeat(56)}`,
      domain: 'example.com',
      source: 'edge.yaml',
    },
    request: SHOP_REQUEST,
    url: 'https://shop.example.com/api/orders?id=7',
    world: { down: [], nodeId: null, now: Date.UTC(2026, 0, 2, 3, 4, 5), nowGiven: false },
    sources: new Map([
      [57, { key: 'embargo', at: 'edge.yaml:31' }],
      [41, { key: 'office-only', at: 'edge.yaml:38' }],
      [71, { key: 'api', at: 'edge.yaml:106' }],
    ]),
    ruleSet: null,
    genericBot: false,
    errorPage: null,
    evaluateUs: 31,
    ...changes,
  };
}

export function shopDocument(changes: Partial<AccountInput> = {}): TraceDocument {
  return traceDocument(shopInput(changes));
}
