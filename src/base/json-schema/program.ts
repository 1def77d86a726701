/**
 * What a JSON Schema compiles to: data that `validate.ts` interprets. The compiler of plans and the evaluator share this contract.
 */
import { type Decimal, decimalOf, exact, numberKey } from './decimal.ts';
import type { JsonValue } from './read-value.ts';

/** The kinds of values, by the bits of a `type` step. */
export const VALUE_KINDS = ['null', 'boolean', 'string', 'number', 'integer', 'array', 'object'] as const;

/** Nodes of a program; the first is the schema of the body. A node is valid if all of its steps are. */
export type SchemaProgram = readonly (readonly SchemaStep[])[];

/** Numbers of nodes are indexes in the program; -1: every value is valid. Numbers of patterns are those of the plan. */
export type SchemaStep =
  | readonly ['never']
  /** Bits by VALUE_KINDS. */
  | readonly ['type', number]
  /** Keys of the values (`valueKey`). */
  | readonly ['enum', readonly string[]]
  | readonly ['minimum' | 'maximum' | 'exclusiveMinimum' | 'exclusiveMaximum' | 'multipleOf', number]
  | readonly [CountKeyword, number]
  | readonly ['pattern', number]
  | readonly ['uniqueItems']
  /** Nodes of the first items, and of the others. */
  | readonly ['items', readonly number[], number]
  /** A node, the least and the most items that match it; -1: any number. */
  | readonly ['contains', number, number, number]
  /** Nodes by name, by pattern of the name, and of the other members. */
  | readonly ['properties', readonly NamedNode[], readonly (readonly [number, number])[], number]
  | readonly ['propertyNames', number]
  | readonly ['required', readonly string[]]
  | readonly ['dependentRequired', readonly (readonly [string, readonly string[]])[]]
  | readonly ['dependentSchemas', readonly NamedNode[]]
  | readonly ['allOf' | 'anyOf' | 'oneOf', readonly number[]]
  | readonly ['not', number]
  /** Nodes of `if`, `then` and `else`. */
  | readonly ['if', number, number, number];

/** A name with its node. */
export type NamedNode = readonly [name: string, node: number];

/** Keywords that bound a count. */
export const COUNT_KEYWORDS = [
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const;
/** One of COUNT_KEYWORDS. */
export type CountKeyword = (typeof COUNT_KEYWORDS)[number];

/**
 * A text that two values have in common if they are equal (JSON Schema Core 2020-12 §4.2.2). `spend` is called with the steps for each
 * value: its text costs more than a comparison, and the members of an object are sorted.
 */
export function valueKey(value: JsonValue, spend: (steps: number) => void): string {
  if (typeof value === 'string') {
    spend(KEY_STEPS + (value.length >> 4));
    return JSON.stringify(value);
  }
  spend(KEY_STEPS);
  if (typeof value === 'number') return numberKey(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (isList(value)) return `[${value.map((entry) => valueKey(entry, spend)).join()}]`;
  if (!isMap(value)) {
    spend(value.length);
    return numberKey(value);
  }
  const members = [...value].map(([name, member]) => {
    spend(2 * KEY_STEPS + (name.length >> 4));
    return `${JSON.stringify(name)}:${valueKey(member, spend)}`;
  });
  return `{${members.sort().join()}}`;
}

/** Steps for the key of a value, without its characters. */
const KEY_STEPS = 3;

/** Whether a value is a list. */
export function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Whether a value is an object. */
export function isMap(value: JsonValue): value is ReadonlyMap<string, JsonValue> {
  return value instanceof Map;
}

/** Parsed JSON of a schema as a value. */
export function valueFrom(parsed: unknown): JsonValue {
  if (typeof parsed === 'number') return exactOf(parsed);
  if (Array.isArray(parsed)) return parsed.map(valueFrom);
  if (typeof parsed !== 'object' || parsed === null) return parsed as JsonValue;
  return new Map(Object.entries(parsed).map(([name, member]) => [name, valueFrom(member)]));
}

/** A number of a schema. */
export function exactOf(value: number): number | Decimal {
  return exact(decimalOf(value));
}
