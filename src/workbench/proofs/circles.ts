/**
 * Follows redirects from rule to rule, and reports those that lead round in a circle. `findCircles` starts with the requests
 * that are proved to reach a rule. `likelyCircles` needs no proof of every rule: it starts with URLs that the filters and
 * targets name, so that its cost is that of some thousand requests; circles that only other URLs get into are left to proofs.
 */
import { encodeCapture } from '../../base/octets/octets.ts';
import type { RuleType } from '../../base/vocabulary/vocabulary.ts';
import { parseSubstitution } from '../../rules/model/substitution.ts';
import type { RedirectRule, RuleSet } from '../../rules/model/types.ts';
import {
  hostIncludes,
  inScope,
  mayAdmit,
  pathIncludes,
  readZone,
  serves,
  type Zone,
} from './lint/filters.ts';
import { MAX_QUICK_WORK, proveReach, type Reach, subjectSpace } from './reach.ts';
import { splitTarget } from './situations.ts';
import { compileSubject, type Subject, type SubjectRule } from './subject.ts';
import { requestOf, type Witness } from './witness.ts';

/** Start URLs of the search for circles of redirects without proofs, each followed for 20 hops: less than a second. */
const MAX_CIRCLE_STARTS = 5_000;
/** Hosts and paths of one redirect among them. */
const MAX_STARTS_OF_LIST = 4;
/** Circles that are found without proofs: who has that many corrects some first. */
const MAX_CIRCLES = 20;
/** Steps of the proof that a visitor reaches a redirect of one of them. */
const MAX_CIRCLE_STEPS = 20_000;

/** What most groups of paths match: a number, a name, the rest of a path. */
const SAMPLE_GROUP = '1';

/** Redirects that are followed from one request; browsers give up after 20. */
const MAX_HOPS = 20;
/** Types that decide whether a redirect is reached: those of earlier phases that may end a request or tag it. */
const BEFORE_REDIRECTS: readonly RuleType[] = ['drop', 'fingerprint', 'bot_route', 'redirect'];

/** Redirects that lead round, in their order, and the URL that each of them redirects. */
export interface Circle {
  readonly rules: readonly SubjectRule[];
  readonly urls: readonly string[];
}

/**
 * Circles that the filters and targets of redirects lead into, at most `MAX_CIRCLES`. The search walks redirects alone; the
 * rules of earlier phases then confirm each circle, for a visitor without known facts, or else for one that a proof shows to
 * reach a rule of the circle.
 */
export function likelyCircles(ruleSet: RuleSet): readonly Circle[] {
  const zone = readZone(ruleSet);
  const enforced = ruleSet.rules.filter(({ enabled, action_mode }) => enabled && action_mode === 'enforce');
  // Of a list the targets are too many to follow.
  const redirects = enforced.filter(
    (rule): rule is RedirectRule => rule.type === 'redirect' && rule.targets === undefined,
  );
  const leading = redirects.filter((rule) => leadsWithin(rule, zone));
  if (leading.length < 2) return [];
  const found = circlesFrom(startsOf(leading, zone), compileSubject({ ...ruleSet, rules: redirects }));
  if (found.length === 0) return [];
  const rules = enforced.filter(({ type }) => BEFORE_REDIRECTS.includes(type));
  return confirmed(found.slice(0, MAX_CIRCLES), compileSubject({ ...ruleSet, rules }));
}

/** Whether a redirect leads to a host that the domain serves. */
function leadsWithin({ target }: RedirectRule, zone: Zone): boolean {
  const { host } = splitTarget(target);
  return zone.served.length > 0 && (host === null || serves(zone, host));
}

/** URLs that redirects name: the first of each of them, then the second of each. */
function startsOf(redirects: readonly RedirectRule[], zone: Zone): readonly string[] {
  const lists = redirects.map((rule) => urlsOf(rule, zone));
  const most = lists.reduce((longest, { length }) => Math.max(longest, length), 0);
  const starts = new Set<string>();
  for (let place = 0; place < most; place++) {
    for (const list of lists) {
      if (starts.size >= MAX_CIRCLE_STARTS) return [...starts];
      if (place < list.length) starts.add(list[place]!);
    }
  }
  return [...starts];
}

/** URLs that a redirect matches as far as its wildcards say, and its target. */
function urlsOf(rule: RedirectRule, zone: Zone): readonly string[] {
  const named = hostIncludes(rule).flatMap(({ glob }) =>
    glob?.length === 1 && serves(zone, glob[0]!) ? [glob[0]!] : [],
  );
  const served = inScope(zone, rule).filter((one) => mayAdmit(rule, one));
  const hosts = [...named, ...served.map(({ name, wildcard }) => (wildcard ? `x.${name}` : name))];
  const globs = pathIncludes(rule).flatMap(({ glob }) => (glob === null ? [] : [glob.join('')]));
  const paths = globs.length === 0 ? ['/'] : globs.map((path) => (path.startsWith('/') ? path : `/${path}`));
  return hosts.slice(0, MAX_STARTS_OF_LIST).flatMap((host) => {
    const own = paths.slice(0, MAX_STARTS_OF_LIST).map((path) => `https://${host}${encodeCapture(path)}`);
    return [...own, locationFrom(`https://${host}/`, sampleTarget(rule))].filter((url) => url !== null);
  });
}

