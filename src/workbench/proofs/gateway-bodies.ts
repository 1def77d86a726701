/**
 * Which bodies one operation accepts and another refuses (semantics §15). In: an operation with the validation of its gateway, and
 * those of the other side. Out: the proof that every body of the one is one of the other, or bodies to try.
 */
import type { GatewayOperation } from '../../rules/model/gateway/operations.ts';
import { type Validation, validationOf } from '../../rules/model/gateway/validation.ts';
import type { GatewayRule } from '../../rules/model/types.ts';
import { sampleValues } from './body-samples.ts';
import { isIncluded } from './schema-inclusion.ts';

/** An operation of a gateway, `null` for requests without one, and how its bodies are validated, `null` if they are not. */
export interface BodyTaker {
  readonly validation: Validation | null;
  readonly operation: GatewayOperation | null;
}

/** Requests that no gateway takes. */
export const NO_TAKER: BodyTaker = { validation: null, operation: null };

/** An operation of a gateway as it takes bodies. */
export function bodyTaker({ validation }: GatewayRule, operation: GatewayOperation | null): BodyTaker {
  return { validation: validationOf(validation, operation?.validation), operation };
}

/** A body to try; without text the request has no body. */
export interface SampleBody {
  /** `null`: the request has none. */
  readonly type: string | null;
  readonly text: string;
}

/** Bodies that one side may accept and the other refuse; `isProved`: no body is such a one. */
interface BodyQuestion {
  readonly isProved: boolean;
  readonly samples: readonly SampleBody[];
}

/** The answer that needs no trial. */
export const PROVED: BodyQuestion = { isProved: true, samples: [] };
const NO_BODY: SampleBody = { type: null, text: '' };
const UNTYPED: SampleBody = { type: null, text: 'x' };

/** Whether one side compares bodies and refuses some. */
export function refusesBodies({ validation, operation }: BodyTaker): boolean {
  return (
    validation !== null &&
    operation?.body !== undefined &&
    validation.on_invalid !== 'pass' &&
    (validation.on_invalid === 'block' || validation.on_uninspected === 'block')
  );
}

/** Sets what one side accepts against what the other refuses. */
export function compareBodies(own: BodyTaker, other: BodyTaker): BodyQuestion {
  if (!refusesBodies(other)) return PROVED;
  const parts = typesOf(own, other).map((type) => compareType(type, own, other));
  const missing =
    blocks(other) &&
    other.operation!.body!.required === true &&
    !(blocks(own) && own.operation!.body!.required === true);
  // A body without a type is of no entry.
  const untyped = blocks(other) && !blocks(own);
  const first = [...(missing ? [NO_BODY] : []), ...(untyped ? [UNTYPED] : [])];
  return {
    isProved: first.length === 0 && parts.every((part) => part.isProved),
    samples: [...first, ...parts.flatMap((part) => part.samples)],
  };
}

/** Whether bodies that the operation does not describe are refused. */
function blocks(taker: BodyTaker): boolean {
  return refusesBodies(taker) && taker.validation!.on_invalid === 'block';
}

type Content = NonNullable<GatewayOperation['body']>['content'];

function contentOf({ operation }: BodyTaker): Content {
  return operation?.body?.content ?? [];
}

/** A type of each kind that the two sides distinguish: each that one names, another of each range, and another one. */
function typesOf(own: BodyTaker, other: BodyTaker): readonly string[] {
  const named = [...contentOf(own), ...contentOf(other)].map(({ type }) => type.toLowerCase());
  const others = named.map((type) => `${type.slice(0, type.indexOf('/'))}/x-other`);
  return [
    ...new Set([
      ...named.filter((type) => !type.endsWith('*')),
      ...others.filter((type) => !type.startsWith('*')),
      OTHER,
    ]),
  ];
}

/** A type that no operation names. */
const OTHER = 'x-other/x-other';

/** The entry of a type, the most exact one, as nodes find it. */
function entryOf(taker: BodyTaker, type: string): Content[number] | null {
  const ranges = [type, `${type.slice(0, type.indexOf('/'))}/*`, '*/*'];
  const content = contentOf(taker);
  return ranges.flatMap((range) => content.find((one) => one.type.toLowerCase() === range) ?? [])[0] ?? null;
}

/** Compares bodies of one type. */
function compareType(type: string, own: BodyTaker, other: BodyTaker): BodyQuestion {
  const mine = blocks(own) ? entryOf(own, type) : ANYTHING;
  if (mine === null) return PROVED;
  const texts =
    mine.schema === undefined ? PLAIN : sampleValues(mine.schema).map((value) => JSON.stringify(value));
  const samples = texts.map((text) => ({ type, text }));
  const theirs = entryOf(other, type);
  if (theirs === null) return blocks(other) ? { isProved: false, samples } : PROVED;
  const further = uninspected({ type, text: texts[0] ?? '{}' }, own, other);
  const isWithin =
    !blocks(other) ||
    theirs.schema === undefined ||
    (mine.schema !== undefined && isIncluded(mine.schema, theirs.schema));
  return {
    isProved: isWithin && further.length === 0,
    samples: [...(isWithin ? [] : samples), ...further],
  };
}

/** An entry that takes every body. */
const ANYTHING: Content[number] = { type: '*/*' };
/** Bodies of which none is valid for every schema. */
const PLAIN: readonly string[] = ['x', '{}', '[]', '1', '"x"', 'null'];

/** Bodies that the own side accepts although the other cannot read them whole: longer ones, and deeper ones. */
function uninspected(sample: SampleBody, own: BodyTaker, other: BodyTaker): readonly SampleBody[] {
  const [mine, theirs] = [own.validation, other.validation!];
  if (theirs.on_uninspected !== 'block') return [];
  const entries = [own, other].map((taker) => entryOf(taker, sample.type!));
  const [isRead, isReadThere] = entries.map((entry) => entry?.schema !== undefined);
  // What the own side does not describe, it may forward unread.
  const isMet = entries[0] !== null && (blocks(own) ? isRead || !isReadThere : !isRead && !isReadThere);
  const isStrict = refusesBodies(own) && mine?.on_uninspected === 'block' && isMet;
  if (isStrict && mine.body_cap_kb <= theirs.body_cap_kb) return [];
  const longer = { ...sample, text: sample.text.padEnd(theirs.body_cap_kb * 1024 + 1) };
  return isStrict ? [longer] : [longer, { ...sample, text: '['.repeat(DEEP) + ']'.repeat(DEEP) }];
}

/** Deeper than any body that is read. */
const DEEP = 64;
