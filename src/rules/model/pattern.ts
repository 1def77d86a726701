/**
 * Checks customers' regular expressions: RE2 syntax (semantics §3), bounds of one pattern, and the budgets that all
 * patterns of a domain share, so that the cost of matching a request and of building automata is bounded.
 */
import { buildDfa, scanCost } from '../../base/regex/dfa.ts';
import { captureWidth, type Pattern, parsePattern, requiredLiterals } from '../../base/regex/regex.ts';
import {
  MAX_CAPTURE_PROGRAM,
  MAX_CAPTURE_WIDTH,
  MAX_DOMAIN_BUILD,
  MAX_DOMAIN_SCANS,
  MAX_DOMAIN_TABLES,
  MAX_HOST_OCTETS,
  MAX_PATTERN_PROGRAM,
  MAX_VALUE_OCTETS,
} from '../../base/vocabulary/limits.ts';

/** The verdict on a valid pattern. */
interface PatternAccepted {
  readonly ok: true;
  /** The number of capture groups, without the whole match. */
  readonly groups: number;
  /** Names of the named groups. */
  readonly names: readonly string[];
}

/** The verdict on a pattern that is invalid, too large or too complex. */
interface PatternRefused {
  /** The message for the customer. */
  readonly ok: false;
  readonly reason: string;
}

/** What a pattern is matched with. */
export interface RegexSubject {
  readonly ignoreCase: boolean;
  /** `host`, `path`, or the value that a condition reads, such as `headers accept`. */
  readonly of: string;
}

/** A pattern with its verdict and its costs; the costs of a refused one are 0. */
interface CheckedPattern {
  readonly verdict: PatternAccepted | PatternRefused;
  /** `null`: the pattern was refused. */
  readonly pattern: Pattern | null;
  /** Octets of the automaton. */
  readonly octets: number;
  /** The worst number of scans of a whole path; a scan of a host counts as an eighth, that of a value as four. */
  readonly scans: number;
  /** The literal that every match starts with; may be empty. */
  readonly prefix: string;
}

/**
 * Patterns in the cache of checked patterns (least recently used first out). A write reads its rule more than once, and
 * building an automaton takes up to 30 ms. The result depends on the pattern alone, so an entry never becomes stale.
 */
const MAX_CACHED = 256;
/** Checked patterns by `keyOf`, in the order of their last use. */
const cache = new Map<string, CheckedPattern>();

/** `checkPattern` with the cache in front. */
function checkCached(source: string, subject: RegexSubject): CheckedPattern {
  const key = patternKey(source, subject);
  const checked = cache.get(key) ?? checkPattern(source, subject);
  // Reinserted at the end, so the first key of the map is the least recently used one.
  cache.delete(key);
  cache.set(key, checked);
  const [oldest] = cache.keys();
  if (cache.size > MAX_CACHED && oldest !== undefined) cache.delete(oldest);
  return checked;
}

/**
 * The text that identifies a pattern among those of a domain: `i` or `c` for its case sensitivity, then the source; before
 * them, if it is neither of hosts, without case, nor of paths, with case, what it reads.
 */
export function patternKey(source: string, { ignoreCase, of }: RegexSubject): string {
  const text = (ignoreCase ? 'i' : 'c') + source;
  return of === 'host' || of === 'path' ? text : `${of}\u0000${text}`;
}

/** Parses a pattern, checks the bounds of one pattern, and computes its costs. */
function checkPattern(source: string, { ignoreCase, of }: RegexSubject): CheckedPattern {
  const refuse = (reason: string): CheckedPattern => {
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
    scans: scanCost(dfa.table) * lengthOf(of),
    prefix: prefixOf(of) + (requiredLiterals(pattern, { asciiText: of === 'host' }).prefix ?? ''),
  };
}

/** The length of the longest text, in paths of 2,048 octets, which the scan budget assumes. A host has at most 253 octets. */
function lengthOf(of: string): number {
  if (of === 'host') return 1 / Math.floor(2048 / MAX_HOST_OCTETS);
  return of === 'path' ? 1 : MAX_VALUE_OCTETS / 2048;
}

/**
 * What the prefix of a value's pattern starts with: the values of a request share the room that servers have for its head,
 * so that the scans of one name do not add to those of another. No path and no host starts so.
 */
function prefixOf(of: string): string {
  return of === 'host' || of === 'path' ? '' : `\u0001${of}\u0001`;
}

/** Why capturing from this pattern would cost too much (`MAX_CAPTURE_PROGRAM`, `MAX_CAPTURE_WIDTH`), or `null`. */
function checkCaptures(pattern: Pattern): string | null {
  if (pattern.size > MAX_CAPTURE_PROGRAM) {
    return `has ${pattern.size} instructions, and a target that refers to groups allows ${MAX_CAPTURE_PROGRAM}`;
  }
  const width = captureWidth(pattern.program);
  if (width <= MAX_CAPTURE_WIDTH) return null;
  return `has up to ${width} open ways to match, and a target that refers to groups allows ${MAX_CAPTURE_WIDTH}`;
}

