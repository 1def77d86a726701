/**
 * OpenAPI documents of gateways: how the operations of a document become those of the gateway, and what differs. Operations of source
 * `schema` are replaced; the others stay, and one of them takes the place of an operation of the document with its method and path.
 */
import { z } from 'zod';
import {
  type Diagnostic,
  describeDiagnostic,
  diagnosticFields,
} from '../../../base/diagnostics/diagnostic.ts';
import { parseRule } from '../../../rules/model/parse.ts';
import type { GatewayOperation } from '../../../rules/model/types.ts';
import { joinOperations, operationPlaces } from '../../../rules/openapi/join-operations.ts';
import type { LocatedOperation, SchemaOperation } from '../../../rules/openapi/path-items.ts';
import type { OpenApiDocument } from '../../../rules/openapi/read-openapi.ts';
import type { RuleRow } from '../../store/tables/rules.ts';
import { bodyOf } from '../rules/show.ts';

/** What a document would change, or has changed. */
export interface SchemaChanges {
  /** All operations of the gateway with those of the document. */
  readonly operations: readonly GatewayOperation[];
  /** `GET /orders` each, as `removed` and the others. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  /** Operations of the document that one of another source replaces. */
  readonly overridden: readonly string[];
}

/** Compares the operations of a gateway with those of a document. */
export function compareSchema(
  before: readonly GatewayOperation[],
  document: readonly LocatedOperation[],
): SchemaChanges {
  const others = before.filter(({ source }) => source !== 'schema');
  const { taken, overridden } = joinOperations(
    others,
    document.map(({ operation }) => operation),
  );
  const had = new Map(
    before
      .filter(({ source }) => source === 'schema')
      .flatMap((one) => operationPlaces(one).map((place) => [place, one] as const)),
  );
  const has = new Map(taken.flatMap((one) => operationPlaces(one).map((place) => [place, one] as const)));
  const changed = [...has].filter(([place, one]) => {
    const earlier = had.get(place);
    return earlier !== undefined && contentOf(earlier) !== contentOf(one);
  });
  return {
    operations: [
      ...others,
      ...(taken as readonly GatewayOperation[]).map((one) => ({ ...settingsOf(one, had), ...one })),
    ],
    added: [...has].filter(([place]) => !had.has(place)).map(([, one]) => textOf(one)),
    removed: [...had].filter(([place]) => !has.has(place)).map(([, one]) => textOf(one)),
    changed: changed.map(([, one]) => textOf(one)),
    overridden: overridden.map(textOf),
  };
}

/** What no document has of an operation: it stays as it was. */
function settingsOf(
  operation: GatewayOperation,
  had: ReadonlyMap<string, GatewayOperation>,
): Pick<GatewayOperation, 'limits' | 'validation'> {
  const [earlier] = operationPlaces(operation).flatMap((place) => had.get(place) ?? []);
  return {
    ...(earlier?.limits === undefined ? {} : { limits: earlier.limits }),
    ...(earlier?.validation === undefined ? {} : { validation: earlier.validation }),
  };
}

/** `GET /orders/{id}`. */
function textOf({ methods, path }: Pick<GatewayOperation, 'methods' | 'path'>): string {
  return `${methods.join(',')} ${path}`;
}

/** What distinguishes two operations of one method and shape. */
function contentOf({
  operation_id,
  path,
  scopes = [],
  tags = [],
  auth,
  body,
}: GatewayOperation | SchemaOperation): string {
  return JSON.stringify([operation_id ?? null, path, scopes, tags, auth ?? null, body ?? null]);
}

const OPERATION_TEXTS = z.array(z.string()).describe('such as `GET /orders/{id}`');

const NOTE = z.object({
  severity: z.enum(['error', 'warning', 'info']),
  code: z.string(),
  path: z.string().describe('place in the document, such as `paths["/orders"].get`'),
  message: z.string(),
  found: z.string().nullable(),
  remedy: z.string().nullable(),
  line: z.int(),
  column: z.int(),
});

