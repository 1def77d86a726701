/** What an evaluator keeps, tells and survives beside its decisions. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { compile, seal } from '../../../../src/engine/compiler/index.ts';
import {
  type Decision,
  type EdgeRequest,
  type EvaluatorOptions,
  loadPlan,
} from '../../../../src/engine/evaluator/index.ts';
import type { WafFinding, WafInput, WafSettings } from '../../../../src/engine/waf/request/inspection.ts';
import { createOracle } from '../../../oracle/index.ts';
import { finding } from '../../../support/generate-waf.ts';
import { decide, request, rule, ruleSet, type Setting } from '../../../support/sample-rules.ts';

function load(setting: Setting, options: EvaluatorOptions = {}): ReturnType<typeof loadPlan> {
  return loadPlan(seal(compile(ruleSet(setting)).plan), options);
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

test('a request is garbage once it is answered: no evaluator references it', async () => {
  const evaluator = load({ rules: [rule('rate_limit', 1, {})] });
  const entries = {
    evaluate: evaluator.evaluate,
    explain: evaluator.explain,
    bodyWanted: evaluator.bodyWanted,
    errorPage: (sent: ReturnType<typeof request>) => evaluator.errorPage(sent, 404, 'edge'),
  };
  for (const [name, entry] of Object.entries(entries)) {
    const answered = answer(entry);
    // A weak reference holds until the job that made it is over.
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    expect(answered.deref() === undefined, name).toBe(true);
  }
});

/** A request that was answered, in a frame of its own so that nothing else holds it. */
function answer(entry: (sent: ReturnType<typeof request>) => unknown): WeakRef<object> {
  const sent = request({ body: new Uint8Array(64), cleared: [] });
  entry(sent);
  return new WeakRef(sent);
}

test('evaluate and explain return although onFault throws', () => {
  const fault = new Error('the listener failed');
  const options = {
    clock: () => {
      throw new Error('no clock');
    },
    onFault: () => {
      throw fault;
    },
  };
  const evaluator = load({}, options);
  expect(evaluator.evaluate(request({ now: undefined }))).toMatchObject({ action: 'refuse', status: 500 });
  expect(evaluator.explain(request({ now: undefined })).decision.status).toBe(500);
  expect(evaluator.bodyWanted(request({ now: undefined }))).toBe(0);
  expect(evaluator.errorPage(request({ now: undefined }), 404, 'edge').page).toBeNull();
});

test('a developer mode that ended before 1970 is off', () => {
  const domain = { developer_mode_until: '0001-01-01T00:00:00Z' };
  expect(load({ domain }).evaluate(request({ now: 1_700_000_000_000 })).cache).toBeNull();
  expect(decide({ domain }, { now: 1_700_000_000_000 }).cache).toBeNull();
});

test('the cache key has the keyed parameters of a long query, in every percent-encoded spelling', () => {
  const names = Array.from({ length: 200 }, (_, at) => `p${at}`);
  const setting = { rules: [rule('cache', 1, { query_mode: 'include', query_params: names })] } as const;
  const evaluator = load(setting);
  const sent = request({ target: `/?${'q&'.repeat(8_000)}%701=2&p1` });
  for (let times = 0; times < 2; times++) expect(evaluator.evaluate(sent).query).toBe('%701=2&p1');
  expect(createOracle(ruleSet(setting)).evaluate(sent).query).toBe('%701=2&p1');
});

test('the gate’s note names a host that only ends like the domain as one outside it', () => {
  const { phases } = load({}).explain(request({ host: 'evilexample.com' }));
  expect(phases[0]!.note).toBe('host evilexample.com does not belong to example.com');
});

describe('a signature program that fails', () => {
  const failing = {
    inspect(): never {
      throw new Error('broken');
    },
    has: () => false,
  };
  const faults: unknown[] = [];
  const judged = (mode: 'enforce' | 'dry_run') =>
    load(
      { rules: [rule('waf', 1, { action_mode: mode })] },
      { waf: failing, onFault: (error) => faults.push(error) },
    ).evaluate(request({}));

  test('an enforced waf rule refuses the request with 500 when its program throws', () => {
    expect(judged('enforce')).toMatchObject({ action: 'refuse', status: 500 });
  });

  test('a dry_run waf rule whose program throws changes nothing, and the fault is reported', () => {
    expect(judged('dry_run')).toMatchObject({
      action: 'forward',
      matches: [{ type: 'waf', id: 1, mode: 'dry_run', effect: 'unavailable' }],
    });
    expect(faults.length).toBeGreaterThan(0);
  });
});

