/** An API behind a gateway: its operations, its consumers with a key each, and requests that they send. */
import { createHash } from 'node:crypto';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import type { RuleSet } from '../../src/rules/model/types.ts';
import { type Random, seeded } from '../../test/support/generate-random.ts';
import { flat } from './requests.ts';
import { address, DOMAIN } from './words.ts';
import { ruleSetOf, type WrittenRule } from './written.ts';

const HOST = `api.${DOMAIN}`;
const BASE = '/v1';
/** The header of keys. */
const KEY_HEADER = 'x-api-key';
const METHODS = ['GET', 'PUT', 'DELETE'] as const;

/** The text of the key of consumer `at`. */
export function keyOf(at: number): string {
  return `epk_${createHash('sha256').update(`bench ${at}`).digest('base64url')}`;
}

/** SHA-256 of a key, as nodes look it up. */
export function digestOf(key: string): Uint8Array {
  return createHash('sha256').update(key).digest();
}

/** The registry of `count` consumers with a key each, as a customer writes it. */
export function consumers(count: number): Readonly<Record<string, readonly object[]>> {
  return {
    usage_plans: [{ name: 'standard', throttle: { rate: 1_000_000, burst: 0 } }],
    consumers: Array.from({ length: count }, (_, at) => ({
      username: `consumer-${at}`,
      usage_plan: 'standard',
      scopes: ['read'],
      keys: [{ sha256: Buffer.from(digestOf(keyOf(at))).toString('hex') }],
    })),
  };
}

/** An API of `operations`, three methods a template, half of the templates below the others. */
interface ApiInput {
  readonly operations: number;
  /** Whether a gateway is in front of it; otherwise nothing is. */
  readonly gateway: boolean;
}

/** Consumers of the API, who send its requests by turns. */
const CONSUMERS = 100;

/** The rule set of an API. */
export function api({ operations, gateway }: ApiInput): RuleSet {
  const rule: WrittenRule = {
    type: 'gateway',
    name: 'api',
    base_path: BASE,
    auth: { api_key: { sources: [{ in: 'header', name: KEY_HEADER }] } },
    operations: Array.from({ length: operations }, (_, at) => operationOf(at)),
  };
  return ruleSetOf({
    domain: DOMAIN,
    records: ['@', 'api'],
    rules: gateway ? [rule] : [],
    ...(gateway ? { registry: consumers(CONSUMERS) } : {}),
  });
}

/** The template of operation `at`; every third one is the first of a resource. */
function templateOf(at: number): string {
  const resource = Math.floor(at / METHODS.length);
  return resource % 2 === 0
    ? `/resource-${resource}/{id}`
    : `/resource-${resource - 1}/{id}/part-${resource}/{part}`;
}

function operationOf(at: number): object {
  const method = METHODS[at % METHODS.length]!;
  return {
    ...{ operation_id: `operation${at}`, methods: [method], path: templateOf(at) },
    ...(method === 'GET' ? { scopes: ['read'] } : {}),
  };
}

/** Requests of consumers to the first `operations` of an API, with the identity that a node finds. */
export function apiRequests(operations: number, pool: number): readonly EdgeRequest[] {
  const random: Random = seeded(29);
  return Array.from({ length: pool }, () => {
    const at = random.int(operations);
    const path = templateOf(at).replaceAll(/\{[a-z]+\}/g, () => random.int(1e9).toString(36));
    const consumer = random.int(CONSUMERS);
    return {
      ...{ scheme: 'https', method: METHODS[at % METHODS.length]!, host: flat(HOST) },
      target: flat(BASE + path),
      headers: { [KEY_HEADER]: flat(keyOf(consumer)), accept: 'application/json' },
      ip: flat(address(random)),
      identity: { consumer: flat(`consumer-${consumer}`), verified: ['api_key'] },
    };
  });
}
