/**
 * Gateways: a key among 10,000, an operation among 900 beside one among 9, what a gateway adds to a decision, a body of 2 KB beside
 * generated code, and how long after its revocation nodes take a key.
 */
import { Buffer } from 'node:buffer';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { compileSchema } from '../src/base/json-schema/compile-schema.ts';
import { readValue } from '../src/base/json-schema/read-value.ts';
import { openProgram } from '../src/base/json-schema/validate.ts';
import { sealRegistry } from '../src/engine/compiler/seal-registry.ts';
import { type OpenedRegistry, openRegistry } from '../src/engine/plan/open-registry.ts';
import type { RuleSet } from '../src/rules/model/types.ts';
import { ORDER_SCHEMA, orders } from './data/bodies.ts';
import { api, apiRequests, consumers, digestOf, keyOf } from './data/gateways.ts';
import { POOL, QUICK_POOL } from './data/requests.ts';
import { ruleSetOf } from './data/written.ts';
import { agree, answerOf } from './harness/answer.ts';
import { callSide, evaluateSide, evaluatorOf } from './harness/evaluate.ts';
import { race, type Side, timesText } from './harness/race.ts';
import { measureRevocations } from './revocations.ts';
import type { BenchOptions, Row } from './row.ts';

const KEYS = 10_000;
const QUICK_KEYS = 100;
const MANY_OPERATIONS = 900;
const FEW_OPERATIONS = 9;
const BODIES = 64;

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  const pool = options.quick ? QUICK_POOL : POOL;
  return [
    ...(await keyRows(options)),
    await operationsRow(pool, options),
    await gatewayRow(pool, options),
    ...(await bodyRows(options)),
    ...(await measureRevocations(options)),
  ];
}

/** The registry of so many consumers with a key each, as a node opens it. */
function registryOf(count: number): OpenedRegistry {
  const { registry } = ruleSetOf({
    domain: 'shop.example',
    records: [],
    rules: [],
    registry: consumers(count),
  });
  if (registry === undefined || 'digest' in registry) throw new Error('the bench wrote no registry');
  return openRegistry(sealRegistry(registry));
}

/** The look-up by digest, beside a `Map` of digests in hex, which a program without registries would have. */
async function keyRows(options: BenchOptions): Promise<readonly Row[]> {
  const count = options.quick ? QUICK_KEYS : KEYS;
  const registry = registryOf(count);
  const names = new Map<string, string>();
  // Every fourth key is no consumer's.
  const digests = Array.from({ length: count }, (_, at) => digestOf(keyOf(at % 4 === 3 ? at + count : at)));
  for (let at = 0; at < count; at++) names.set(hexOf(digestOf(keyOf(at))), `consumer-${at}`);
  for (const digest of digests) {
    const [ours, other] = [registry.key(digest)?.consumer.username, names.get(hexOf(digest))];
    if (ours !== other) throw new Error(`the sides disagree on a key: ${ours}, ${other}`);
  }
  const ours = callSide('registry', digests, (digest) => registry.key(digest)?.consumer.username);
  const map = callSide('Map', digests, (digest) => names.get(hexOf(digest)));
  const result = await race(ours, map, options);
  const note = `a quarter of ${count.toLocaleString('en-US')} digests are of no key; ${timesText(ours, map, result)}`;
  return [
    {
      name: 'the consumer of a key among 10,000',
      value: result.a / 1_000,
      goal: { atMost: 1 },
      unit: 'µs',
      note,
    },
    { name: 'the same ÷ a Map of digests in hex', value: result.ratio, goal: null, unit: '×', note },
  ];
}

function hexOf(digest: Uint8Array): string {
  return Buffer.from(digest.buffer, digest.byteOffset, digest.length).toString('hex');
}

