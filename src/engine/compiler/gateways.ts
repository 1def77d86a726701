/**
 * Gateways in a plan (layout: GATEWAY_FIELDS in `engine/plan/layout.ts`). In: a rule as the model made it. Out: the offset of its
 * fields in `words`, and the words printed.
 */
import { assert } from '../../base/diagnostics/assert.ts';
import { compileSchema } from '../../base/json-schema/compile-schema.ts';
import { rewritePattern } from '../../base/json-schema/ecma-pattern.ts';
import type { SchemaProgram } from '../../base/json-schema/program.ts';
import {
  AUTH_REQUIREMENTS,
  CREDENTIAL_PLACES,
  OPERATION_SOURCES,
  UNKNOWN_OPERATION_MODES,
  VALIDATION_MODES,
} from '../../base/vocabulary/vocabulary.ts';
import { readAuthorities } from '../../rules/model/gateway/client-certificates.ts';
import { type Validation, validationOf } from '../../rules/model/gateway/validation.ts';
import { parseHeaderValue } from '../../rules/model/header-values.ts';
import type { RegistryNames } from '../../rules/model/registry/registry.ts';
import { upstreamEntries } from '../../rules/model/rules/gateway.ts';
import type { HeaderEntry } from '../../rules/model/rules/headers.ts';
import type { CorsSettings, GatewayOperation, GatewayRule, Rule } from '../../rules/model/types.ts';
import {
  BODY,
  BODY_CONTENT,
  CORS,
  decodeString,
  FLAG,
  GATEWAY_FIELDS,
  GATEWAY_OPTIONS,
  KEY_SOURCE,
  META,
  NONE,
  OPERATION,
  OPERATION_SETTING,
  OPERATION_SETTINGS,
  type Plan,
  SLOT,
  THROTTLE,
  typeNumber,
  VALIDATION,
  WIDE_GATEWAYS,
} from '../plan/layout.ts';
import { gatewayBase, type PlanDraft, placeString, placeWords } from './draft.ts';
import { placeChanges, printChanges } from './header-changes.ts';
import { placePattern } from './patterns.ts';
import { textsAt } from './print-lists.ts';

/** Places the fields of a gateway; the plan is one that earlier readers refuse. */
export function placeGateway(draft: PlanDraft, rule: GatewayRule): number {
  draft.newest = true;
  const { auth, cors, default_plan = '', operations, upstream_headers } = rule;
  const sources = (auth.api_key?.sources ?? []).flatMap((source) => [
    CREDENTIAL_PLACES.indexOf(source.in),
    placeString(draft.strings, source.in === 'header' ? source.name.toLowerCase() : source.name),
  ]);
  const changes = upstreamEntries(upstream_headers).map(asReplacement);
  return placeWords(draft.words, [
    placeString(draft.strings, rule.name),
    placeString(draft.strings, gatewayBase(rule)),
    optionsOf(rule),
    placeString(draft.strings, default_plan),
    placeWords(draft.words, [sources.length / KEY_SOURCE.size, ...sources]),
    placeTexts(draft, auth.jwt?.issuers ?? []),
    cors === undefined ? NONE : placeCors(draft, cors),
    placeWords(draft.words, [
      operations.length,
      ...operations.flatMap((operation) => operationRow(draft, operation)),
    ]),
    changes.length === 0 ? NONE : placeChanges(draft, changes),
    ...(draft.wideGateways ? wideWords(draft, rule) : []),
  ]);
}

/** Whether a rule is a gateway with one of the words that version 7 added; then the rows of all gateways of the plan have them. */
export function isWideGateway(rule: Rule): boolean {
  return rule.type === 'gateway' && (rule.validation !== undefined || rule.auth.mtls !== undefined);
}

/** Whether an operation of a rule has settings, which version 8 added. */
export function hasOperationSettings(rule: Rule): boolean {
  return rule.type === 'gateway' && rule.operations.some(isSet);
}

function isSet({ limits, validation }: GatewayOperation): boolean {
  return limits !== undefined || validation !== undefined;
}

