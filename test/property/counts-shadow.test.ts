/** What dry_run rules would have changed, against the naive account of the logged fields. */
import { expect, test } from 'vitest';
import { loggedDecision } from '../../src/edge/proxy/log/line.ts';
import { type ShadowedDecision, shadowChanges } from '../../src/engine/counts/shadow-changes.ts';
import { refText } from '../../src/engine/evaluator/identity.ts';
import { changesOfLine, type LineFields } from '../oracle/shadow-changes.ts';
import { generatedDecisions } from '../support/counted-requests.ts';
import { sizeOf } from '../support/size.ts';

const DECISIONS = generatedDecisions(sizeOf('EDGEPLAN_PAIRS', { usual: 20_000, full: 200_000 }) / 50, 50);

function lineOf(decision: (typeof DECISIONS)[number]): LineFields {
  const { shadow, matches } = decision;
  return {
    decision: loggedDecision(decision),
    shadow: shadow === null ? null : loggedDecision(shadow),
    matches: matches.map((match) => ({ rule: refText(match), mode: match.mode, effect: match.effect })),
  };
}

function texts(decision: ShadowedDecision): readonly string[] {
  return shadowChanges(decision)
    .map(({ type, id, from, to, instead }) => `${type}/${id}: ${from} → ${to}, not ${instead}`)
    .sort();
}

test('the changes of a decision are those that its log line shows', () => {
  const seen = new Map<string, number>();
  for (const decision of DECISIONS) {
    const naive = changesOfLine(lineOf(decision));
    expect(texts(decision), JSON.stringify(decision)).toEqual(naive);
    for (const { from, to } of shadowChanges(decision)) {
      const kind =
        from === 'forward' && to.startsWith('forward') ? to : `${from.split(' ')[0]} → ${to.split(' ')[0]}`;
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
    }
  }
  // The generated cases reach what they are meant to: every field of a forwarded request, and outcomes of all kinds.
  for (const kind of ['origin', 'path', 'tags', 'cache'])
    expect(
      [...seen.keys()].some((key) => key.startsWith('forward with') && key.includes(kind)),
      kind,
    ).toBe(true);
  for (const kind of ['forward → block', 'forward → challenge', 'forward → redirect', 'redirect → forward'])
    expect(seen.get(kind) ?? 0, `${kind} of ${[...seen]}`).toBeGreaterThan(0);
});

test('a shadow that differs is attributed to at least one dry_run rule that matched', () => {
  for (const decision of DECISIONS) {
    const { shadow, matches } = decision;
    if (shadow === null) {
      expect(shadowChanges(decision)).toEqual([]);
      continue;
    }
    const changes = shadowChanges(decision);
    const outcomeDiffers = decision.action !== shadow.action || decision.status !== shadow.status;
    if (outcomeDiffers) expect(changes.length, JSON.stringify(decision)).toBeGreaterThan(0);
    for (const { type, id } of changes)
      expect(
        matches.some((match) => match.type === type && match.id === id && match.mode === 'dry_run'),
      ).toBe(true);
    expect(new Set(changes.map(({ type, id }) => `${type}/${id}`)).size).toBe(changes.length);
  }
});