/** Requests to operations that both APIs have. */
async function operationsRow(pool: number, options: BenchOptions): Promise<Row> {
  const requests = apiRequests(FEW_OPERATIONS, pool);
  const [many, few] = [MANY_OPERATIONS, FEW_OPERATIONS].map((operations) =>
    evaluatorOf(api({ operations, gateway: true })),
  ) as [ReturnType<typeof evaluatorOf>, ReturnType<typeof evaluatorOf>];
  await agree(requests, {
    names: [`${MANY_OPERATIONS} operations`, `${FEW_OPERATIONS}`],
    a: (request) => answerOf(many.evaluate(request)),
    b: (request) => answerOf(few.evaluate(request)),
  });
  const sides = [
    evaluateSide(`${MANY_OPERATIONS} operations`, many, requests),
    evaluateSide(`${FEW_OPERATIONS} operations`, few, requests),
  ] as const;
  return rowOf('evaluate, a gateway of 900 operations ÷ one of 9', { atMost: 1.5 }, sides, options);
}

/** What a gateway adds: operation, consumer, scopes, a usage plan that counts. */
async function gatewayRow(pool: number, options: BenchOptions): Promise<Row> {
  const requests = apiRequests(MANY_OPERATIONS, pool);
  const evaluatorBy = (gateway: boolean) =>
    evaluatorOf(api({ operations: MANY_OPERATIONS, gateway }) satisfies RuleSet);
  const [guarded, open] = [evaluatorBy(true), evaluatorBy(false)];
  for (const request of requests) {
    const [ours, other] = [guarded.evaluate(request).action, open.evaluate(request).action];
    if (ours !== 'forward' || other !== 'forward')
      throw new Error(`a request was not admitted: ${ours}, ${other}`);
  }
  const sides = [
    evaluateSide('with a gateway', guarded, requests),
    evaluateSide('without', open, requests),
  ] as const;
  return rowOf('evaluate, admitted by a gateway ÷ no gateway', null, sides, options);
}

/** The schema of a body, beside the code that ajv generates of it and `JSON.parse`. */
async function bodyRows(options: BenchOptions): Promise<readonly Row[]> {
  const isValid = new Ajv2020().compile(ORDER_SCHEMA);
  const compiled = compileSchema(ORDER_SCHEMA, () => 'has no patterns');
  if (!compiled.ok) throw new Error(`the schema does not compile: ${compiled.problems[0]?.message}`);
  const validate = openProgram(compiled.program, () => false);
  const opened = (text: string) => {
    const octets = Buffer.from(text);
    const read = readValue(octets);
    if (!read.ok) throw new Error(`a body is not read: ${read.detail}`);
    return { octets, value: read.value, parsed: JSON.parse(text) as unknown };
  };
  const [valid, invalid] = [orders(BODIES, true).map(opened), orders(BODIES, false).map(opened)];
  for (const { octets, value, parsed } of [...valid, ...invalid])
    if ((validate(value, octets.length)?.length === 0) !== isValid(parsed))
      throw new Error(`the sides disagree on a body: ${octets.toString()}`);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  return [
    await rowOf(
      'validate a body of 2 KB ÷ the code that ajv generates',
      { atMost: 3 },
      [
        callSide('program', valid, ({ value, octets }) => validate(value, octets.length)),
        callSide('ajv', valid, ({ parsed }) => isValid(parsed)),
      ],
      options,
    ),
    await rowOf(
      'read and validate it ÷ TextDecoder, JSON.parse and ajv',
      null,
      [
        callSide('readValue', valid, ({ octets }) => {
          const read = readValue(octets);
          return read.ok && validate(read.value, octets.length);
        }),
        callSide('JSON.parse', valid, ({ octets }) => isValid(JSON.parse(decoder.decode(octets)))),
      ],
      options,
    ),
  ];
}

async function rowOf(
  name: string,
  goal: Row['goal'],
  [a, b]: readonly [Side, Side],
  options: BenchOptions,
): Promise<Row> {
  const result = await race(a, b, options);
  return { name, value: result.ratio, goal, unit: '×', note: timesText(a, b, result) };
}