/** The words from GATEWAY_FIELDS.validation on, in their order. */
function wideWords(draft: PlanDraft, rule: GatewayRule): readonly number[] {
  const words = [placeValidation(draft, rule), placeAuthorities(draft, rule)];
  return draft.operationSettings ? [...words, placeSettings(draft, rule)] : words;
}

/** What operations have of their own; NONE: nothing. */
function placeSettings(draft: PlanDraft, { operations, validation: common }: GatewayRule): number {
  if (!operations.some(isSet)) return NONE;
  const rows = operations.flatMap(({ limits, validation }) => [
    limits === undefined ? NONE : placeWords(draft.words, [limits.rate, limits.per_sec, limits.burst]),
    validation === undefined
      ? NONE
      : placeWords(draft.words, validationWords(validationOf(common, validation)!)),
  ]);
  return placeWords(draft.words, rows);
}

/** The certificates of the authorities of clients as DER in Base64; NONE: the gateway takes no client certificates. */
function placeAuthorities(draft: PlanDraft, { auth }: GatewayRule): number {
  if (auth.mtls === undefined) return NONE;
  const read = readAuthorities(auth.mtls.ca_pem);
  assert(!('code' in read), 'the form has checked the authorities');
  return placeTexts(
    draft,
    read.map(({ base64 }) => base64),
  );
}

/** The visitor's own field of a name that says who sends the request does not go to the origin (semantics §15), even under `add`. */
function asReplacement(entry: HeaderEntry): HeaderEntry {
  return entry.op === 'add' && insertsSender(entry.value!) ? { ...entry, op: 'set' } : entry;
}

function insertsSender(value: string): boolean {
  const parsed = parseHeaderValue(value);
  return (
    parsed.ok &&
    parsed.pieces.some(
      (piece) => piece.kind === 'claim' || (piece.kind === 'variable' && piece.name === 'consumer'),
    )
  );
}

function optionsOf({ auth, on_unknown_operation }: GatewayRule): number {
  const hide = auth.api_key?.hide === true ? GATEWAY_OPTIONS.hide : 0;
  const unknown = UNKNOWN_OPERATION_MODES.indexOf(on_unknown_operation) << GATEWAY_OPTIONS.unknownShift;
  return AUTH_REQUIREMENTS.indexOf(auth.require) | hide | unknown;
}

function placeValidation(draft: PlanDraft, { validation, operations }: GatewayRule): number {
  // An operation may be validated where the gateway is not.
  const common = validation ?? (operations.some((one) => one.validation !== undefined) ? UNREAD : undefined);
  if (common === undefined) return NONE;
  const bodies = operations.map(({ body }) => (body === undefined ? NONE : placeBody(draft, body)));
  return placeWords(draft.words, [...validationWords(common), placeWords(draft.words, bodies)]);
}

/** Reads no bodies. */
const UNREAD: Validation = { on_invalid: 'pass', on_uninspected: 'pass', body_cap_kb: 1 };

/** The first three words of VALIDATION. */
function validationWords({ on_invalid, on_uninspected, body_cap_kb }: Validation): readonly number[] {
  return [VALIDATION_MODES.indexOf(on_invalid), VALIDATION_MODES.indexOf(on_uninspected), body_cap_kb];
}

function placeBody(draft: PlanDraft, { required, content }: NonNullable<GatewayOperation['body']>): number {
  const rows = content.flatMap(({ type, schema }) => [
    placeString(draft.strings, type.toLowerCase()),
    schema === undefined ? 0 : placeString(draft.strings, JSON.stringify(programOf(draft, schema))),
  ]);
  return placeWords(draft.words, [required === true ? 1 : 0, content.length, ...rows]);
}

function programOf(draft: PlanDraft, schema: unknown): SchemaProgram {
  const compiled = compileSchema(schema, (source) => {
    const rewritten = rewritePattern(source);
    assert(rewritten.ok, 'the model refuses patterns without an automaton');
    return placePattern(draft.patterns, 'path_regex', rewritten.source);
  });
  assert(compiled.ok, 'the model refuses schemas that do not compile');
  return compiled.program;
}

