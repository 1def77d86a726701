/** Counters of stick tables (`track-sc0 src`, `deny if { sc_http_req_rate(0) gt 20 }`) as rate_limit rules. */
import { addRule, markDifference, markMissing, markNeedless } from '../draft.ts';
import { type ImportedCondition, ruleFields } from '../filter.ts';
import { addAlternatives } from '../guard.ts';
import {
  allOf,
  anyOf,
  entryOf,
  type HaproxyImport,
  noneOf,
  settingOf,
  type TrackedKey,
  type Walk,
} from './context.ts';
import { type HaproxyLine, parseSample } from './parse-haproxy.ts';
import { type LineCondition, type Term, termCondition } from './read-condition.ts';
import { type HaproxyContext, readCriterionWords } from './read-criterion.ts';
import type { ActionLine } from './redirects.ts';

/** `track-sc0 <key> [table <name>]`. */
export function trackKey(
  state: HaproxyImport,
  walk: Walk,
  line: HaproxyLine,
  { words, condition }: ActionLine,
): void {
  const [action = '', sample = ''] = words;
  const table = words.includes('table') ? (words[words.indexOf('table') + 1] ?? '') : walk.section.name;
  const parts = keyParts(sample);
  const asked = allOf(condition, ...noneOf(walk.allowed));
  walk.tracked.set(action.slice('track-sc'.length), { line, parts, table, condition: asked });
  markNeedless(entryOf(state, line), 'limits that use the counter have its key');
}

/** The parts of a key of a limit; `null`: it has no equivalent. */
function keyParts(sample: string): readonly string[] | null {
  const calls = parseSample(sample);
  if (sample === 'base32+src' || sample === 'url32+src') return ['ip', 'path'];
  if (calls === null || calls.length > 1) return null;
  const [{ name, args }] = calls;
  if (name === 'src') return ['ip'];
  if (name === 'path') return ['path'];
  const [first = ''] = args;
  if (first === '') return null;
  if (name === 'hdr' || name === 'req.hdr' || name === 'req.fhdr') return [`header:${first.toLowerCase()}`];
  if (name === 'cook' || name === 'req.cook') return [`cookie:${first}`];
  return name === 'urlp' || name === 'url_param' ? [`query:${first}`] : null;
}

/** A rate that a term compares. */
interface RateTerm {
  readonly limit: number;
  /** Its window as the table stores it. */
  readonly windowSec: number;
  readonly key: TrackedKey;
}

/** How a criterion is about a counter. */
const COUNTER = /^(?:sc\d?_|src_)/;

/**
 * Adds the limits of a line that refuses. Returns the condition of its other alternatives, `whole` when there are no others, and
 * `null` for a line without a counter.
 */
export function addLimit(
  state: HaproxyImport,
  walk: Walk,
  line: HaproxyLine,
  { words, branches: read }: { readonly words: readonly string[]; readonly branches: LineCondition | string },
): ImportedCondition | 'whole' | null {
  if (typeof read === 'string' || read.keyword !== 'if') return null;
  const isCounter = ({ criteria }: Term): boolean =>
    criteria.some(([expression = '']) => COUNTER.test(expression));
  if (!read.branches.some((terms) => terms.some(isCounter))) return null;
  const context: HaproxyContext = { state, walk, isGuard: true, differences: [] };
  const others: ImportedCondition[] = [];
  for (const terms of read.branches) {
    const rates = terms.filter(isCounter);
    const rest = terms.filter((term) => !isCounter(term)).map((term) => termCondition(context, term));
    if (rates.length === 0) others.push(allOf(...rest));
    else emitLimit(state, walk, line, { words, rates, rest });
  }
  return others.length === 0 ? 'whole' : anyOf(others);
}

interface LimitBranch {
  readonly words: readonly string[];
  readonly rates: readonly Term[];
  readonly rest: readonly ImportedCondition[];
}

function emitLimit(
  state: HaproxyImport,
  walk: Walk,
  line: HaproxyLine,
  { words, rates, rest }: LimitBranch,
): void {
  const entry = entryOf(state, line);
  const rate = rates.length === 1 ? readRate(state, walk, rates[0]!) : 'it compares several counters';
  if (typeof rate === 'string') {
    markMissing(entry, rate);
    return;
  }
  const { parts, condition } = rate.key;
  if (parts === null) {
    markMissing(entry, 'requests are counted by address, path, header, cookie or parameter only');
    return;
  }
  const key = parts.join() === 'ip' ? {} : { key_parts: parts };
  const limit = { limit: rate.limit, window_sec: rate.windowSec, ...key };
  const asked = allOf(...rest, condition, walk.scope, ...noneOf(walk.allowed));
  const isAdded = addAlternatives(state.draft, entry, {
    condition: asked,
    differences: [],
    unmet: 'no request meets its condition',
    emit: (filter) => {
      addRule(state.draft, entry, 'rate_limit', { ...ruleFields(filter), ...limit });
      return null;
    },
  });
  if (!isAdded) return;
  const status = words[words.indexOf('deny_status') + 1];
  const theirs = words.includes('deny_status') ? status : words[0] === 'deny' ? '403' : 'otherwise';
  const answers = theirs === '429' ? '' : `; the edge answers 429, HAProxy ${theirs}`;
  markDifference(
    entry,
    `HAProxy counts in periods of ${rate.windowSec} s, of which the last one fades, and all requests of its table; the rule counts its own in a sliding window${answers}`,
  );
}

/** Reads a term about a rate; a text is the reason why it has no equivalent. */
function readRate(state: HaproxyImport, walk: Walk, { negated, criteria }: Term): RateTerm | string {
  const [words, ...more] = criteria;
  const read = words === undefined || more.length > 0 ? '' : readCriterionWords(state, words);
  if (typeof read === 'string' || negated) return 'it compares a counter in a way that no limit does';
  const [{ name, args }] = read.calls;
  const [, own, digit = '', counter = ''] = /^(sc(\d)?|src)_(.*)$/.exec(name) ?? [];
  if (counter !== 'http_req_rate') return `no limit counts \`${counter}\``;
  const number = digit === '' ? (args[0] ?? '') : digit;
  const key: TrackedKey | undefined =
    own === 'src'
      ? { line: walk.section.head, parts: ['ip'], table: args[0] ?? walk.section.name, condition: allOf() }
      : walk.tracked.get(number);
  if (key === undefined) return 'no line before it tracks the counter';
  const [comparison = '', amount = ''] = read.values;
  const limit = comparison === 'gt' ? Number(amount) : comparison === 'ge' ? Number(amount) - 1 : Number.NaN;
  const windowSec = windowOf(state, key.table);
  if (!Number.isInteger(limit) || limit < 1) return 'it compares the rate otherwise than with `gt` or `ge`';
  if (windowSec === null) return `no table \`${key.table}\` stores a rate of requests in whole seconds`;
  return { limit, windowSec, key };
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, ms: 0.001, '': 0.001 };

/** The period of `http_req_rate` of a table, in whole seconds; `null`: it has no such rate. */
function windowOf(state: HaproxyImport, table: string): number | null {
  for (const section of state.sections.filter(({ name }) => name === table)) {
    const stored = settingOf(state, section, 'stick-table')?.words.join(' ') ?? '';
    const [, amount, unit = ''] = /http_req_rate\((\d{1,9})([a-z]*)\)/.exec(stored) ?? [];
    const seconds = amount === undefined ? Number.NaN : Number(amount) * (SECONDS[unit] ?? Number.NaN);
    if (Number.isInteger(seconds) && seconds >= 1) return seconds;
  }
  return null;
}
