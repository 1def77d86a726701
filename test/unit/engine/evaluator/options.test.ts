/** The arguments of `loadPlan`, checked before anything is opened. */
import { afterEach, expect, test, vi } from 'vitest';
import { loadSignatures } from '../../../../src/edge/middleware/fetch/index.ts';
import { loadPlan } from '../../../../src/engine/evaluator/index.ts';
import { sealedPlan, sealedSignatures } from '../../../support/embed.ts';

const WAF_RULE = { id: 1, type: 'waf', paranoia: 1, threshold: 5, body_cap_kb: 64 };
const ATTACK = { scheme: 'https', method: 'GET', host: 'shop.localhost', target: '/?a=attack' };

afterEach(() => vi.restoreAllMocks());

test('loadSignatures makes the program that loadPlan takes, from a Uint8Array and from an ArrayBuffer', () => {
  const sealed = sealedSignatures();
  for (const bytes of [sealed, sealed.slice().buffer]) {
    const evaluator = loadPlan(sealedPlan({ rules: [WAF_RULE] }), { waf: loadSignatures(bytes) });
    expect(evaluator.evaluate(ATTACK)).toMatchObject({ action: 'block', status: 403 });
  }
  expect(() => loadSignatures('starter.bin' as never)).toThrow(
    'loadSignatures takes a sealed signature program, a Uint8Array or an ArrayBuffer, found a string; read',
  );
});

test('loadPlan accepts an ArrayBuffer', () => {
  expect(loadPlan(sealedPlan({ revision: 4 }).slice().buffer)).toMatchObject({
    domain: 'shop.localhost',
    revision: 4,
  });
});

test.each([
  ['edge.edgeplan', 'found a string'],
  [undefined, 'found nothing'],
  [Promise.resolve(), 'found a Promise'],
  [{}, 'found an object'],
])('loadPlan refuses %s in place of a plan', (bytes, found) => {
  expect(() => loadPlan(bytes as never)).toThrow(TypeError);
  expect(() => loadPlan(bytes as never)).toThrow(
    `loadPlan takes a sealed plan, a Uint8Array or an ArrayBuffer, ${found}; read a file of`,
  );
});

test.each([
  [{ signatures: null }, 'loadPlan has no option `signatures`; it has counters, clock, random, waf, '],
  [
    { waf: sealedSignatures() },
    '`waf` must be a loaded signature program (`loadSignatures` of edgeplan/fetch',
  ],
  [{ waf: new Uint8Array(3) }, 'or `null`, found a Uint8Array'],
  [{ counters: new Map() }, '`counters` must be an object with hit and peek, found a Map'],
  [{ clock: 5 }, '`clock` must be a function, found a number'],
  [{ nodeId: '3' }, '`nodeId` must be a number or `null`, found a string'],
  [null, 'loadPlan takes an object of options, found null'],
])('loadPlan refuses the options %j', (options, sentence) => {
  expect(() => loadPlan(sealedPlan({}), options as never)).toThrow(TypeError);
  expect(() => loadPlan(sealedPlan({}), options as never)).toThrow(sentence);
});

test('a fault without `onFault` is printed with the domain', () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const fault = new Error('no clock');
  const clock = (): number => {
    throw fault;
  };
  const rules = [{ id: 1, type: 'rate_limit', limit: 1, window_sec: 60 }];
  expect(loadPlan(sealedPlan({ rules }), { clock }).evaluate(ATTACK).status).toBe(500);
  expect(printed).toHaveBeenCalledWith('edgeplan: a decision of shop.localhost:', fault);
});

test('a scheme is read with the colon of a URL object too', () => {
  const { explain } = loadPlan(sealedPlan({}));
  const schemes = ['http', 'HTTP', 'http:', 'https', 'https:'].map(
    (scheme) => explain({ ...ATTACK, scheme }).facts?.scheme,
  );
  expect(schemes).toEqual(['http', 'http', 'http', 'https', 'https']);
});
