/**
 * Finds rules that no request reaches, by proof: other rules take all their requests, or they match none. Also redirects of
 * several rules that lead round in a circle. Every claim is proved; what a budget leaves open is reported as such.
 */
import type { Rule } from '../../../rules/model/types.ts';
import { findCircles } from '../circles.ts';
import { effectOf, nameOfRule } from '../effects.ts';
import type { Reach } from '../reach.ts';
import { MAX_RULE_STEPS } from '../space/limits.ts';
import type { Subject, SubjectRule } from '../subject.ts';
import type { Finding, ProofContext } from './finding.ts';

/** Rules that a message names; the others are counted. */
const MAX_NAMED = 8;

/** Reports what is not reached. Rules with an error already get no second one. */
export function lintReach(
  { subject, ruleOf, found }: ProofContext,
  reaches: readonly Reach[],
): readonly Finding[] {
  const broken = new Set(found.filter(({ severity }) => severity === 'error').map(({ rule }) => rule));
  const unreached = reaches.flatMap((reach): readonly Finding[] => {
    const rule = ruleOf(reach.rule);
    return broken.has(rule) ? [] : unreachedFinding(reach, rule, subject);
  });
  const circles = findCircles(subject, reaches).map(({ rules }): Finding => {
    const way = [...rules, rules[0]!].map((one) => `\`${nameOfRule(one)}\``).join(' → ');
    return {
      rule: ruleOf(rules[0]!),
      field: ['target'],
      severity: 'error',
      code: 'redirect_circle',
      message: `leads visitors round in a circle: ${way}`,
      remedy: 'let one of these rules lead elsewhere, or exclude the path it leads to',
    };
  });
  return [...unreached, ...circles];
}

/** The finding about a rule that is not known to be reached. */
function unreachedFinding(
  { rule: subjectRule, result }: Reach,
  rule: Rule,
  subject: Subject,
): readonly Finding[] {
  const at = { rule, field: ['type'] } as const;
  switch (result.kind) {
    case 'reached':
      return [];
    case 'unmatched': {
      const message = 'matches no request: no host, path and visitor pass all its filters';
      return [
        {
          ...at,
          code: 'unmatched_rule',
          severity: 'error',
          message,
          remedy: 'widen its filters, or remove it',
        },
      ];
    }
    case 'unknown': {
      const message = `is not proved to be reached or unreachable within ${MAX_RULE_STEPS} steps`;
      const remedy = 'simplify its patterns, or try a request with `edgeplan simulate`';
      return [{ ...at, code: 'unproved_rule', severity: 'info', message, remedy }];
    }
    case 'shadowed': {
      const { by } = result;
      const isSame = by.every((other) => effectOf(subject, other) === effectOf(subject, subjectRule));
      const takes = by.length === 1 ? 'takes every request' : 'together take every request';
      const effect = isSame ? 'with the same effect' : 'with another effect';
      const message = `is never reached: ${listed(by)} ${takes} that it matches, ${effect}`;
      const remedy = isSame ? 'remove it' : 'give it a lower `priority` than theirs, or narrow them';
      return [
        {
          ...at,
          code: 'shadowed_rule',
          severity: isSame ? 'warning' : 'error',
          message,
          remedy: remedyFor(subjectRule, by, remedy),
        },
      ];
    }
    default:
      return result satisfies never;
  }
}

/** Priority orders rules of one type only. */
function remedyFor(rule: SubjectRule, by: readonly SubjectRule[], remedy: string): string {
  if (remedy === 'remove it' || by.every(({ type }) => type === rule.type)) return remedy;
  return 'narrow the rules that take its requests, or remove it; rules of earlier phases always come first';
}

/** Rules in words. */
function listed(rules: readonly SubjectRule[]): string {
  const names = rules.slice(0, MAX_NAMED).map((rule) => `\`${nameOfRule(rule)}\``);
  const more = rules.length - names.length;
  if (more > 0) return `${names.join(', ')} and ${more} more`;
  const last = names.pop()!;
  return names.length === 0 ? last : `${names.join(', ')} and ${last}`;
}
