/**
 * The cases of `fixtures/cases/*.json`: one rule set each, and the requests that are sent to it in order. Every path
 * that decides (oracle, plan, trace) must give what they expect; state carries over from step to step.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';

export interface Step {
  /** What the step shows, as a sentence's worth of text. */
  readonly note: string;
  /** Fields that differ from the case's own request. */
  readonly request: Readonly<Record<string, unknown>>;
  /** Fields of the decision (or of the error page's answer) that must be so; what is not named may be anything. */
  readonly expect: Readonly<Record<string, unknown>>;
  /** The request is sent this many times and must get the same answer each time. */
  readonly repeat?: number;
  /** The status of the response to the decision, reported once it is made. */
  readonly status?: number;
  /** What the response states of rate limits (`null`: nothing). */
  readonly fields?: { readonly policy: string; readonly limit: string } | null;
  /** Ask for the page of this status instead of a decision. */
  readonly errorPage?: { readonly status: number; readonly madeBy: 'edge' | 'origin' };
}

export interface Case {
  readonly file: string;
  readonly description: string;
  /** In the API's own field names, as a customer sends it. */
  readonly ruleSet: unknown;
  readonly env: CaseEnv;
  readonly request: Readonly<Record<string, unknown>>;
  readonly steps: readonly Step[];
}

/** What a decision rests on besides rules and request. An origin is `<pool rule id>/<index>`. */
interface CaseEnv {
  readonly nodeId?: number;
  readonly down?: readonly string[];
  readonly inFlight?: Readonly<Record<string, number>>;
}

const FOLDER = new URL('../../fixtures/cases/', import.meta.url);

/** Every case, in the order of the file names. */
export function readCases(): readonly Case[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.json'));
  return files.sort().map((file) => {
    const read = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'));
    return { file, env: {}, ...read };
  });
}

/** The world of a case, in the form the oracle and the evaluator both take. */
export function worldOf({ env }: Case) {
  const { nodeId = null, down = [], inFlight = {} } = env;
  return {
    nodeId,
    healthy: (pool: number, origin: number) => !down.includes(`${pool}/${origin}`),
    inFlight: (pool: number, origin: number) => inFlight[`${pool}/${origin}`] ?? 0,
  };
}

/** A target too long to write down: `text`, then `fill` until the whole has `to` UTF-16 units. */
interface LongTarget {
  readonly text: string;
  readonly fill: string;
  readonly to: number;
}

function isLong(target: unknown): target is LongTarget {
  return typeof target === 'object' && target !== null && 'fill' in target;
}

/** A step's request: the case's own fields, the step's on top. Fields may hold anything at all. */
export function requestOf(of: Case, step: Step): EdgeRequest {
  const fields: Record<string, unknown> = { ...of.request, ...step.request };
  const { target } = fields;
  if (isLong(target)) fields['target'] = target.text.padEnd(target.to, target.fill);
  return fields as unknown as EdgeRequest;
}

/** Every place where `actual` is not what `expected` names, as lines of text. Lists must have the same length. */
export function differences(expected: unknown, actual: unknown, path = ''): readonly string[] {
  if (typeof expected !== 'object' || expected === null) {
    const same = Object.is(expected, actual);
    return same ? [] : [`${path}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`];
  }
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual) !== Array.isArray(expected)) {
    return [`${path}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`];
  }
  if (Array.isArray(expected) && expected.length !== (actual as readonly unknown[]).length) {
    return [`${path}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`];
  }
  const held = actual as Readonly<Record<string, unknown>>;
  return Object.entries(expected).flatMap(([key, value]) =>
    differences(value, held[key], path === '' ? key : `${path}.${key}`),
  );
}