describe('a signature program', () => {
  const judged = (found: Partial<WafFinding>) => {
    const seen: unknown[] = [];
    const program = {
      inspect(input: WafInput, settings: WafSettings) {
        seen.push({ body: input.body?.length ?? null, truncated: input.truncated, ...settings });
        return finding(found);
      },
      has: () => true,
    };
    const evaluator = load({ rules: [rule('waf', 7, { threshold: 6, body_cap_kb: 1 })] }, { waf: program });
    return { evaluator, seen };
  };

  test('a signature program gets the rule’s threshold and whether the body was truncated', () => {
    const { evaluator, seen } = judged({});
    evaluator.evaluate(request({ method: 'POST', body: 'x'.repeat(1_025) }));
    expect(seen).toEqual([
      { body: 1_024, truncated: true, paranoia: 1, threshold: 6, excludes: [], exclusions: [] },
    ]);
  });

  test('a signature program that denies blocks the request at any score', () => {
    const { evaluator } = judged({ denied: true, score: 1 });
    expect(evaluator.evaluate(request({}))).toMatchObject({
      action: 'block',
      status: 403,
      waf: { denied: true, score: 1, truncated: false },
    });
    const reason = evaluator.explain(request({})).phases.find(({ name }) => name === 'waf')!.rules[0]!.reason;
    expect(reason.text).toBe('anomaly score 1 is below threshold 6, denied by a signature');
  });

  test('the matches of a signature program are in the decision and in the trace', () => {
    const match = {
      id: 942_100,
      message: 'SQL injection',
      severity: 2,
      category: 'sqli',
      score: 5,
      variable: 'ARGS:id',
      value: '1 or 1',
    };
    const { evaluator } = judged({
      score: 6,
      ids: [942_100],
      matches: [match],
      categories: { sqli: 5 },
      bodyError: 'json: it ends inside a text',
    });
    expect(evaluator.evaluate(request({})).waf).toMatchObject({
      matches: [match],
      categories: { sqli: 5, uninspected: 5 },
    });
    const told = evaluator.explain(request({})).phases.find(({ name }) => name === 'waf')!.rules[0]!;
    expect(told.reason).toEqual({
      code: 'at_threshold',
      text: 'anomaly score 11 reaches threshold 6, body not inspected whole (unparsable), which adds 5: 942100; body not readable: json: it ends inside a text',
    });
    expect(told.inspection).toMatchObject({
      ...{ score: 11, matches: [match], truncated: false, exhausted: false },
      ...{ paranoia: 1, threshold: 6, excludes: [], exclusions: [] },
    });
  });

  test('a signature program that exhausts its steps blocks the request, and the reason names it', () => {
    const { evaluator } = judged({ exhausted: true });
    expect(evaluator.evaluate(request({})).action).toBe('block');
    const told = evaluator.explain(request({})).phases.find(({ name }) => name === 'waf')!.rules[0]!;
    expect(told.reason.text).toBe(
      'anomaly score 0 is below threshold 6, step budget exhausted, which counts as reaching it',
    );
  });
});

