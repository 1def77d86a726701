/**
 * What gateways distinguish in requests (semantics §15), as boxes: preflights, the operations of each path by method, paths and
 * methods without an operation. In: the gateways of a rule set. Out: the cells of each, whose filters are rules of another plan, so
 * that they are boxes of the same space, and what a cell leaves out.
 */
import { parseTemplate, type TemplateSegment, templateShape } from '../../base/paths/path-template.ts';
import { gatewayBase } from '../../engine/compiler/draft.ts';
import type { GatewayOperation } from '../../rules/model/gateway/operations.ts';
import { parseRule } from '../../rules/model/parse.ts';
import type { GatewayRule, Rule } from '../../rules/model/types.ts';

/** Requests that a gateway treats alike, whatever their credentials are. */
export interface GatewayCell {
  readonly kind: 'preflight' | 'operation' | 'unknown_method' | 'unknown_path';
  /** `null`: no operation describes the requests, or the gateway has none. */
  readonly operation: GatewayOperation | null;
  /** Number of the rule whose filters the cell has; `null`: it has no filter, or one that is no rule. */
  readonly rule: number | null;
  /** Numbers of the rules whose requests are in other cells; those whose filter is no rule are left out. */
  readonly without: readonly number[];
}

/** A gateway with its cells. */
export interface DividedGateway {
  readonly gateway: GatewayRule;
  readonly cells: readonly GatewayCell[];
}

/** The cells of gateways, and the rules with their filters, numbered from 1. */
export interface GatewayCells {
  readonly gateways: readonly DividedGateway[];
  readonly rules: readonly Rule[];
}

/** Divides the gateways of rule sets. */
export function divideGateways(gateways: readonly GatewayRule[]): GatewayCells {
  const rules: Rule[] = [];
  const place = (filter: object): number | null => {
    // Cache rules take a path with `;params` as gateways take the path of an operation: in both forms.
    const parsed = parseRule('cache', { mode: 'bypass', ...filter });
    if (!parsed.ok) return null;
    return rules.push({ ...parsed.fields, type: 'cache', id: rules.length + 1 } as Rule);
  };
  return { gateways: gateways.map((gateway) => ({ gateway, cells: cellsOf(gateway, place) })), rules };
}

type Place = (filter: object) => number | null;

const PREFLIGHT = {
  methods: ['OPTIONS'],
  headers: ['origin', 'access-control-request-method'].map((name) => ({ name, op: 'present' })),
};

function cellsOf(gateway: GatewayRule, place: Place): readonly GatewayCell[] {
  const preflight =
    gateway.cors === undefined ? null : place({ path_includes: ['/*'], conditions: PREFLIGHT });
  const others = { without: preflight === null ? [] : [preflight] };
  const first: readonly GatewayCell[] =
    gateway.cors === undefined ? [] : [{ kind: 'preflight', operation: null, rule: preflight, without: [] }];
  if (gateway.operations.length === 0)
    return [...first, { kind: 'operation', operation: null, rule: null, ...others }];
  const paths = pathsOf(gateway);
  const whole = paths.map((path) => place(pathFilter(gateway, path, paths)));
  const cells = paths.flatMap((path) => {
    const filter = pathFilter(gateway, path, paths);
    const ofMethods = [...new Set(path.methods.values())].map((operation): GatewayCell => {
      const methods = methodsOf(path, operation);
      const rule = place({ ...filter, conditions: { methods } });
      return { kind: 'operation', operation, rule, ...others };
    });
    const rule = place({ ...filter, conditions: { except_methods: [...path.methods.keys()] } });
    return [...ofMethods, { kind: 'unknown_method', operation: null, rule, ...others } as const];
  });
  const without = [...others.without, ...whole.filter((rule) => rule !== null)];
  return [...first, ...cells, { kind: 'unknown_path', operation: null, rule: null, without }];
}

/** A path of operations. */
interface OperationPath {
  readonly segments: readonly TemplateSegment[];
  /** The operations by method, HEAD as GET unless one lists it (RFC 9110 §9.3.2). */
  readonly methods: ReadonlyMap<string, GatewayOperation>;
}

