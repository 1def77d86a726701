/** Phase 7: the first captcha rule that matches challenges; without a match, a record with `captcha` does. */
import { GROUP, typeIndex } from '../../plan/layout.ts';
import type { Decision } from '../decision.ts';
import { isCleared, isRecordCleared, refOfRecord } from '../identity.ts';
import { acts, type Context, end, endPhase, nextMatch, type Run, record, refOf } from '../run.ts';

const CAPTCHA = typeIndex('captcha');

/** Runs the phase; true when it ended the request. */
export function captcha(context: Context, run: Run): boolean {
  const { facts, loaded } = context;
  for (let slot = nextMatch(context, CAPTCHA); slot >= 0; slot = nextMatch(context, CAPTCHA)) {
    const solved = isCleared(facts, loaded, slot);
    record(context, run, slot, solved ? 'passed' : 'challenge');
    if (!acts(context, run, slot)) continue;
    endPhase(context, CAPTCHA);
    return !solved && end(run, 'challenge', { status: 403, rule: refOf(context, slot) });
  }
  return captchaOfRecord(context, run);
}

/** The challenge that a record of the host demands; the lowest id of several (semantics §4). */
export function captchaOfRecord(context: Context, run: Run): boolean {
  const { facts, loaded } = context;
  const id = loaded.plan.words[facts.group + GROUP.captcha]!;
  if (id === 0 || isRecordCleared(facts, loaded, id)) return false;
  return end(run, 'challenge', { status: 403, rule: refOfRecord(loaded, id) });
}

/** The note of a trace about the challenge that a record asks for. */
export function captchaNote(context: Context, decision: Decision): string | null {
  const id = context.loaded.plan.words[context.facts.group + GROUP.captcha]!;
  if (id === 0 || decision.matches.some((match) => match.type === 'captcha' && match.mode === 'enforce'))
    return null;
  const asks = decision.rule?.type === 'record';
  return asks
    ? `record ${id} asks for a challenge`
    : `record ${id} asks for a challenge, which this visitor has solved`;
}
