/**
 * The operations of a gateway (semantics §15), by comparing every template with the path. In: operations, the part of a path below
 * the base path. Out: those whose template is the most literal one that matches.
 */
import type { GatewayOperation } from '../../src/rules/model/types.ts';
import { percentDecode } from './text.ts';

/** A segment of a template: the literal texts around its parameters. */
type Segment = readonly string[];

function segmentsOf(template: string): readonly Segment[] {
  const written = template.split('/').slice(1);
  return written.map((text) => text.split(/\{[^}]*\}/).map(percentDecode));
}

/** A text as a regular expression that matches it alone. */
export function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

function matches(template: readonly Segment[], path: readonly string[]): boolean {
  return (
    template.length === path.length &&
    template.every((texts, index) =>
      new RegExp(`^${texts.map(escaped).join('[^/]+')}$`, 'su').test(path[index]!),
    )
  );
}

/** 0: literal text; 1: text with parameters; 2: a parameter alone. */
function rank(segment: Segment): number {
  return segment.length === 1 ? 0 : segment.join('') === '' ? 2 : 1;
}

/** Below 0: the first template wins; 0: both match the same paths. */
function compare(a: readonly Segment[], b: readonly Segment[]): number {
  for (const [index, one] of a.entries()) {
    const other = b[index]!;
    if (one.join('{}') === other.join('{}') && one.length === other.length) continue;
    if (rank(one) !== rank(other)) return rank(one) - rank(other);
    if (one.join('').length !== other.join('').length) return other.join('').length - one.join('').length;
    return one.join('\0') < other.join('\0') ? -1 : 1;
  }
  return 0;
}

/** The operations of the most literal template that matches a path, in their order; empty: none does. */
export function operationsAt(
  operations: readonly GatewayOperation[],
  path: string,
): readonly GatewayOperation[] {
  const segments = path.split('/').slice(1);
  const found = operations
    .map((operation) => ({ operation, template: segmentsOf(operation.path) }))
    .filter(({ template }) => matches(template, segments));
  const best = found.reduce<(typeof found)[number] | null>(
    (first, one) => (first === null || compare(one.template, first.template) < 0 ? one : first),
    null,
  );
  if (best === null) return [];
  return found.filter((one) => compare(one.template, best.template) === 0).map(({ operation }) => operation);
}
