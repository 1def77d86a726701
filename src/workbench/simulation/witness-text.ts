/** Requests that prove claims, as text: the operands of `edgeplan simulate`, and what they get. */

import type { Decision } from '../../engine/evaluator/decision.ts';
import { nameOfRule } from '../proofs/effects.ts';
import type { Witness } from '../proofs/space/witness.ts';
import type { SubjectRule } from '../proofs/subject.ts';
import { shellWord } from './shell-word.ts';

/** The request as operands and options of `edgeplan simulate`. */
export function witnessText(witness: Witness): string {
  const { method, url, ip, country, bot, ja4, ja4h, cleared, status } = witness;
  const options: readonly (readonly [string, string | null])[] = [
    ['--ip', ip],
    ['--country', country],
    ['--bot', bot === null ? null : `${bot.kind}${bot.verified ? ':verified' : ''}`],
    ['--ja4', ja4],
    ['--ja4h', ja4h],
    ...cleared.map((one) => ['--cleared', one] as const),
  ];
  const words = options.flatMap(([name, value]) => (value === null ? [] : [name, shellWord(value)]));
  const verb = method === 'GET' ? [] : [method];
  const note = status === null ? [] : [`(response ${status})`];
  return [...verb, shellWord(url), ...words, ...note].join(' ');
}

/** The outcome of a request: action, status and rule. */
export function decisionText(
  { action, status, location, origin }: Decision,
  rule: SubjectRule | null,
): string {
  const target = action === 'redirect' ? ` to ${location}` : origin === null ? '' : ` to ${origin.address}`;
  const by = rule === null ? '' : ` by ${nameOfRule(rule)}`;
  return `${action}${status === null ? '' : ` ${status}`}${target}${by}`;
}
