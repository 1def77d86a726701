/** Regular expressions a customer wrote: RE2 syntax, within the budgets that keep matching cheap (semantics §3). */
import {
  MAX_CAPTURE_PROGRAM,
  MAX_CAPTURE_WIDTH,
  MAX_DOMAIN_BUILD,
  MAX_DOMAIN_SCANS,
  MAX_DOMAIN_TABLES,
  MAX_HOST_OCTETS,
  MAX_PATTERN_PROGRAM,
} from '../base/limits.ts';
import { buildDfa, scanCost } from '../base/regex/dfa.ts';
import { captureWidth, type Pattern, parsePattern, requiredLiterals } from '../base/regex.ts';

interface PatternAccepted {
  readonly ok: true;
  /** Capture groups, the whole match not counted. */
  readonly groups: number;
  readonly names: readonly string[];
}

interface PatternRefused {
  readonly ok: false;
  readonly reason: string;
}

interface Judged {
  readonly verdict: PatternAccepted | PatternRefused;
  readonly pattern: Pattern | null;
  /** Octets of the automaton. */
  readonly octets: number;
  /** Times it reads a path to its end, at worst. */
  readonly scans: number;
  readonly prefix: string;
}

/**
 * Judgements for the next book: a write reads its rule more than once, and building an automaton takes up to 30 ms. A
 * judgement depends on the pattern alone, so it is never out of date.
 */
const MOST_KEPT = 256;
const kept = new Map<string, Judged>();

function judgeOnce(source: string, ignoreCase: boolean): Judged {
  const key = keyOf(source, ignoreCase);
  const judged = kept.get(key) ?? judge(source, ignoreCase);
  // Put back at the end: the first is the one that was not asked for the longest.
  kept.delete(key);
  kept.set(key, judged);
  const [oldest] = kept.keys();
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  return judged;
}

function keyOf(source: string, ignoreCase: boolean): string {
  return (ignoreCase ? 'i' : 'c') + source;
}

function judge(source: string, ignoreCase: boolean): Judged {
  const refuse = (reason: string): Judged => {
    return { verdict: { ok: false, reason }, pattern: null, octets: 0, scans: 0, prefix: '' };
  };
  const parsed = parsePattern(source, { ignoreCase });
  if (!parsed.ok) return refuse(parsed.reason);
  const { pattern } = parsed;
  if (pattern.size > MAX_PATTERN_PROGRAM) {
    const bound = `at most ${MAX_PATTERN_PROGRAM} are allowed`;
    return refuse(`the pattern compiles to ${pattern.size} instructions, ${bound}`);
  }
  const dfa = buildDfa(pattern.program);
  if (!dfa.ok) return refuse(`the pattern is too complex: ${dfa.reason}`);
  const names = pattern.names.filter((name) => name !== null);
  return {
    verdict: { ok: true, groups: pattern.groups, names },
    pattern,
    octets: dfa.table.byteLength,
    // A host is at most an eighth as long as the path the budget is made for.
    scans: ignoreCase ? scanCost(dfa.table) / HOST_SHARE : scanCost(dfa.table),
    prefix: requiredLiterals(pattern, { asciiText: ignoreCase }).prefix ?? '',
  };
}

const HOST_SHARE = Math.floor(2048 / MAX_HOST_OCTETS);

/** Why captures of this pattern would cost too much, or `null`. */
function judgeCaptures(pattern: Pattern): string | null {
  if (pattern.size > MAX_CAPTURE_PROGRAM) {
    return `has ${pattern.size} instructions, and a target that refers to groups allows ${MAX_CAPTURE_PROGRAM}`;
  }
  const width = captureWidth(pattern.program);
  if (width <= MAX_CAPTURE_WIDTH) return null;
  return `has up to ${width} open ways to match, and a target that refers to groups allows ${MAX_CAPTURE_WIDTH}`;
}

/** The patterns of one domain: each judged once, all of them within one budget. */
export interface PatternBook {
  /**
   * Checks one use of a pattern and adds its cost to the domain's. `over` is the one use that breaks the domain's
   * budget; afterwards nothing is compiled any more and every use is `skipped`.
   */
  check(source: string, options: { readonly ignoreCase: boolean }): PatternUse;
  /** Why a path pattern that was accepted may not be captured from, or `null`. */
  captures(source: string): string | null;
}