/** A count and strings. */
function placeTexts(draft: PlanDraft, texts: readonly string[]): number {
  return placeWords(draft.words, [texts.length, ...texts.map((text) => placeString(draft.strings, text))]);
}

function placeCors(draft: PlanDraft, cors: CorsSettings): number {
  const optional = (texts: readonly string[] | undefined): number =>
    texts === undefined ? NONE : placeTexts(draft, texts);
  return placeWords(draft.words, [
    placeTexts(draft, cors.allow_origins),
    optional(cors.allow_methods),
    optional(cors.allow_headers),
    placeTexts(draft, cors.expose_headers ?? []),
    cors.allow_credentials ? 1 : 0,
    cors.max_age_sec,
  ]);
}

function operationRow(draft: PlanDraft, operation: GatewayOperation): readonly number[] {
  const { operation_id = '', path, methods, scopes = [], tags = [], auth, source = 'manual' } = operation;
  return [
    placeString(draft.strings, operation_id),
    placeString(draft.strings, path),
    placeTexts(draft, methods),
    placeTexts(draft, scopes),
    placeTexts(draft, tags),
    auth === 'none' ? 1 : 0,
    OPERATION_SOURCES.indexOf(source),
  ];
}

/** The usage plans and token issuers that gateways of a plan name. */
export function registryNamesOf(plan: Plan): RegistryNames {
  const { meta, slots, words } = plan;
  const [usage_plans, token_issuers] = [new Set<string>(), new Set<string>()];
  for (let slot = 0; slot < meta[META.slots]!; slot++) {
    const row = slot * SLOT.size;
    if ((slots[row + SLOT.flags]! & FLAG.type) !== typeNumber('gateway')) continue;
    const at = slots[row + SLOT.fields]!;
    const usagePlan = decodeString(plan, words[at + GATEWAY_FIELDS.plan]!);
    if (usagePlan !== '') usage_plans.add(usagePlan);
    for (const issuer of textsAt(plan, words[at + GATEWAY_FIELDS.issuers]!)) token_issuers.add(issuer);
  }
  return { usage_plans, token_issuers };
}

/** The fields of a gateway, printed. */
export function printGateway(plan: Plan, at: number): Readonly<Record<string, unknown>> {
  const { words } = plan;
  const field = (offset: number): number => words[at + offset]!;
  const options = field(GATEWAY_FIELDS.options);
  const sources = field(GATEWAY_FIELDS.sources);
  const [cors, headers] = [field(GATEWAY_FIELDS.cors), field(GATEWAY_FIELDS.headers)];
  const operations = field(GATEWAY_FIELDS.operations);
  const usagePlan = decodeString(plan, field(GATEWAY_FIELDS.plan));
  const isWide = (plan.meta[META.switches]! & WIDE_GATEWAYS) !== 0;
  const clients = isWide ? field(GATEWAY_FIELDS.clients) : NONE;
  const validation = isWide ? field(GATEWAY_FIELDS.validation) : NONE;
  const hasSettings = (plan.meta[META.switches]! & OPERATION_SETTINGS) !== 0;
  const settings = hasSettings ? field(GATEWAY_FIELDS.settings) : NONE;
  return {
    name: decodeString(plan, field(GATEWAY_FIELDS.name)),
    base_path: decodeString(plan, field(GATEWAY_FIELDS.base)) || '/',
    require: AUTH_REQUIREMENTS[options & GATEWAY_OPTIONS.require],
    api_key: Array.from({ length: words[sources]! }, (_, index) => {
      const row = sources + 1 + index * KEY_SOURCE.size;
      const name = decodeString(plan, words[row + KEY_SOURCE.name]!);
      return `${CREDENTIAL_PLACES[words[row + KEY_SOURCE.place]!]}:${name}`;
    }),
    hide: (options & GATEWAY_OPTIONS.hide) !== 0,
    issuers: textsAt(plan, field(GATEWAY_FIELDS.issuers)),
    ...(clients === NONE ? {} : { client_authorities: textsAt(plan, clients) }),
    on_unknown_operation:
      UNKNOWN_OPERATION_MODES[(options & GATEWAY_OPTIONS.unknown) >> GATEWAY_OPTIONS.unknownShift],
    ...(usagePlan === '' ? {} : { default_plan: usagePlan }),
    ...(cors === NONE ? {} : { cors: printCors(plan, cors) }),
    operations: Array.from({ length: words[operations]! }, (_, index) => ({
      ...printOperation(plan, operations + 1 + index * OPERATION.size),
      ...(settings === NONE ? {} : printSettings(plan, settings + index * OPERATION_SETTING.size)),
    })),
    ...(validation === NONE ? {} : { validation: printValidation(plan, validation, words[operations]!) }),
    ...(headers === NONE ? {} : { upstream_headers: printChanges(plan, headers).request }),
  };
}

