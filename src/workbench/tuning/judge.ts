/**
 * Judges a group of matches: a likely false positive, a likely attack, or unclear, with the reasons as sentences. In: counts
 * of the group. Out: the verdict. An attacker can imitate every sign of ordinary traffic, so a false positive needs several
 * of them at once, and none of an attack.
 */
import { quantity } from '../simulation/render-text.ts';
import {
  ATTACK_SUSPICIOUS,
  FEWEST_ANSWERS,
  FEWEST_HOURS,
  LEAST_ANSWERED,
  MOST_BOTS,
  MOST_OF_ONE,
  MOST_REFUSED,
  MOST_SUSPICIOUS,
  ORDINARY_VISITORS,
  OWN_PAGES,
  SHARED_AGENTS,
} from './limits.ts';
import type { AnswerCounts } from './tally.ts';

/** What a group of matches is. */
export const GROUP_VERDICTS = ['false_positive', 'attack', 'unclear'] as const;
export type GroupVerdict = (typeof GROUP_VERDICTS)[number];

/** The counts that a verdict is made of. */
export interface GroupFacts {
  readonly requests: number;
  readonly visitors: number;
  /** Requests whose visitor is not known; they are of no visitor. */
  readonly unknown: number;
  /** Requests of the visitor with the most, and the browsers of that visitor. */
  readonly mostOfOne: number;
  readonly agentsOfOne: number;
  /** Visitors with an ordinary request before their first match. */
  readonly ordinary: number;
  /** The section with its visitors in the log; `null`: several, or only a sample of its requests is logged. */
  readonly section: { readonly path: string; readonly visitors: number } | null;
  /** Visitors that triggered signatures of other categories in other places. */
  readonly elsewhere: number;
  /** Visitors with signs of an attack, and the requests that they sent. */
  readonly suspicious: number;
  readonly suspiciousRequests: number;
  /** The first of these signs as a clause: `signatures of 4 categories`; `null`: there are none. */
  readonly sign: string | null;
  readonly answers: AnswerCounts;
  /** Requests that a page of the site led to. */
  readonly ownPages: number;
  /** Requests of known bots. */
  readonly bots: number;
  readonly hours: number;
  readonly days: number;
}

/** A reason: what it speaks for, and the sentence. */
export interface VerdictReason {
  readonly for: GroupVerdict;
  readonly text: string;
}

/** The verdict of a group with its reasons. */
export interface JudgedGroup {
  readonly verdict: GroupVerdict;
  readonly reasons: readonly VerdictReason[];
}

/** What a likely false positive has at least. */
export interface VerdictOptions {
  readonly minVisitors: number;
}

/** Judges a group. */
export function judge(facts: GroupFacts, { minVisitors }: VerdictOptions): JudgedGroup {
  const reasons = [
    visitorsReason(facts, minVisitors),
    oneReason(facts),
    signReason(facts),
    elsewhereReason(facts),
    answersReason(facts),
    peopleReason(facts),
    botsReason(facts),
    timeReason(facts),
  ].filter((reason) => reason !== null);
  return { verdict: verdictOf(facts, minVisitors), reasons };
}

function verdictOf(facts: GroupFacts, minVisitors: number): GroupVerdict {
  const { requests, visitors, suspiciousRequests, hours, mostOfOne, bots } = facts;
  if (suspiciousRequests >= ATTACK_SUSPICIOUS * requests) return 'attack';
  if (visitors < minVisitors && isRefused(facts) && facts.ordinary === 0) return 'attack';
  const isFalsePositive =
    visitors >= minVisitors &&
    hours >= FEWEST_HOURS &&
    suspiciousRequests <= MOST_SUSPICIOUS * requests &&
    mostOfOne <= MOST_OF_ONE * requests &&
    bots <= MOST_BOTS * requests &&
    isAnswered(facts) !== false &&
    isOfPeople(facts);
  return isFalsePositive ? 'false_positive' : 'unclear';
}

function answered({ answers }: GroupFacts): number {
  return answers.fine + answers.refused + answers.failed;
}

/** Whether the application takes such requests; `null`: too few answers are known. */
function isAnswered(facts: GroupFacts): boolean | null {
  const all = answered(facts);
  return all < FEWEST_ANSWERS ? null : facts.answers.fine >= LEAST_ANSWERED * all;
}

function isRefused(facts: GroupFacts): boolean {
  const all = answered(facts);
  return all > 0 && facts.answers.refused >= MOST_REFUSED * all;
}

/** Whether some count is evidence that people sent the requests. */
function isOfPeople(facts: GroupFacts): boolean {
  return isFromPages(facts) || isOrdinary(facts) || isOfSection(facts);
}

function isFromPages({ ownPages, requests }: GroupFacts): boolean {
  return ownPages >= OWN_PAGES * requests;
}