export type PatternUse =
  | PatternAccepted
  | PatternRefused
  | { readonly ok: 'over'; readonly reason: string }
  | { readonly ok: 'skipped' };

/** Refusals after which nothing is compiled any more: each may take some 30 ms, and the input is refused anyway. */
const MAX_REFUSED = 50;

/** What one pattern adds to the budgets of its domain. */
export interface PatternCost {
  /** Octets of the automaton. */
  readonly octets: number;
  /** The square of its instructions. */
  readonly build: number;
  /** Times it reads a path to its end, at worst; eighths for a host. */
  readonly scans: number;
  /** The literal all its matches start with. */
  readonly prefix: string;
}

/** Patterns of a domain that were judged when they were written. */
export interface ExistingPatterns extends Pick<PatternCost, 'octets' | 'build'> {
  /** Those that can be read together with the ones to judge: one's prefix begins with the other's. */
  readonly near: readonly Pick<PatternCost, 'scans' | 'prefix'>[];
  /** Whether a pattern is among them, and so in every number here. */
  has(source: string, ignoreCase: boolean): boolean;
}

/** What an accepted pattern costs; `null` for one that is refused. */
export function patternCost(
  source: string,
  { ignoreCase }: { readonly ignoreCase: boolean },
): PatternCost | null {
  const judged = judgeOnce(source, ignoreCase);
  return judged.verdict.ok ? costOf(judged) : null;
}

function costOf({ octets, pattern, scans, prefix }: Judged): PatternCost {
  return { octets, build: (pattern?.size ?? 0) ** 2, scans, prefix };
}

export function createPatternBook(standing?: ExistingPatterns): PatternBook {
  const known = new Map<string, Judged>();
  const scans = createScanBudget();
  for (const other of standing?.near ?? []) scans.add(other.prefix, other.scans);
  let octets = standing?.octets ?? 0;
  let build = standing?.build ?? 0;
  let refused = 0;
  let over: string | null = null;
  return {
    check(source, { ignoreCase }) {
      const key = keyOf(source, ignoreCase);
      const before = known.get(key);
      if (before !== undefined) return before.verdict;
      if (over !== null || refused >= MAX_REFUSED) return { ok: 'skipped' };
      const judged = judgeOnce(source, ignoreCase);
      known.set(key, judged);
      if (!judged.verdict.ok) refused++;
      if (standing?.has(source, ignoreCase) === true) return judged.verdict;
      const cost = costOf(judged);
      octets += cost.octets;
      build += cost.build;
      if (scans.add(cost.prefix, cost.scans) > MAX_DOMAIN_SCANS) {
        over = `with this pattern the regexes of the domain would read a path more than ${MAX_DOMAIN_SCANS} times`;
      } else if (octets > MAX_DOMAIN_TABLES || build > MAX_DOMAIN_BUILD) {
        over = 'with this pattern the regexes of the domain are too large together';
      }
      return over === null ? judged.verdict : { ok: 'over', reason: over };
    },
    captures(source) {
      const pattern = known.get(`c${source}`)?.pattern ?? null;
      return pattern === null ? null : judgeCaptures(pattern);
    },
  };
}

interface ScanBudget {
  /** Adds a pattern and returns the most scans any one text can now cause. */
  add(prefix: string, scans: number): number;
}

interface Branch {
  /** Scans of the patterns whose prefix ends here. */
  own: number;
  /** The most scans of any chain that goes on below. */
  below: number;
  readonly next: Map<string, Branch>;
}

/**
 * A pattern whose matches all start with a literal is dead after a few characters of any other text, so only such as
 * lie on one chain of prefixes add up. A tree of the prefixes keeps this linear in their length.
 */
function createScanBudget(): ScanBudget {
  const root: Branch = { own: 0, below: 0, next: new Map() };
  return {
    add(prefix, scans) {
      const chain = [root];
      let branch = root;
      for (const character of prefix) {
        const next = branch.next.get(character) ?? { own: 0, below: 0, next: new Map() };
        branch.next.set(character, next);
        chain.push(next);
        branch = next;
      }
      branch.own += scans;
      for (let index = chain.length - 1; index > 0; index--) {
        const child = chain[index]!;
        const parent = chain[index - 1]!;
        parent.below = Math.max(parent.below, child.own + child.below);
      }
      return root.own + root.below;
    },
  };
}
