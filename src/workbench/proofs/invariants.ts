/**
 * Proves invariants: whether some request that is meant can get an outcome that it must never get, whatever the state of
 * counters, scores and solved challenges. In: a rule set and invariants. Out: for each a proof, a request that breaks it, or
 * neither if a budget ended.
 *
 * The filters of an invariant are compiled as rules of a second plan, so they are boxes of the same space. Each outcome has
 * its sources: the rules with that effect, the challenge of a record, the edge's own answers, and the end of all phases. A
 * source that no request of the box comes to is covered by what ends requests before it; that is one question each, or one for each
 * cell of a gateway, since what a gateway does depends on credentials (`gateway-questions.ts`).
 */

import { compile } from '../../engine/compiler/compile.ts';
import type { Action, Decision } from '../../engine/evaluator/decision.ts';
import { seal } from '../../engine/plan/seal.ts';
import type { Invariant } from '../../rules/model/invariant.ts';
import { EMPTY_REGISTRY } from '../../rules/model/registry/registry.ts';
import type { Rule, RuleSet } from '../../rules/model/types.ts';
import {
  type Credentials,
  credentialsFor,
  credentialWorld,
  identityOf,
  mayCompareBodies,
  withoutBodies,
} from './credentials.ts';
import { divideGateways } from './gateway-cells.ts';
import { type CredentialQuestion, type GatewaySpace, placeGateways } from './gateway-questions.ts';
import { type OutcomeSource, sourcesOf } from './invariant-sources.ts';
import { redirectExtras, type SubjectSpace, servedBox } from './situations.ts';
import { AXES, atomSet, type Box, commonSets, isEmptyBox, restricted, subtract } from './space/boxes.ts';
import { createBudget, MAX_TOTAL_STEPS, type StepBudget, shareOf } from './space/budget.ts';
import { findUncovered } from './space/cover.ts';
import { createSpace, type SpaceAxes } from './space/space.ts';
import {
  compilable,
  knowsLists,
  type ListSources,
  readSubject,
  type Subject,
  type SubjectRule,
} from './subject.ts';
import { changedUntil, requestOf, tryDecision, type Witness, withUrls, witnessOf } from './witness.ts';

/** Steps of all questions about one invariant; about a second. */
export const MAX_INVARIANT_STEPS = 1_000_000;

/** What is known of an invariant. */
export type InvariantResult =
  | { readonly kind: 'proved' }
  | ({ readonly kind: 'broken' } & Breach)
  /** No request that the domain serves is meant, so it shows nothing. */
  | { readonly kind: 'empty' }
  /** `open`: the source of an outcome that was not decided within the budget. */
  | { readonly kind: 'unknown'; readonly open: string };

/** A request that breaks an invariant. */
export interface Breach {
  readonly witness: Witness;
  readonly action: Action;
  /** The rule that does it; `null`: none does, or a record. */
  readonly rule: SubjectRule | null;
  /** The state in which the rule does it, or a body that the witness lacks; `null`: in any. */
  readonly needs: OutcomeSource['needs'];
  /** What the evaluator decides where the state is not needed. */
  readonly decision: Decision;
}

/** The result of one invariant. */
export interface ProvedInvariant {
  readonly invariant: Invariant;
  readonly result: InvariantResult;
}

/** The rule set and the invariants in one space. */
interface Proving {
  readonly around: SubjectSpace;
  /** The plan whose rules have the filters of the invariants, and the place of each. */
  readonly scopes: Subject;
  readonly sources: readonly OutcomeSource[];
  /** The rule set whose gateways compare bodies; `null`: none does. */
  readonly comparing: Subject | null;
  /** The gateways, with the credentials that an invariant means. */
  placed(invariant: Invariant): GatewaySpace;
}

const BOT = AXES.indexOf('bot');

/** Proves or disproves every invariant. */
export function proveInvariants(
  ruleSet: RuleSet,
  invariants: readonly Invariant[],
  sources: ListSources = {},
): readonly ProvedInvariant[] {
  const prove = openInvariants(ruleSet, invariants, sources);
  const total = createBudget(MAX_TOTAL_STEPS);
  return invariants.map((invariant, index) => ({ invariant, result: prove(index, total) }));
}

