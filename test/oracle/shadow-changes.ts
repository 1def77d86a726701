/**
 * The naive account of what dry_run rules would have changed, from the logged fields of one request alone, as the definition
 * in `src/engine/counts/shadow-changes.ts` states it: every difference by itself, every match by its text.
 */

/** The fields of a logged decision that count; those of `LoggedDecision`. */
export interface LineSide {
  readonly action: string;
  readonly status: number | null;
  readonly rule: string | null;
  readonly location: string | null;
  readonly origin: string | null;
  readonly host_header: string | null;
  readonly path: string | null;
  readonly cache: unknown;
  readonly tags: readonly string[];
  readonly request_headers?: readonly string[];
  readonly response_headers?: readonly string[];
}

/** The fields of a line that count. */
export interface LineFields {
  readonly decision: LineSide;
  readonly shadow: LineSide | null;
  readonly matches: readonly { readonly rule: string; readonly mode: string; readonly effect: string }[];
}

/** `<rule>: <from> → <to>, not <rule>`, each once, sorted. */
export function changesOfLine({ decision, shadow, matches }: LineFields): readonly string[] {
  if (shadow === null) return [];
  const outcome = (side: LineSide): string =>
    [side.action, side.status].filter((part) => part !== null).join(' ');
  const both = (action: string): boolean => decision.action === action && shadow.action === action;
  const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
  const differing: string[] = [];
  if (outcome(decision) !== outcome(shadow)) differing.push('outcome');
  else {
    if (both('redirect') && decision.location !== shadow.location) differing.push('location');
    if (both('respond') && decision.rule !== shadow.rule) differing.push('response');
    if (both('forward')) {
      const server = (side: LineSide): unknown => [side.origin, side.host_header];
      if (!same(server(decision), server(shadow))) differing.push('origin');
      if (decision.path !== shadow.path) differing.push('path');
      if (!same(decision.cache, shadow.cache)) differing.push('cache');
      if (!same(decision.tags, shadow.tags)) differing.push('tags');
    }
    const headers = (side: LineSide): unknown => [side.request_headers ?? [], side.response_headers ?? []];
    if (!same(headers(decision), headers(shadow))) differing.push('headers');
  }
  if (differing.length === 0) return [];
  const dry = matches.filter(({ mode }) => mode === 'dry_run');
  const instead = decision.rule === null || decision.rule === shadow.rule ? '' : decision.rule;
  const line = (rule: string, changed: readonly string[]): string => {
    const from = outcome(decision);
    const to = differing[0] === 'outcome' ? outcome(shadow) : `${from} with other ${changed.join(', ')}`;
    return `${rule}: ${from} → ${to}, not ${instead}`;
  };
  const settled = dry.some(({ rule }) => rule === shadow.rule);
  if (settled && !both('forward')) return [line(shadow.rule!, differing)];
  const lines = dry.flatMap(({ rule, effect }) => {
    const changed = differing.filter((one) => canChange(effect, one));
    return changed.length === 0 ? [] : [line(rule, changed)];
  });
  const all = lines.length > 0 ? lines : dry.map(({ rule }) => line(rule, differing));
  return [...new Set(all)].sort();
}

/** Whether a rule with this effect that did not settle the shadow's outcome can have changed something. */
function canChange(effect: string, what: string): boolean {
  switch (what) {
    case 'outcome':
      return ['alt_origin', 'rewrite', 'passed', 'unavailable'].includes(effect);
    case 'origin':
      return ['alt_origin', 'origin'].includes(effect);
    case 'path':
      return ['alt_origin', 'rewrite', 'cache'].includes(effect);
    case 'cache':
      return ['alt_origin', 'cache'].includes(effect);
    case 'tags':
      return ['alt_origin', 'tag'].includes(effect);
    case 'headers':
      return effect === 'headers';
    default:
      return false;
  }
}
