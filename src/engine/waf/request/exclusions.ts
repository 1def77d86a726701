/**
 * Exclusions of one inspection: rules that are skipped, and targets that some rules do not inspect. They come from the
 * settings of the WAF rule and from `ctl` actions.
 */
import {
  type SignatureRule,
  WAF_COLLECTIONS,
  WAF_SCALARS,
  type WafVariable,
} from '../../plan/signature-program.ts';
import type { InspectionExclusion, WafSettings } from './inspection.ts';

/** Whether an exclusion applies to a rule. */
export type ExclusionSubject = (rule: SignatureRule) => boolean;

/** Members that certain rules do not inspect. */
export interface TargetExclusion {
  readonly subject: ExclusionSubject;
  /** Whether a member is excluded, by its variable and name. */
  readonly covers: (variable: WafVariable, name: string) => boolean;
}

/** The exclusions of one inspection; `ctl` actions append to both lists. */
export interface Exclusions {
  readonly rules: ExclusionSubject[];
  readonly targets: TargetExclusion[];
}

/** Compiles the exclusions of the settings. */
export function exclusionsOf(settings: WafSettings): Exclusions {
  const found: Exclusions = { rules: [], targets: [] };
  if (settings.excludes.length > 0) {
    const ids = new Set(settings.excludes);
    found.rules.push(({ id }) => ids.has(String(id)));
  }
  for (const exclusion of settings.exclusions) addExclusion(found, exclusion);
  return found;
}

function addExclusion(found: Exclusions, { id, tag, target }: InspectionExclusion): void {
  const subject: ExclusionSubject = (rule) =>
    (id === null || rule.id === id) && (tag === null || rule.tags.includes(tag));
  if (target === null) found.rules.push(subject);
  else found.targets.push({ subject, covers: writtenTarget(target) });
}

const VARIABLES: ReadonlySet<string> = new Set([...WAF_SCALARS, ...WAF_COLLECTIONS]);

/** Parses `ARGS:comment`, `REQUEST_COOKIES:sess*` or `REQUEST_HEADERS`; an unknown variable covers nothing. */
function writtenTarget(text: string): TargetExclusion['covers'] {
  const colon = text.indexOf(':');
  const wanted = (colon < 0 ? text : text.slice(0, colon)).toUpperCase();
  if (!VARIABLES.has(wanted)) return () => false;
  const isWanted = (variable: WafVariable): boolean => variable === wanted || PART_OF[variable] === wanted;
  if (colon < 0) return isWanted;
  const pieces = text
    .slice(colon + 1)
    .toLowerCase()
    .split('*');
  return (variable, name) => isWanted(variable) && piecesMatch(pieces, name.toLowerCase());
}

/** An exclusion of ARGS also covers the members that a rule inspects as one of these. */
const PART_OF: Readonly<Partial<Record<WafVariable, WafVariable>>> = { ARGS_GET: 'ARGS', ARGS_POST: 'ARGS' };

/** Whether a name matches a wildcard split at `*`. Taking the leftmost place of each piece needs no backtracking. */
function piecesMatch(pieces: readonly string[], name: string): boolean {
  const [head = '', ...rest] = pieces;
  if (rest.length === 0) return name === head;
  const tail = rest.pop()!;
  const end = name.length - tail.length;
  if (head.length > end || !name.startsWith(head) || !name.endsWith(tail)) return false;
  let at = head.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= end;
}

/** Whether a rule is skipped. */
export function isExcluded({ rules }: Exclusions, rule: SignatureRule): boolean {
  for (const subject of rules) if (subject(rule)) return true;
  return false;
}

const NONE: readonly TargetExclusion[] = [];

/** The target exclusions that apply to a rule. */
export function targetExclusions({ targets }: Exclusions, rule: SignatureRule): readonly TargetExclusion[] {
  // A copy, since the rule's own actions may append to the list.
  return targets.length === 0 ? NONE : targets.filter(({ subject }) => subject(rule));
}