/** The patterns of one domain: checks each distinct pattern once, and adds all costs to the domain's budgets. */
export interface PatternBook {
  /**
   * Checks one use of a pattern and adds its cost to the budgets of the domain. A repeated pattern costs nothing more.
   * `over`: this use exceeds a budget. After it, new patterns are not compiled, and their uses are `skipped`.
   */
  check(source: string, subject: RegexSubject): PatternUse;
  /** Why a rewrite target may not refer to groups of an accepted path pattern, or `null`. */
  captures(source: string): string | null;
}

/** The result of one use; `reason` is the message for the customer, and a `skipped` use is not reported. */
export type PatternUse =
  | PatternAccepted
  | PatternRefused
  | { readonly ok: 'over'; readonly reason: string }
  | { readonly ok: 'skipped' };

/** Refused patterns after which further ones are skipped: each may take 30 ms, and the input is refused anyway. */
const MAX_REFUSED = 50;

/** The cost of one pattern in the budgets of its domain. */
export interface PatternCost {
  /** Octets of the automaton. */
  readonly octets: number;
  /** The square of its number of instructions (`MAX_DOMAIN_BUILD`). */
  readonly build: number;
  /** As in `CheckedPattern` (`MAX_DOMAIN_SCANS`). */
  readonly scans: number;
  /** The literal that every match starts with; may be empty. */
  readonly prefix: string;
}

/** The stored patterns of a domain, which were checked when their rules were written. */
export interface ExistingPatterns extends Pick<PatternCost, 'octets' | 'build'> {
  /** The stored patterns that can scan the same text as the patterns to check: one prefix starts with the other. */
  readonly near: readonly Pick<PatternCost, 'scans' | 'prefix'>[];
  /** Whether a pattern is stored, so that the numbers here include its cost. */
  has(source: string, subject: RegexSubject): boolean;
}

/** The cost of an accepted pattern; `null` for a refused one. */
export function patternCost(source: string, subject: RegexSubject): PatternCost | null {
  const checked = checkCached(source, subject);
  return checked.verdict.ok ? costOf(checked) : null;
}

/** The octets of the automaton of a pattern in a schema of bodies, or why it is refused. Gateways have a budget of their own. */
export function schemaPatternOctets(source: string): number | string {
  const { verdict, octets } = checkCached(source, { ignoreCase: false, of: 'path' });
  return verdict.ok ? octets : verdict.reason;
}

/** The part of a checked pattern that the budgets count. */
function costOf({ octets, pattern, scans, prefix }: CheckedPattern): PatternCost {
  return { octets, build: (pattern?.size ?? 0) ** 2, scans, prefix };
}

/** Creates the book of one domain; `existing`: patterns whose costs count from the start. */
export function createPatternBook(existing?: ExistingPatterns): PatternBook {
  const known = new Map<string, CheckedPattern>();
  const scans = createScanBudget();
  for (const other of existing?.near ?? []) scans.add(other.prefix, other.scans);
  let octets = existing?.octets ?? 0;
  let build = existing?.build ?? 0;
  let refused = 0;
  let over: string | null = null;
  return {
    check(source, subject) {
      const key = patternKey(source, subject);
      const before = known.get(key);
      if (before !== undefined) return before.verdict;
      if (over !== null || refused >= MAX_REFUSED) return { ok: 'skipped' };
      const checked = checkCached(source, subject);
      known.set(key, checked);
      if (!checked.verdict.ok) refused++;
      if (existing?.has(source, subject) === true) return checked.verdict;
      const cost = costOf(checked);
      octets += cost.octets;
      build += cost.build;
      if (scans.add(cost.prefix, cost.scans) > MAX_DOMAIN_SCANS) {
        over = `with this pattern the regexes of the domain would read a path more than ${MAX_DOMAIN_SCANS} times, or a value of a condition more than ${MAX_DOMAIN_SCANS / (MAX_VALUE_OCTETS / 2048)} times`;
      } else if (octets > MAX_DOMAIN_TABLES || build > MAX_DOMAIN_BUILD) {
        over = 'with this pattern the regexes of the domain are too large together';
      }
      return over === null ? checked.verdict : { ok: 'over', reason: over };
    },
    captures(source) {
      const pattern = known.get(`c${source}`)?.pattern ?? null;
      return pattern === null ? null : checkCaptures(pattern);
    },
  };
}

/** The scans of all patterns added so far. */
interface ScanBudget {
  /** Adds a pattern and returns the most scans any one text can now cause. */
  add(prefix: string, scans: number): number;
}

/** A node of the trie of prefixes. */
interface Branch {
  /** Scans of the patterns whose prefix ends here. */
  own: number;
  /** The most scans of any chain of prefixes below this node. */
  below: number;
  /** The nodes one character further. */
  readonly next: Map<string, Branch>;
}

/**
 * Creates an empty scan budget. A pattern whose matches all start with a literal fails after a few characters of any
 * other text, so only the scans of patterns on one chain of prefixes add up. A trie of the prefixes makes an addition
 * linear in the length of the prefix.
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