/** The target of a redirect, with a short text in place of each group. */
function sampleTarget({ target, target_mode }: RedirectRule): string {
  const parsed = target_mode === 'captures' ? parseSubstitution(target) : null;
  if (parsed === null || !parsed.ok) return target;
  return parsed.pieces.map((piece) => (piece.kind === 'text' ? piece.text : SAMPLE_GROUP)).join('');
}

/** The circles that URLs lead into. */
function circlesFrom(starts: readonly string[], subject: Subject): readonly Circle[] {
  const circles = new Map<string, Circle>();
  const walked = new Set<string>();
  for (const url of starts) {
    const circle = circleFrom(subject, visitorOf(url), walked);
    if (circle !== null) circles.set(circle.rules.map(({ slot }) => slot).join(' '), circle);
  }
  return [...circles.values()];
}

/** A request of whose visitor nothing is known. */
function visitorOf(url: string): Witness {
  const unknown = { ip: null, country: null, asn: null, bot: null, ja4: null, ja4h: null, status: null };
  return { method: 'GET', url, headers: {}, cleared: [], ...unknown };
}

/** The circles that a visitor can get into with all rules of a subject. */
function confirmed(circles: readonly Circle[], subject: Subject): readonly Circle[] {
  const visitor = visitorReaching(subject);
  return circles.flatMap(({ rules, urls }) => {
    const start = visitorOf(urls[0]!);
    const plain = circleFrom(subject, start);
    if (plain !== null) return [plain];
    const reaching = visitor(rules[0]!);
    return reaching === null ? [] : (circleFrom(subject, { ...reaching, url: start.url }) ?? []);
  });
}

/** A question for a visitor who reaches a rule: `null` if none is proved to. */
function visitorReaching(subject: Subject): (rule: SubjectRule) => Witness | null {
  let around: ReturnType<typeof subjectSpace> | undefined;
  return ({ type, ref }) => {
    const rule = subject.ruleOf(type, ref.id);
    if (rule === null) return null;
    if (around === undefined) around = subjectSpace(subject, MAX_QUICK_WORK);
    const [reach] = proveReach(subject, { around, rules: [rule], steps: MAX_CIRCLE_STEPS });
    return reach?.result.kind === 'reached' ? reach.result.witness : null;
  };
}

/**
 * Circles of two or more rules: each leads to a URL that the next one matches, and the last to the first. Every circle was
 * walked with the evaluator; circles that start with other requests than the witnesses may exist. Each starts with its first rule.
 */
export function findCircles(subject: Subject, reaches: readonly Reach[]): readonly Circle[] {
  const circles = new Map<string, Circle>();
  for (const { rule, result } of reaches) {
    if (rule.type !== 'redirect' || rule.isDryRun || result.kind !== 'reached') continue;
    const circle = circleFrom(subject, result.witness);
    if (circle !== null) circles.set(circle.rules.map(({ slot }) => slot).join(' '), circle);
  }
  return [...circles.values()];
}

/** The circle from its first rule on. */
function fromFirst({ rules, urls }: Circle): Circle {
  const first = rules.reduce((lowest, one) => (one.slot < lowest.slot ? one : lowest));
  const place = rules.indexOf(first);
  return {
    rules: [...rules.slice(place), ...rules.slice(0, place)],
    urls: [...urls.slice(place), ...urls.slice(0, place)],
  };
}

/**
 * The circle of several rules that a request gets into, from its first rule on; `null`: it arrives somewhere. `walked`: URLs
 * that other walks went through, from which nothing new is found.
 */
function circleFrom(subject: Subject, start: Witness, walked: Set<string> = new Set()): Circle | null {
  const visited = new Map<string, number>();
  const rules: SubjectRule[] = [];
  let witness = start;
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    const known = visited.get(witness.url);
    if (known !== undefined) {
      const circle = { rules: rules.slice(known), urls: [...visited.keys()].slice(known) };
      return new Set(circle.rules).size < 2 ? null : fromFirst(circle);
    }
    if (walked.has(witness.url)) return null;
    visited.set(witness.url, hop);
    walked.add(witness.url);
    const { action, location, rule } = subject.evaluator.evaluate(requestOf(witness, subject.moment()));
    if (action !== 'redirect' || location === null || rule === null) return null;
    const owner = subject.ruleOf(rule.type, rule.id);
    if (owner === null) return null;
    rules.push(owner);
    const url = locationFrom(witness.url, location);
    if (url === null) return null;
    witness = { ...witness, method: 'GET', url };
  }
  return null;
}

/** The absolute URL of a location, without its fragment; `null`: it is no URL. */
function locationFrom(base: string, location: string): string | null {
  const bare = location.split('#', 1)[0]!;
  if (!bare.startsWith('/')) {
    const start = bare.indexOf('://') + 3;
    return bare.includes('/', start) ? bare : bare.replace(/^([^?]*)/, '$1/');
  }
  const host = base.indexOf('/', base.indexOf('://') + 3);
  return host < 0 ? null : `${base.slice(0, host)}${bare}`;
}