describe('a body that is not inspected whole', () => {
  const JSON_ERROR = 'json: it ends inside a text';
  const MATCH = {
    id: 1,
    message: '',
    severity: 2,
    category: 'protocol',
    variable: 'REQBODY_ERROR',
    value: '1',
  };

  function decided(given: Partial<WafFinding>, sent: Partial<EdgeRequest>, fields = {}): Decision {
    const program = { inspect: () => finding(given), has: () => true };
    const rules = [rule('waf', 7, { threshold: 5, body_cap_kb: 1, ...fields })];
    return load({ rules }, { waf: program }).evaluate(request({ method: 'POST', body: 'x', ...sent }));
  }

  const long = { body: 'x'.repeat(1_025) };
  const coding = { bodyError: 'content-encoding: `zstd` is not known' };
  test.each([
    ['unparsable', { bodyError: JSON_ERROR }, {}, 'block', 'block', 5],
    ['coding', {}, coding, 'block', 'block', 5],
    ['coding', { bodyError: JSON_ERROR }, { ...coding, ...long }, 'block', 'block', 5],
    ['beyond_cap', {}, long, 'forward', 'block', 0],
    [null, {}, {}, 'forward', 'forward', 0],
  ] as const)(
    'is %s, which scores, blocks or passes as the rule says',
    (why, found, sent, scores, blocks, score) => {
      const verdicts = ['score', 'block', 'pass'].map((on_uninspected) => {
        const { action, waf } = decided(found, sent, { on_uninspected });
        return [action, waf?.score, waf?.uninspected];
      });
      expect(verdicts).toEqual([
        [scores, score, why],
        [blocks, 0, why],
        ['forward', 0, why],
      ]);
    },
  );

  test.each([
    [3, 5],
    [5, 5],
    [8, 8],
    [0, 5],
  ])('that signatures give %i for comes to %i', (given, score) => {
    const matches = [{ ...MATCH, score: given }];
    const { waf } = decided({ bodyError: JSON_ERROR, score: given, matches }, {});
    expect(waf?.score).toBe(score);
  });

  const CHUNKED = { headers: { 'transfer-encoding': 'chunked' } };
  test.each<[string, object, 'unread' | null]>([
    ['announced by its length', { body: undefined, headers: { 'content-length': '3' } }, 'unread'],
    ['announced by two lengths', { body: undefined, headers: { 'content-length': ['0', '3'] } }, 'unread'],
    ['announced in chunks', { body: undefined, ...CHUNKED }, 'unread'],
    ['a stream', { body: new ReadableStream() }, 'unread'],
    ['octets of another kind', { body: new ArrayBuffer(3) }, 'unread'],
    ['not announced', { body: undefined }, null],
    ['announced to be empty', { body: undefined, headers: { 'content-length': '0' } }, null],
    ['said not to be there', { body: null, ...CHUNKED }, null],
    ['given', { body: 'a=1', ...CHUNKED }, null],
    ['given as nothing', { body: '', ...CHUNKED }, null],
  ])('that the evaluator was not given is unread, not absent: %s', (_name, sent, why) => {
    const verdicts = ['score', 'block', 'pass'].map((on_uninspected) => {
      const { action, waf } = decided({}, sent, { on_uninspected });
      return [action, waf?.score, waf?.uninspected];
    });
    const refused = why === null ? 'forward' : 'block';
    expect(verdicts).toEqual([
      [refused, why === null ? 0 : 5, why],
      [refused, 0, why],
      ['forward', 0, why],
    ]);
    expect(decided({}, sent, { body_cap_kb: 0 }).waf?.uninspected).toBeNull();
  });

  test('a waf rule with body_cap_kb 0 ignores a body that is not inspected whole', () => {
    const { action, waf } = decided({}, { ...coding, ...long }, { on_uninspected: 'block', body_cap_kb: 0 });
    expect([action, waf?.uninspected, waf?.bodyError]).toEqual(['forward', null, null]);
  });
});

describe('a waf rule under dry_run', () => {
  test('a dry_run waf rule’s verdict is in its match, the enforced rule’s in the decision', () => {
    const found = [finding({ score: 7, ids: [1] }), finding({ score: 2, ids: [2] })];
    const program = { inspect: () => found.shift() ?? finding(), has: () => true };
    const rules = [rule('waf', 1, { action_mode: 'dry_run', priority: 1 }), rule('waf', 2, { priority: 2 })];
    const decision = load({ rules }, { waf: program }).evaluate(request({}));
    expect(decision).toMatchObject({
      action: 'forward',
      waf: { score: 2, ids: [2] },
      matches: [
        { id: 1, mode: 'dry_run', effect: 'block', waf: { score: 7, ids: [1] } },
        { id: 2, mode: 'enforce', effect: 'passed' },
      ],
      shadow: { action: 'block', waf: { score: 7, ids: [1] } },
    });
  });
});
