/** Translates custom rules of Cloudflare that refuse or challenge requests. */
import { answerWith, type DraftEntry, markDifference, tryDrop, tryRule } from '../draft.ts';
import { areDisjoint, type ImportedFilter, ruleFields } from '../filter.ts';
import { addGuard, type GuardRules } from '../guard.ts';
import { numberAt, objectAt, textAt } from '../json-source.ts';
import type { CloudflareImport, CloudflareRule, EarlierPhase } from './zone.ts';

/** Actions that ask the visitor's browser. */
export const CHALLENGES: readonly string[] = ['managed_challenge', 'js_challenge', 'challenge'];

/** Adds the rules of a custom rule; whether each alternative of its expression has one. */
export function addFirewall(
  state: CloudflareImport,
  source: CloudflareRule,
  conditional: Pick<GuardRules, 'condition' | 'differences' | 'unmet'>,
): boolean {
  const { draft } = state;
  const { rule, entry } = source;
  if (CHALLENGES.includes(textAt(rule, 'action'))) {
    return addGuard(draft, entry, {
      ...conditional,
      closing: 'challenged',
      emit: (filter) => emitChallenge(state, source, filter),
      close: (filter) => emitChallenge(state, source, filter),
    });
  }
  return addGuard(draft, entry, {
    ...conditional,
    closing: 'refused',
    emit: (filter) => (isOfBots(filter) ? emitBots(state, source, filter) : emitBlock(state, source, filter)),
    close: (filter) => emitBlock(state, source, filter),
  });
}

function emitChallenge(
  state: CloudflareImport,
  { entry }: CloudflareRule,
  filter: ImportedFilter,
): string | null {
  const refused = tryRule(state.draft, entry, 'captcha', ruleFields(filter));
  if (refused !== null) return refused;
  markDifference(entry, 'the edge asks its own challenge, and verified search crawlers pass it');
  state.challenges.push({ filter, place: entry.place });
  noteEarlier(entry, filter, state);
  return null;
}

/** Whether a filter is one of bots that a bot_route rule has: such rules have none on paths. */
function isOfBots({ botKinds, pathIncludes, pathExcludes }: ImportedFilter): boolean {
  return botKinds !== null && pathIncludes === null && pathExcludes.length === 0;
}

function emitBots(
  { draft }: CloudflareImport,
  { entry }: CloudflareRule,
  filter: ImportedFilter,
): string | null {
  const place = ruleFields({ ...filter, botKinds: null, verifiedBots: false });
  const { path_match_type: _, ...hosts } = place as Record<string, unknown>;
  const bots = { bot_kinds: filter.botKinds, require_verified: filter.verifiedBots, action: 'block' };
  return tryRule(draft, entry, 'bot_route', { ...hosts, ...bots });
}

function emitBlock(
  state: CloudflareImport,
  { rule, entry }: CloudflareRule,
  filter: ImportedFilter,
): string | null {
  const refused = tryDrop(state.draft, entry, filter);
  if (refused !== null) return refused;
  const response = objectAt(objectAt(rule, 'action_parameters'), 'response');
  const status = numberAt(response, 'status_code') ?? 403;
  answerWith(state.draft, entry, { status, product: 'Cloudflare' });
  if (textAt(response, 'content') !== '') markDifference(entry, 'the edge answers with its own page');
  noteEarlier(entry, filter, state);
  for (const { filter: other, place } of state.challenges) {
    if (!areDisjoint(filter, other))
      markDifference(entry, `requests that ${place} challenges first are refused at once`);
  }
  return null;
}

/** States what single redirects and rewrites, which Cloudflare evaluates first, change for a rule. */
export function noteEarlier(
  entry: DraftEntry,
  filter: ImportedFilter,
  { redirects, rewrites }: CloudflareImport,
): void {
  const redirect = redirects.find((one) => !areDisjoint(filter, one.filter));
  if (redirect !== undefined && entry.becomes[0] !== 'captcha') {
    markDifference(
      entry,
      `requests that ${redirect.place} redirects meet this rule first; Cloudflare redirects them`,
    );
  }
  noteRewrites(entry, filter, rewrites);
}

/** States that the edge compares paths before the rewrites that concern them. */
export function noteRewrites(
  entry: DraftEntry,
  filter: ImportedFilter,
  rewrites: readonly EarlierPhase[],
): void {
  if (filter.pathIncludes === null && filter.pathExcludes.length === 0) return;
  for (const { filter: other, place, target } of rewrites) {
    const after: ImportedFilter = {
      ...other,
      pathIncludes: target === null || target === undefined ? null : [target],
      pathExcludes: [],
    };
    if (areDisjoint(filter, other) && areDisjoint(filter, after)) continue;
    markDifference(
      entry,
      `the edge compares the path of the visitor; Cloudflare the one that ${place} has rewritten`,
    );
  }
}