function isOrdinary({ ordinary, visitors }: GroupFacts): boolean {
  return visitors > 0 && ordinary >= ORDINARY_VISITORS * visitors;
}

function isOfSection({ section, visitors }: GroupFacts): boolean {
  return section !== null && visitors >= ORDINARY_VISITORS * section.visitors;
}

// The sentences.

function visitorsReason({ visitors, section, unknown }: GroupFacts, minVisitors: number): VerdictReason {
  const of = section === null ? '' : ` of ${section.visitors} on ${section.path}`;
  const rest = unknown === 0 ? '' : `, and ${quantity(unknown, 'request')} of unknown ones`;
  if (visitors >= minVisitors) return { for: 'false_positive', text: `${visitors} visitors${of}${rest}` };
  const text = `${quantity(visitors, 'visitor')}${of}${rest}, fewer than ${minVisitors}`;
  return { for: 'unclear', text };
}

function oneReason({ mostOfOne, requests, agentsOfOne, visitors }: GroupFacts): VerdictReason | null {
  if (mostOfOne <= MOST_OF_ONE * requests || visitors === 0) return null;
  const who = `one address sent ${percent(mostOfOne, requests)} of the requests`;
  if (agentsOfOne < SHARED_AGENTS) return { for: 'unclear', text: who };
  const text = `${who} with ${agentsOfOne} or more browsers, as a shared office or a proxy does`;
  return { for: 'unclear', text };
}

function signReason({ suspicious, suspiciousRequests, requests, sign }: GroupFacts): VerdictReason | null {
  if (suspicious === 0) return { for: 'false_positive', text: 'no visitor shows signs of an attack' };
  const signs = sign === null ? '' : `, such as ${sign}`;
  const who = `${quantity(suspicious, 'visitor shows', 'visitors show')} signs of an attack${signs}`;
  const text = `${who}; they sent ${percent(suspiciousRequests, requests)} of the requests`;
  if (suspiciousRequests >= ATTACK_SUSPICIOUS * requests) return { for: 'attack', text };
  return { for: suspiciousRequests <= MOST_SUSPICIOUS * requests ? 'false_positive' : 'unclear', text };
}

function elsewhereReason({ elsewhere, visitors }: GroupFacts): VerdictReason | null {
  if (visitors === 0) return null;
  if (elsewhere === 0) {
    return { for: 'false_positive', text: 'no visitor triggered signatures of another category elsewhere' };
  }
  const text = `${elsewhere} of ${quantity(visitors, 'visitor')} triggered signatures of other categories elsewhere`;
  return { for: 'unclear', text };
}

function answersReason(facts: GroupFacts): VerdictReason | null {
  const { answers } = facts;
  const all = answered(facts);
  if (all === 0) return null;
  if (isRefused(facts)) {
    const text = `the application answered 4xx to ${percent(answers.refused, all)}`;
    return { for: 'attack', text };
  }
  const text = `the application answered 2xx or 3xx to ${percent(answers.fine, all)}`;
  return { for: isAnswered(facts) === true ? 'false_positive' : 'unclear', text };
}

function peopleReason(facts: GroupFacts): VerdictReason {
  const { ownPages, requests, ordinary, visitors } = facts;
  const parts = [
    ownPages === 0 ? null : `a page of the site led to ${percent(ownPages, requests)}`,
    ordinary === 0 ? null : `${quantity(ordinary, 'visitor')} of ${visitors} had ordinary requests before`,
  ].filter((part) => part !== null);
  const none = 'no page of the site led to them, and no visitor has an ordinary request before in the log';
  const text = parts.length === 0 ? none : parts.join('; ');
  return { for: isFromPages(facts) || isOrdinary(facts) ? 'false_positive' : 'unclear', text };
}

function botsReason({ bots, requests }: GroupFacts): VerdictReason | null {
  if (bots === 0) return null;
  const isFew = bots <= MOST_BOTS * requests;
  return { for: isFew ? 'false_positive' : 'unclear', text: `known bots sent ${percent(bots, requests)}` };
}

function timeReason({ hours, days }: GroupFacts): VerdictReason {
  const text = `in ${quantity(hours, 'hour')} of ${quantity(days, 'day')}`;
  if (hours >= FEWEST_HOURS) return { for: 'false_positive', text };
  return { for: 'unclear', text: `${text}, fewer than ${FEWEST_HOURS} hours` };
}

/** `97 %`; never 0 % of some, nor 100 % of most. */
function percent(part: number, whole: number): string {
  const rounded = Math.round((100 * part) / whole);
  if (part > 0 && rounded === 0) return 'less than 1 %';
  return `${part < whole ? Math.min(99, rounded) : rounded} %`;
}