/** The answer about a document. */
export const SCHEMA_CHECK = z
  .object({
    valid: z.boolean().describe('whether the document can be stored; otherwise `diagnostics` has the errors'),
    openapi: z.string().nullable().describe('version of OpenAPI; null where the document is not valid'),
    base_paths: z.array(z.string()).describe('paths of `servers`: a hint for `base_path`'),
    operations: z.int().describe('how many the document describes'),
    added: OPERATION_TEXTS,
    removed: OPERATION_TEXTS,
    changed: OPERATION_TEXTS,
    overridden: OPERATION_TEXTS.describe(
      'left out, since an operation of another source has method and path',
    ),
    diagnostics: z.array(NOTE),
  })
  .meta({ id: 'GatewaySchemaCheck' });

/** The operations of a stored gateway. */
export function operationsOf(row: RuleRow): readonly GatewayOperation[] {
  return (bodyOf(row)['operations'] ?? []) as readonly GatewayOperation[];
}

/**
 * Compares a document with a gateway. Also mistakes of the two together refuse it, such as an `operationId` that an operation of
 * another source has.
 */
export function checkSchema(row: RuleRow, read: OpenApiDocument): z.output<typeof SCHEMA_CHECK> {
  if (!read.ok) return showCheck(read, null);
  const changes = compareSchema(operationsOf(row), read.operations);
  const { operations } = changes;
  const parsed = parseRule('gateway', { ...bodyOf(row), operations, priority: row.priority });
  if (parsed.ok) return showCheck(read, changes);
  const mistakes = parsed.diagnostics.map((one) => inDocument(one, operations, read.operations));
  return showCheck({ ok: false, diagnostics: [...read.diagnostics, ...mistakes] }, null);
}

/** A mistake of a gateway, at the operation of the document that it is about. */
function inDocument(
  mistake: Diagnostic,
  operations: readonly GatewayOperation[],
  document: readonly LocatedOperation[],
): Diagnostic {
  const [field, index] = mistake.path;
  if (field !== 'operations' || typeof index !== 'number') return mistake;
  const about = operations[index];
  if (about?.source !== 'schema') return mistake;
  const [place] = operationPlaces(about);
  const located = document.find(({ operation }) => operationPlaces(operation)[0] === place);
  return located === undefined ? mistake : { ...mistake, path: located.path };
}

/** The answer about a document, as it was compared with the operations of the gateway. */
export function showCheck(
  read: OpenApiDocument,
  changes: SchemaChanges | null,
): z.output<typeof SCHEMA_CHECK> {
  const { added = [], removed = [], changed = [], overridden = [] } = changes ?? {};
  return {
    valid: read.ok,
    openapi: read.ok ? read.version : null,
    base_paths: read.ok ? [...read.basePaths] : [],
    operations: read.ok ? read.operations.length : 0,
    added: [...added],
    removed: [...removed],
    changed: [...changed],
    overridden: [...overridden],
    diagnostics: read.diagnostics.map(showNote),
  };
}

function showNote(diagnostic: Diagnostic): z.output<typeof NOTE> {
  return { ...diagnosticFields(diagnostic), ...placeOf(diagnostic) } as z.output<typeof NOTE>;
}

/** The place in the text; without one, the start of the document. */
function placeOf({ at }: Diagnostic): { readonly line: number; readonly column: number } {
  return { line: at?.line ?? 1, column: at?.column ?? 1 };
}

/** Mistakes that the message of a 400 lists, at most; the number of the others follows. */
const MAX_LISTED = 20;

/** The errors of a document in one sentence, each with its line. */
export function mistakesText(diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').map(mistakeText);
  const rest = errors.length - MAX_LISTED;
  return `${errors.slice(0, MAX_LISTED).join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`;
}

function mistakeText(diagnostic: Diagnostic): string {
  const { line, column } = placeOf(diagnostic);
  return `line ${line}, column ${column}: ${describeDiagnostic(diagnostic)}`;
}