/** Compiles a rule set with invariants; the function proves one of them, by its place. */
export function openInvariants(
  ruleSet: RuleSet,
  invariants: readonly Invariant[],
  sources: ListSources = {},
): (index: number, total: StepBudget) => InvariantResult {
  const whole = unexpired(compilable(ruleSet));
  const domain = withoutBodies(whole);
  const meant = invariants.map(({ when }, index): Rule => ({ ...when, type: 'drop', id: index + 1 }));
  if (!knowsLists({ ...domain, rules: [...domain.rules, ...meant] }, sources))
    return () => ({ kind: 'unknown', open: 'lists whose entries are not known' });
  const { registry = EMPTY_REGISTRY } = domain;
  if (!('consumers' in registry)) return () => ({ kind: 'unknown', open: 'the consumers of the domain' });
  const gateways = whole.rules.filter((rule) => rule.type === 'gateway');
  const divided = divideGateways(
    gateways.filter(({ enabled, action_mode }) => enabled && action_mode === 'enforce'),
  );
  const options = { ...sources, judgesCredentials: true };
  const subject = readSubject(seal(compile(domain).plan, { revision: 1 }), options);
  const { keys: _, ...rest } = domain;
  const rules = [...meant, ...divided.rules];
  const scopes = readSubject(seal(compile({ ...rest, rules }).plan, { revision: 1 }), sources);
  const space = createSpace([subject.loaded, scopes.loaded], redirectExtras([subject]));
  if (space === null) return () => ({ kind: 'unknown', open: 'the filters of hosts' });
  const around: SubjectSpace = { space, subject, plan: 0, lists: new Map() };
  const compares = gateways.some(mayCompareBodies);
  const comparing = compares ? readSubject(seal(compile(whole).plan, { revision: 1 }), options) : null;
  const proving: Proving = {
    ...{ around, scopes, sources: sourcesOf(around), comparing },
    placed({ identity }) {
      const world = credentialWorld(registry, gateways, identity);
      return placeGateways(around, divided, { cells: scopes, plan: 1, world });
    },
  };
  return (index, total) => proveOne(proving, invariants[index]!, { id: index + 1, total });
}

/** The rule set in which no consumer expires: an invariant holds at any time before. */
function unexpired(ruleSet: RuleSet): RuleSet {
  const { registry } = ruleSet;
  if (registry === undefined || !('consumers' in registry)) return ruleSet;
  const consumers = registry.consumers.map((consumer) => ({ ...consumer, expires_at: null }));
  return { ...ruleSet, registry: { ...registry, consumers } };
}

function proveOne(
  proving: Proving,
  invariant: Invariant,
  { id, total }: { readonly id: number; readonly total: StepBudget },
): InvariantResult {
  const { around, sources } = proving;
  const placed = proving.placed(invariant);
  if (credentialsFor(placed.world, null).length === 0) return { kind: 'empty' };
  const target = meantBy(proving, invariant, id);
  if (target === null) return { kind: 'unknown', open: 'the paths of `when`' };
  const budget = shareOf(total, MAX_INVARIANT_STEPS);
  const any = { target, blockers: [], count: 0, within: [], outside: [] };
  const some = findUncovered(any, around.space, budget);
  if (some.kind === 'covered') return { kind: 'empty' };
  const asked: Asked = {
    placed,
    isMeant: (witness) => means(proving.scopes, witness, id),
    needsBody: (witness, { acts }) =>
      proving.comparing !== null && !acts(tryDecision(proving.comparing, witness, acts).decision),
  };
  let open: string | null = null;
  for (const source of sources) {
    if (!invariant.never.includes(source.action)) continue;
    const found = askSource(asked, source, target, budget);
    if (found === 'unknown') open ??= source.name;
    else if (found !== 'none') return { kind: 'broken', ...found };
  }
  return open === null ? { kind: 'proved' } : { kind: 'unknown', open };
}

