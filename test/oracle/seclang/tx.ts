/** The TX collection: what it holds before the first rule, how rules change it, and the score that is read from it. */
import { WAF_COLLECTIONS, WAF_SCALARS } from '../../../src/engine/plan/signature-program.ts';
import { numberOf } from '../../../src/engine/waf/operators/operators.ts';
import type { WafSettings } from '../../../src/engine/waf/request/inspection.ts';
import type { Entry } from './read.ts';

/** By name in lower case. */
export type Tx = Map<string, string>;

const LEVELS = [
  'blocking_paranoia_level',
  'detection_paranoia_level',
  'executing_paranoia_level',
  'paranoia_level',
];
const THRESHOLD = 'inbound_anomaly_score_threshold';

/** The level and the threshold are there from the start; what a text gives them as a default finds them given. */
export function createTx({ paranoia, threshold }: WafSettings): Tx {
  return new Map([
    ...LEVELS.map((name) => [name, String(paranoia)] as const),
    [THRESHOLD, String(threshold)],
  ]);
}

/** Whether a `setvar` writes what is given from outside; where a text does so for every request, it only has a default. */
export function isGiven(setVar: string): boolean {
  return [...LEVELS, THRESHOLD].some((name) => setVar.toLowerCase().startsWith(`tx.${name}=`));
}

/** What a macro's variable and member stand for. */
export type Macros = (variable: string, name: string | null) => string | undefined;

const VARIABLES = new Set<string>([...WAF_SCALARS, ...WAF_COLLECTIONS, 'RULE']);
/** Kept between requests, or of the response: empty. */
export const EMPTY = /^(?:GLOBAL|IP|RESOURCE|SESSION|USER|STATUS_LINE|RESPONSE_\w+)$/i;

/** A text with its macros filled in; braces that name no variable (`%{3}` in a pattern) are text. */
export function expand(text: string, macros: Macros): string {
  return text.replace(/%\{(\w+)(?:[.:]([^}]*))?\}/g, (whole, variable: string, name?: string) => {
    const wanted = variable.toUpperCase();
    if (EMPTY.test(wanted)) return '';
    return VARIABLES.has(wanted) ? (macros(wanted, name ?? null) ?? '') : whole;
  });
}

/** `tx.name=value`, `tx.name=+1`, `tx.name` (which is 1), `!tx.name`; gives what that adds to the score. */
export function assign(
  tx: Tx,
  written: string,
  { scores, macros }: { readonly scores: ReadonlySet<string>; readonly macros: Macros },
): number {
  const parts = /^(!?)\s*(\w+)[.:]((?:%\{[^}]*\}|[^=])*)(?:=(.*))?$/s.exec(written.trimEnd())!;
  const [, unset, collection, target = '', value = '1'] = parts;
  if (collection!.toUpperCase() !== 'TX') return 0;
  const name = expand(target.trim(), macros).toLowerCase();
  const before = numberOf(tx.get(name) ?? '');
  const change = /^([+-])(.+)$/s.exec(value);
  if (unset === '!') tx.delete(name);
  else if (change === null) tx.set(name, expand(value, macros));
  else {
    const by = numberOf(expand(change[2]!, macros));
    tx.set(name, String(change[1] === '+' ? before + by : before - by));
  }
  return scores.has(name) ? numberOf(tx.get(name) ?? '') - before : 0;
}

/**
 * The variables that scores add up in: `inbound_anomaly_score_pl1…` up to the level, else `anomaly_score_pl1…`, else
 * `anomaly_score`; the first of these that the text writes.
 */
export function scoreNames(entries: readonly Entry[], paranoia: number): ReadonlySet<string> {
  const links = entries.flatMap((entry) => ('rule' in entry ? entry.rule.links : []));
  const written = links.flatMap(({ setVars }) => setVars.map((one) => one.toLowerCase()));
  for (const stem of ['inbound_anomaly_score_pl', 'anomaly_score_pl']) {
    const names = [1, 2, 3, 4].map((level) => `${stem}${level}`);
    if (written.some((one) => names.some((name) => one.startsWith(`tx.${name}=`)))) {
      return new Set(names.slice(0, paranoia));
    }
  }
  return new Set(['anomaly_score']);
}

export function scoreOf(tx: Tx, names: ReadonlySet<string>): number {
  return [...names].reduce((sum, name) => sum + numberOf(tx.get(name) ?? ''), 0);
}
