/** Checks the schemas of bodies of a gateway: each compiles, and all together are within the bounds of a plan. */
import { compileSchema, type PlacePattern } from '../../../base/json-schema/compile-schema.ts';
import { rewritePattern } from '../../../base/json-schema/ecma-pattern.ts';
import { EFFECTIVE_KEYWORDS } from '../../../base/json-schema/keywords.ts';
import {
  MAX_BODY_SCHEMA,
  MAX_BODY_SCHEMA_DEPTH,
  MAX_GATEWAY_SCHEMAS,
  MAX_SCHEMA_PATTERNS,
  MAX_SCHEMA_TABLES,
} from '../../../base/vocabulary/limits.ts';
import { crossCheck, type FormScope } from '../form.ts';
import { nearest } from '../nearest.ts';
import { schemaPatternOctets } from '../pattern.ts';
import type { Problem } from '../report.ts';
import type { GatewayOperation } from './operations.ts';

/** Whether bodies of a media type are JSON (RFC 8259 §11, RFC 6839 §3.1). */
export function isJsonType(type: string): boolean {
  return /^(?:application|text)\/json$|^[^*/]+\/[^*/]+\+json$/i.test(type);
}

/** Judges patterns, each once, within the budget of one gateway. */
export function createPatternJudge(): PlacePattern {
  const known = new Map<string, string | null>();
  let octets = 0;
  return (source) => {
    const earlier = known.get(source);
    if (earlier !== undefined) return earlier ?? 0;
    if (known.size >= MAX_SCHEMA_PATTERNS)
      return `is beyond the ${MAX_SCHEMA_PATTERNS} patterns that the bodies of a gateway may have`;
    const rewritten = rewritePattern(source);
    const found = rewritten.ok ? schemaPatternOctets(rewritten.source) : rewritten.reason;
    if (typeof found === 'number') octets += found;
    const isOver = octets > MAX_SCHEMA_TABLES;
    const reason = isOver
      ? 'with this pattern those of all bodies of the gateway are too large together'
      : found;
    known.set(source, typeof reason === 'string' ? reason : null);
    return typeof reason === 'string' ? reason : 0;
  };
}

/** The warning of an unknown keyword of a schema that is near one that is evaluated; `null`: it may be an annotation of a tool. */
export function misspeltKeyword(name: string): Problem | null {
  const near = nearest(name, EFFECTIVE_KEYWORDS);
  if (near === null) return null;
  const message = 'is not a keyword of JSON Schema and has no effect';
  return { code: 'schema_keyword', message, found: null, remedy: `did you mean \`${near}\`?` };
}

/** The warning of an integer that may not be the one that was written. */
export function roundedNumber(value: number): Problem {
  const message = `has a number that is read as ${BigInt(value)}: integers beyond ${Number.MAX_SAFE_INTEGER} are rounded`;
  return {
    code: 'schema_number',
    message,
    found: null,
    remedy: 'use a number of at most 15 digits, or text',
  };
}

/** The values that the check of bodies reads. */
interface BodyValues {
  readonly operations: readonly GatewayOperation[];
}

/** Refuses schemas that do not compile, that are too large, or that are of types that are not read. */
export const bodySchemas = crossCheck<BodyValues>(['operations'], ({ operations }, scope) => {
  const placePattern = createPatternJudge();
  const known = new Set<string>();
  let total = 0;
  for (const [index, { body, source }] of operations.entries()) {
    for (const [place, { type, schema }] of (body?.content ?? []).entries()) {
      if (schema === undefined) continue;
      if (scope.full()) return;
      const path = ['operations', index, 'body', 'content', place, 'schema'];
      const text = JSON.stringify(schema);
      const problem = outerProblem(type, schema, text.length);
      if (problem !== null) scope.error(path, { code: 'body_schema', ...problem });
      else if (!known.has(text)) {
        known.add(text);
        total += text.length;
        reportSchema(schema, path, { scope, placePattern, isOfDocument: source === 'schema' });
      }
    }
  }
  if (total <= MAX_GATEWAY_SCHEMAS) return;
  const message = `must have schemas of at most ${MAX_GATEWAY_SCHEMAS} characters of JSON together`;
  const remedy = 'divide the operations among several gateways';
  scope.error(['operations'], { code: 'body_schema', message, found: `${total}`, remedy });
});

/** The problem of a schema before it is read; `null`: it has none. */
function outerProblem(type: string, schema: unknown, length: number): Omit<Problem, 'code'> | null {
  if (!isJsonType(type)) {
    const message = 'is of a type that is not read: values are compared of types of JSON alone';
    return { message, found: null, remedy: 'remove it' };
  }
  const remedy = 'leave parts of it out';
  if (length > MAX_BODY_SCHEMA)
    return { message: `must be at most ${MAX_BODY_SCHEMA} characters of JSON`, found: `${length}`, remedy };
  if (!isDeeper(schema, MAX_BODY_SCHEMA_DEPTH)) return null;
  return { message: `must be nested at most ${MAX_BODY_SCHEMA_DEPTH} deep`, found: null, remedy };
}

/** Whether lists and objects of a value are inside one another at more levels. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1));
}

interface SchemaReporting {
  readonly scope: FormScope;
  readonly placePattern: PlacePattern;
  /** It is of an OpenAPI document, whose reading has reported its numbers at their places. */
  readonly isOfDocument: boolean;
}

function reportSchema(
  schema: unknown,
  path: readonly (string | number)[],
  { scope, placePattern, isOfDocument }: SchemaReporting,
): void {
  const compiled = compileSchema(schema, placePattern);
  for (const below of compiled.unknown) {
    const problem = misspeltKeyword(String(below.at(-1)));
    if (problem !== null) scope.warn([...path, ...below], problem);
  }
  if (!isOfDocument)
    for (const { path: below, value } of compiled.rounded)
      scope.warn([...path, ...below], roundedNumber(value));
  if (compiled.ok) return;
  for (const { path: below, message, remedy } of compiled.problems) {
    const problem = { code: 'body_schema', message, found: null } as const;
    scope.error([...path, ...below], remedy === undefined ? problem : { ...problem, remedy });
  }
}