/** The paths, the one first that is taken where several match. */
function pathsOf({ operations }: GatewayRule): readonly OperationPath[] {
  const paths = new Map<
    string,
    { segments: readonly TemplateSegment[]; methods: Map<string, GatewayOperation> }
  >();
  for (const operation of operations) {
    const parsed = parseTemplate(operation.path);
    if (!parsed.ok) continue;
    const shape = templateShape(parsed.segments);
    const known = paths.get(shape) ?? { segments: parsed.segments, methods: new Map() };
    paths.set(shape, known);
    for (const method of operation.methods) known.methods.set(method, operation);
  }
  for (const { methods } of paths.values()) {
    const get = methods.get('GET');
    if (get !== undefined && !methods.has('HEAD')) methods.set('HEAD', get);
  }
  return [...paths.values()].sort((a, b) => order(a.segments, b.segments));
}

function methodsOf({ methods }: OperationPath, operation: GatewayOperation): readonly string[] {
  return [...methods].flatMap(([method, one]) => (one === operation ? [method] : []));
}

/** Literal text goes before text around parameters, of which more literal text is first, and that before a parameter alone. */
function order(a: readonly TemplateSegment[], b: readonly TemplateSegment[]): number {
  for (const [index, { texts }] of a.entries()) {
    const other = b[index]?.texts;
    if (other === undefined) return 1;
    const byRank = rank(texts) - rank(other) || other.join('').length - texts.join('').length;
    if (byRank !== 0) return byRank;
    const [own, theirs] = [texts.join('\0'), other.join('\0')];
    if (own !== theirs) return own < theirs ? -1 : 1;
  }
  return a.length - b.length;
}

function rank(texts: readonly string[]): number {
  return texts.length === 1 ? 0 : texts.every((text) => text === '') ? 2 : 1;
}

/** The filter of a path: what its template matches, without what earlier ones match. */
function pathFilter(gateway: GatewayRule, path: OperationPath, paths: readonly OperationPath[]): object {
  const earlier = paths
    .slice(0, paths.indexOf(path))
    .filter((one) => mayOverlap(one.segments, path.segments));
  return {
    path_match_type: 'regex',
    path_includes: [patternOf(gateway, path.segments)],
    path_excludes: earlier.map(({ segments }) => patternOf(gateway, segments)),
  };
}

/** Whether requests may be of both operations, of gateways with one base path: false only if methods or a literal segment differ. */
export function mayShareRequests(a: GatewayOperation, b: GatewayOperation): boolean {
  const methodsIn = ({ methods }: GatewayOperation): readonly string[] =>
    methods.includes('GET') ? [...methods, 'HEAD'] : methods;
  if (!methodsIn(a).some((method) => methodsIn(b).includes(method))) return false;
  const [one, other] = [parseTemplate(a.path), parseTemplate(b.path)];
  return !one.ok || !other.ok || mayOverlap(one.segments, other.segments);
}

/** Whether a path may match both templates: false only if a literal segment differs. */
function mayOverlap(a: readonly TemplateSegment[], b: readonly TemplateSegment[]): boolean {
  if (a.length !== b.length) return false;
  return a.every(({ texts }, index) => {
    const other = b[index]!.texts;
    return texts.length > 1 || other.length > 1 || texts[0] === other[0];
  });
}

/** The paths of a template below the base path, as a pattern; `/` is the base path with a slash or without. */
function patternOf(gateway: GatewayRule, segments: readonly TemplateSegment[]): string {
  const base = quoted(gatewayBase(gateway));
  const below = segments.map(({ texts }) => texts.map(quoted).join('[^/]+')).join('/');
  return below === '' && base !== '' ? `^${base}/?$` : `^${base}/${below}$`;
}

/** A text as a pattern that matches it alone. */
function quoted(text: string): string {
  return text.replace(
    /[^A-Za-z0-9_\u0080-\u{10ffff}]/gu,
    (one) => `\\x{${one.codePointAt(0)!.toString(16)}}`,
  );
}