function printValidation(plan: Plan, at: number, operations: number): Readonly<Record<string, unknown>> {
  const { words } = plan;
  const bodies = words[at + VALIDATION.bodies]!;
  return {
    ...printModes(plan, at),
    bodies: Array.from({ length: operations }, (_, index) => printBody(plan, words[bodies + index]!)),
  };
}

function printModes({ words }: Plan, at: number): Readonly<Record<string, unknown>> {
  return {
    on_invalid: VALIDATION_MODES[words[at + VALIDATION.invalid]!],
    on_uninspected: VALIDATION_MODES[words[at + VALIDATION.uninspected]!],
    body_cap_kb: words[at + VALIDATION.cap],
  };
}

function printSettings(plan: Plan, row: number): Readonly<Record<string, unknown>> {
  const { words } = plan;
  const [throttle, validation] = [
    words[row + OPERATION_SETTING.throttle]!,
    words[row + OPERATION_SETTING.validation]!,
  ];
  const word = (offset: number): number => words[throttle + offset]!;
  const [rate, per_sec, burst] = [word(THROTTLE.rate), word(THROTTLE.perSec), word(THROTTLE.burst)];
  return {
    ...(throttle === NONE ? {} : { limits: { rate, per_sec, burst } }),
    ...(validation === NONE ? {} : { validation: printModes(plan, validation) }),
  };
}

function printBody(plan: Plan, at: number): Readonly<Record<string, unknown>> | null {
  if (at === NONE) return null;
  const { words } = plan;
  const content = Array.from({ length: words[at + BODY.count]! }, (_, index) => {
    const row = at + BODY.content + index * BODY_CONTENT.size;
    const schema = decodeString(plan, words[row + BODY_CONTENT.schema]!);
    return {
      type: decodeString(plan, words[row + BODY_CONTENT.type]!),
      ...(schema === '' ? {} : { schema }),
    };
  });
  return { required: words[at + BODY.required] === 1, content };
}

function printCors(plan: Plan, at: number): Readonly<Record<string, unknown>> {
  const { words } = plan;
  const optional = (name: string, offset: number): Readonly<Record<string, unknown>> =>
    words[at + offset] === NONE ? {} : { [name]: textsAt(plan, words[at + offset]!) };
  return {
    allow_origins: textsAt(plan, words[at + CORS.origins]!),
    ...optional('allow_methods', CORS.methods),
    ...optional('allow_headers', CORS.allowed),
    expose_headers: textsAt(plan, words[at + CORS.exposed]!),
    allow_credentials: words[at + CORS.credentials] === 1,
    max_age_sec: words[at + CORS.maxAge],
  };
}

function printOperation(plan: Plan, row: number): Readonly<Record<string, unknown>> {
  const { words } = plan;
  const id = decodeString(plan, words[row + OPERATION.id]!);
  const path = decodeString(plan, words[row + OPERATION.path]!);
  return {
    operation: `${textsAt(plan, words[row + OPERATION.methods]!).join(',')} ${path}`,
    ...(id === '' ? {} : { operation_id: id }),
    scopes: textsAt(plan, words[row + OPERATION.scopes]!),
    tags: textsAt(plan, words[row + OPERATION.tags]!),
    auth: words[row + OPERATION.open] === 1 ? 'none' : 'required',
    source: OPERATION_SOURCES[words[row + OPERATION.source]!],
  };
}
