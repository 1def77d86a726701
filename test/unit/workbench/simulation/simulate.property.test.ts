import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BOT_KINDS } from '../../../../src/base/vocabulary/vocabulary.ts';
import { loadPlan } from '../../../../src/engine/evaluator/index.ts';
import { asTest } from '../../../../src/workbench/simulation/as-test.ts';
import { paint } from '../../../../src/workbench/simulation/paint.ts';
import { renderTrace } from '../../../../src/workbench/simulation/render.ts';
import { type RequestFlags, readRequest } from '../../../../src/workbench/simulation/request-line.ts';
import { simulate } from '../../../../src/workbench/simulation/simulate.ts';
import { SHOP } from './shop.ts';

const NOW = Date.UTC(2026, 0, 2);
const text = fc.string({ unit: 'binary', maxLength: 30 });

const path = fc.oneof(
  text,
  fc.constantFrom('', 'api/orders', 'admin/', 'x/..%2fadmin', 'checkout/1;x', 'login', '%zz', 'products/a-1'),
);
const host = fc.oneof(
  text,
  fc.constantFrom(
    'shop.example.com',
    'www.example.com',
    'a.preview.example.com',
    'static.example.com',
    'example.org',
  ),
);
const url = fc
  .record({ host, path, query: fc.option(text, { nil: undefined }) })
  .map((parts) => `https://${parts.host}/${parts.path}${parts.query === undefined ? '' : `?${parts.query}`}`);

const flags: fc.Arbitrary<RequestFlags> = fc.record(
  {
    method: fc.constantFrom('GET', 'POST', 'M-SEARCH'),
    header: fc.array(fc.oneof(text, fc.constantFrom('Host: shop.example.com', 'Accept: text/html')), {
      maxLength: 3,
    }),
    userAgent: fc.oneof(text, fc.constantFrom('GPTBot/1.2', 'curl/8', 'Mozilla/5.0')),
    data: text,
    ip: fc.oneof(fc.ipV4(), fc.ipV6(), text),
    country: fc.constantFrom('RU', 'de', 'XX', '1'),
    bot: fc.oneof(
      fc.constantFrom(...BOT_KINDS).map((kind) => `${kind}:verified`),
      text,
    ),
    ja4: text,
    cleared: fc.constantFrom(['captcha/9'], ['rate_limit/18', 'record/7']),
  },
  { requiredKeys: [] },
);

describe('any command line', () => {
  it('is either refused with a message, or simulated as the evaluator decides, rendered, and printed as a test', () => {
    let simulated = 0;
    fc.assert(
      fc.property(url, flags, fc.integer({ min: 40, max: 160 }), (typed, given, width) => {
        const read = readRequest(typed, { ...given, now: NOW });
        if (!read.ok) {
          expect(read.error.length).toBeGreaterThan(0);
          return;
        }
        simulated += 1;
        const asked = {
          request: read.value,
          url: typed,
          world: { down: [], nodeId: null, now: NOW, nowGiven: true },
        };
        const document = simulate(SHOP, asked);
        const { kind, verified } = document.request.bot ?? {};
        const generic =
          document.request.bot?.from === 'generic' ? { bot: { kind: kind!, verified: verified! } } : {};
        const decision = loadPlan(SHOP.bytes, { random: () => 0 }).evaluate({ ...read.value, ...generic });
        expect([document.decision.action, document.decision.status]).toEqual([
          decision.action,
          decision.status,
        ]);
        expect(JSON.parse(JSON.stringify(document))).toEqual(document);
        expect(paint(renderTrace(document, { width, all: true }), false)).toContain(
          decision.action.toUpperCase(),
        );
        const kept = asTest(document, asked, SHOP);
        expect(kept.ok ? kept.value : kept.error).not.toBe('');
      }),
      { numRuns: 300 },
    );
    expect(simulated).toBeGreaterThan(20);
  });
});
