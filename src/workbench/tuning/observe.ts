/**
 * Reads a line of a decision log as far as tuning needs it. In: the parsed line of any version. Out: the request with the
 * verdict of each waf rule, or `null` where the line has no request.
 */
import { parseIp } from '../../base/addresses/ip.ts';
import { createTargetFacts, parseTarget } from '../../base/paths/path.ts';
import { isObject } from '../../base/text/json-object.ts';

/** A signature that scored in a request. */
export interface ObservedMatch {
  readonly id: number;
  /** Its message; empty: the line has none. */
  readonly name: string;
  /** `sqli`; empty: none, or the line has none. */
  readonly category: string;
  /** What it added to the score; 0 where the line has the score of all only. */
  readonly score: number;
  /** `ARGS:body`, numbers of list items as `*`; empty: not known. */
  readonly target: string;
  /** The matched excerpt; empty: the line has none. */
  readonly part: string;
}

/** What a waf rule found in a request. */
export interface ObservedVerdict {
  /** `<type>/<key>`. */
  readonly rule: string;
  /** Whether the rule blocked the request, or would have under `enforce`. */
  readonly blocks: boolean;
  readonly score: number;
  readonly matches: readonly ObservedMatch[];
  /** Whether each match has its own score. */
  readonly isScored: boolean;
  /** The request is blocked whatever its score: a signature denies it, or the step budget was exhausted. */
  readonly isForced: boolean;
  /** The body was not inspected whole, which may block whatever the score. */
  readonly isUninspected: boolean;
}

/** A logged request. */
export interface ObservedRequest {
  /** The decision id. */
  readonly id: string;
  readonly domain: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The network of the visitor: an IPv4 address, an IPv6 /64; `null`: unknown. */
  readonly visitor: string | null;
  /** User-Agent; empty: none. */
  readonly agent: string;
  readonly isBot: boolean;
  /** A page of the domain led to the request, by its fetch metadata, its origin or its referrer. */
  readonly fromOwnPage: boolean;
  /** In canonical form. */
  readonly path: string;
  /** The status that the application gave; `null`: the edge answered. */
  readonly answer: number | null;
  /** Only a share of such requests is logged. */
  readonly isSampled: boolean;
  readonly verdicts: readonly ObservedVerdict[];
}

type Fields = Readonly<Record<string, unknown>>;

/** Reads one line. */
export function observeLine(line: Fields): ObservedRequest | null {
  const request = fieldsOf(line['request']);
  const target = textOf(request['target']);
  const facts = createTargetFacts();
  const at = Date.parse(textOf(line['time']));
  if (target === '' || Number.isNaN(at) || parseTarget(target, facts) !== 0) return null;
  const headers = fieldsOf(request['headers']);
  const domain = textOf(line['domain']);
  const isForwarded = fieldsOf(line['decision'])['action'] === 'forward' && line['fault'] === null;
  return {
    id: textOf(line['id']),
    domain,
    at,
    visitor: networkOf(request['ip']),
    agent: textOf(headers['user-agent']),
    isBot: isObject(request['bot']),
    fromOwnPage: isFromOwnPage(headers, domain),
    path: facts.path,
    answer: isForwarded && typeof line['status'] === 'number' ? line['status'] : null,
    isSampled: typeof line['sampled'] === 'number' && line['sampled'] < 1,
    verdicts: listOf(line['matches']).flatMap((match) => observeMatch(fieldsOf(match), line) ?? []),
  };
}

function observeMatch(match: Fields, line: Fields): ObservedVerdict | null {
  const rule = textOf(match['rule']);
  if (!rule.startsWith('waf/')) return null;
  // A dry_run match has its verdict with it; that of the enforced rule is beside the matches.
  const verdict = match['waf'] ?? (match['mode'] === 'enforce' ? line['waf'] : null);
  return isObject(verdict) ? observeVerdict(verdict, { rule, blocks: match['effect'] === 'block' }) : null;
}

/** Reads a verdict; one of an earlier version has ids and targets without what belongs together. */
export function observeVerdict(
  verdict: Fields,
  { rule, blocks }: Pick<ObservedVerdict, 'rule' | 'blocks'>,
): ObservedVerdict {
  const score = typeof verdict['score'] === 'number' ? verdict['score'] : 0;
  const whole = listOf(verdict['matches']).filter(isObject);
  return {
    rule,
    blocks,
    score,
    ...(whole.length > 0
      ? { matches: whole.map(observeSignature), isScored: true }
      : pairsOf(verdict, score)),
    isForced: verdict['denied'] === true || verdict['exhausted'] === true,
    isUninspected: typeof verdict['uninspected'] === 'string',
  };
}

function observeSignature(match: Fields): ObservedMatch {
  return {
    id: typeof match['id'] === 'number' ? match['id'] : 0,
    name: textOf(match['name']),
    category: textOf(match['category']),
    score: typeof match['score'] === 'number' ? match['score'] : 0,
    target: generalTarget(textOf(match['target'])),
    part: textOf(match['part']),
  };
}

/** The signatures of a verdict without `matches`: the target of each is known if there is one target only. */
function pairsOf(verdict: Fields, score: number): Pick<ObservedVerdict, 'matches' | 'isScored'> {
  const ids = [...new Set(listOf(verdict['ids']).filter((id) => typeof id === 'number'))];
  const targets = new Set(listOf(verdict['targets']).filter((target) => typeof target === 'string'));
  const target = targets.size === 1 ? generalTarget([...targets][0]!) : '';
  const isScored = ids.length === 1;
  const common = { name: '', category: '', score: isScored ? score : 0, target, part: '' };
  return { matches: ids.map((id) => ({ id, ...common })), isScored };
}

/** A target with the numbers of list items as `*`: `ARGS:json.blocks.*.text`, `ARGS:tags[*]`. */
export function generalTarget(target: string): string {
  const colon = target.indexOf(':');
  if (colon < 0) return target;
  const dotted = target
    .slice(colon + 1)
    .split('.')
    .map((step, index) => (index > 0 && isNumber(step) ? '*' : bracketed(step)));
  return `${target.slice(0, colon + 1)}${dotted.join('.')}`;
}

function bracketed(step: string): string {
  return step
    .split('[')
    .map((one, index) => {
      const end = one.indexOf(']');
      return index > 0 && end > 0 && isNumber(one.slice(0, end)) ? `*${one.slice(end)}` : one;
    })
    .join('[');
}

function isNumber(text: string): boolean {
  return text !== '' && [...text].every((digit) => digit >= '0' && digit <= '9');
}

/** The address of a visitor, or the first half of an IPv6 address, which one visitor has to itself. */
export function networkOf(ip: unknown): string | null {
  if (typeof ip !== 'string') return null;
  const words = new Uint32Array(4);
  const family = parseIp(ip, words);
  if (family === 0) return null;
  return family === 4 ? `${words[0]}` : `${words[0]}:${words[1]}`;
}

/** Whether a browser states that a page of the domain led to the request (Fetch Metadata; RFC 6454 §7, RFC 9110 §10.1.3). */
export function isFromOwnPage(headers: Fields, domain: string): boolean {
  const site = headers['sec-fetch-site'];
  if (typeof site === 'string') return site === 'same-origin' || site === 'same-site';
  const page = headers['origin'] ?? headers['referer'];
  if (typeof page !== 'string' || !URL.canParse(page)) return false;
  const { hostname } = new URL(page);
  return hostname === domain || hostname.endsWith(`.${domain}`);
}

function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