/** The requests that an invariant is about; `null`: its paths are too complex. */
function meantBy({ around, scopes }: Proving, { bots }: Invariant, id: number): Box | null {
  const { space } = around;
  const parts = space.partsOf(1, scopes.ruleOf('drop', id)!.slot);
  if (parts === null) return null;
  const { filters, terms } = parts;
  const sets = restricted(commonSets(filters.sets, servedBox(around).sets), terms);
  if (bots === null) return { ...filters, sets };
  const { bot } = space.axes;
  const listed = atomSet(bots.listed.flatMap((entry) => atomsOfBot(bot, entry)));
  const set = bots.excludes ? subtract(bot.all, listed) : listed;
  return { ...filters, sets: restricted(sets, [{ axis: BOT, set }]) };
}

function atomsOfBot(
  bot: SpaceAxes['bot'],
  { kind, verified }: { readonly kind: string | null; readonly verified: boolean | null },
): readonly number[] {
  if (kind === null) return [0];
  const [from, to] = bot.kindSet(kind);
  const atoms = Array.from({ length: to! - from! }, (_, at) => from! + at);
  return atoms.filter((atom) => verified === null || bot.sample(atom)?.verified === verified);
}

/** Whether the filters of an invariant mean a request, by the evaluator. */
function means({ evaluator, moment }: Subject, witness: Witness, id: number): boolean {
  const { matches } = evaluator.evaluate(requestOf(witness, moment()));
  return matches.some((match) => match.type === 'drop' && match.id === id);
}

/** What one invariant asks of every source. */
interface Asked {
  readonly placed: GatewaySpace;
  /** A point may have values that no request has, and another URL is tried than that of the point. */
  readonly isMeant: (witness: Witness) => boolean;
  /** Whether a source acts on the witness with a body alone, which it lacks. */
  readonly needsBody: (witness: Witness, source: OutcomeSource) => boolean;
}

/** Asks whether a request of the box comes to a source, and confirms it. */
function askSource(
  { placed, ...asked }: Asked,
  source: OutcomeSource,
  target: Box,
  budget: StepBudget,
): Breach | 'none' | 'unknown' {
  const situations = source.situations(target);
  if (situations === null) return 'unknown';
  let isOpen = false;
  for (const situation of situations) {
    if (isEmptyBox(situation.target)) continue;
    for (const question of source.questions(placed, situation)) {
      const { space } = placed.around;
      const found = findUncovered(question.query, space, budget);
      if (found.kind === 'covered') continue;
      const point = found.kind === 'point' ? witnessOf(found.point, space, question.acme) : null;
      const breach = point === null ? null : confirm(placed.around, source, { ...question, point, ...asked });
      if (breach !== null) return breach;
      isOpen = true;
    }
  }
  return isOpen ? 'unknown' : 'none';
}

/** The breach that a witness shows with some of the credentials; of a redirect maybe with another scheme or query. */
function confirm(
  { subject }: SubjectSpace,
  source: OutcomeSource,
  {
    point,
    credentials,
    isMeant,
    needsBody,
  }: Pick<CredentialQuestion, 'credentials'> & Omit<Asked, 'placed'> & { readonly point: Witness },
): Breach | null {
  const { action, rule } = source;
  const targets = rule?.type === 'redirect' ? [rule.target] : [];
  for (const one of credentials) {
    for (const first of withUrls({ ...point, status: null, ...identityPart(one) }, targets)) {
      const witness = changedUntil(first, subject, (changed) => tryDecision(subject, changed, source.acts));
      if (witness === null || !isMeant(witness)) continue;
      const { decision } = tryDecision(subject, witness, source.acts);
      const needs = source.needs ?? (needsBody(witness, source) ? 'body' : null);
      return { witness, action, rule, needs, decision };
    }
  }
  return null;
}

/** The identity of a witness; without credentials it has none. */
function identityPart(credentials: Credentials): Pick<Witness, 'identity'> {
  return credentials.consumer === null ? {} : { identity: identityOf(credentials) };
}
