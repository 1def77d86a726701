/**
 * What the gateways of one rule set admit and those of another refuse: requests with credentials, or the proof that no request is one.
 * In: two rule sets. Out: for each cell that admits requests of which a cell of the other side refuses some one of them, confirmed by
 * both evaluators. Requests that no gateway takes count as admitted, and so do preflights that a gateway answers.
 *
 * A gateway that admits credentials also admits more of them, so the fewest that a cell admits decide.
 */
import { RULE_TYPES } from '../../base/vocabulary/vocabulary.ts';
import { compile } from '../../engine/compiler/compile.ts';
import type { Decision } from '../../engine/evaluator/decision.ts';
import type { GatewayReason } from '../../engine/evaluator/gateways.ts';
import { seal } from '../../engine/plan/seal.ts';
import { EMPTY_REGISTRY, type Registry } from '../../rules/model/registry/registry.ts';
import type { GatewayRule, RuleSet } from '../../rules/model/types.ts';
import { joint } from './changes.ts';
import {
  type Credentials,
  credentialWorld,
  identityOf,
  isAdmitted,
  issuedBy,
  leastCredentials,
  NONE,
  readBy,
  withoutBodies,
} from './credentials.ts';
import { divideGateways, type GatewayCell, type GatewayCells } from './gateway-cells.ts';
import {
  boxesOf,
  boxesOfCell,
  type GatewaySpace,
  narrowed,
  type PlacedGateway,
  placeGateways,
  type RequestBounds,
} from './gateway-questions.ts';
import { placeAfter, redirectExtras, type Situation, servedBox, situationsAt } from './situations.ts';
import { createBudget, type StepBudget } from './space/budget.ts';
import { findUncovered } from './space/cover.ts';
import { createSpace } from './space/space.ts';
import { compilable, readSubject, type Subject } from './subject.ts';
import { requestOf, type Witness, witnessOf } from './witness.ts';

/** Steps of the comparison of two rule sets; some seconds. */
const MAX_COMPARISON_STEPS = 4_000_000;
/** Requests of one cell that are shown, each refused by another cell. */
const MAX_SHOWN = 8;

/** The side that admits requests which the other refuses. */
export const ADMITTING_SIDES = ['before', 'after'] as const;
/** One of ADMITTING_SIDES. */
export type AdmittingSide = (typeof ADMITTING_SIDES)[number];

/** Requests that one side alone admits. */
export interface AdmissionChange {
  readonly by: AdmittingSide;
  /** The operation that admits them; `null`: none describes them. */
  readonly operation: string | null;
  /** Why the other side refuses them, with its operation. */
  readonly refused: {
    readonly reason: GatewayReason;
    readonly operation: string | null;
    readonly status: number | null;
  };
  /** The credentials, where the other side takes none of them: `a token of \`login\``. */
  readonly credentials: string | null;
  readonly witness: Witness;
}

/** What is proved of two rule sets. */
export interface AdmissionChanges {
  readonly changes: readonly AdmissionChange[];
  /** Operations that may admit such requests: no request shows it, and no proof excludes it. */
  readonly open: readonly { readonly by: AdmittingSide; readonly operation: string | null }[];
}

/** A rule set with its gateways in the space of both, with its own registry. */
interface Side {
  readonly placed: GatewaySpace;
}

interface Comparison {
  readonly by: AdmittingSide;
  /** The side that admits. */
  readonly own: Side;
  readonly other: Side;
  readonly budget: StepBudget;
  readonly changes: AdmissionChange[];
  readonly open: AdmissionChanges['open'][number][];
}

/** Compares what the gateways of two rule sets admit. `null`: the consumers of one, or filters of hosts, are not known. */
export function proveAdmissions(before: RuleSet, after: RuleSet): AdmissionChanges | null {
  const sides = [before, after].map(openSide);
  const [older, newer] = sides;
  if (!older || !newer) return null;
  const subjects = [older.subject, newer.subject];
  const plans = [...subjects, older.cells, newer.cells].map(({ loaded }) => loaded);
  const space = createSpace(plans, redirectExtras(subjects));
  if (space === null) return null;
  const gateways = [older, newer].flatMap((side) => side.gateways);
  const [was, now] = [older, newer].map((side, plan): Side => {
    const around = { space, subject: side.subject, plan, lists: new Map() };
    const world = credentialWorld(side.registry, gateways, null);
    const cells = { cells: side.cells, plan: plan + 2, world };
    return { placed: placeGateways(around, side.divided, cells) };
  });
  const found = { changes: [], open: [], budget: createBudget(MAX_COMPARISON_STEPS) };
  compareSides({ ...found, by: 'after', own: now!, other: was! });
  compareSides({ ...found, by: 'before', own: was!, other: now! });
  return found;
}

/** A rule set as it is opened before both share a space. */
interface OpenedSide {
  readonly subject: Subject;
  readonly cells: Subject;
  readonly divided: GatewayCells;
  readonly gateways: readonly GatewayRule[];
  readonly registry: Registry;
}

function openSide(given: RuleSet): OpenedSide | null {
  const { keys: _, ...ruleSet } = withoutBodies(compilable(given));
  const { registry: known = EMPTY_REGISTRY } = ruleSet;
  if (!('consumers' in known)) return null;
  // A consumer that expires is one until then.
  const consumers = known.consumers.map((consumer) => ({ ...consumer, expires_at: null }));
  const registry = { ...known, consumers };
  const gateways = ruleSet.rules.filter((rule) => rule.type === 'gateway');
  const divided = divideGateways(
    gateways.filter(({ enabled, action_mode }) => enabled && action_mode === 'enforce'),
  );
  const sealed = (rules: RuleSet['rules']): Uint8Array =>
    seal(compile({ ...ruleSet, registry, rules }).plan, { revision: 1 });
  return {
    ...{ divided, gateways, registry },
    subject: readSubject(sealed(ruleSet.rules), { judgesCredentials: true }),
    cells: readSubject(sealed(divided.rules)),
  };
}

/** Finds what the own side admits and the other refuses. */
function compareSides(comparison: Comparison): void {
  const { placed } = comparison.own;
  const { around, gateways, world } = placed;
  const { registry } = comparison.other.placed.world;
  const others = comparison.other.placed.gateways.map(({ gateway }) => ({ gateway, registry }));
  const free = { within: [], without: boxesOf(gateways) };
  const after = situationsAt(around, placeAfter(around.subject, 'gateway'), servedBox(around));
  compareCell(comparison, { situations: after, bounds: free, operation: null, credentials: [NONE] });
  for (const gateway of gateways) {
    const situations = situationsAt(around, gateway.rule, gateway.box ?? servedBox(around));
    const issued = issuedBy(world, gateway.gateway, others);
    for (const cell of gateway.cells) {
      const credentials =
        cell.kind === 'preflight' ? [NONE] : leastCredentials(gateway.gateway, cell, issued);
      const bounds = boxesOfCell(placed, gateway, cell);
      compareCell(comparison, { situations, bounds, operation: nameOf(gateway.gateway, cell), credentials });
    }
  }
}

function nameOf({ base_path }: GatewayRule, { operation }: GatewayCell): string | null {
  if (operation === null) return null;
  return `${operation.methods.join(',')} ${base_path === '/' ? '' : base_path}${operation.path}`;
}

/** Requests that the own side admits. */
interface Admitted {
  readonly situations: readonly Situation[];
  readonly bounds: RequestBounds;
  readonly operation: string | null;
  readonly credentials: readonly Credentials[];
}

/** Sets admitted requests against every gateway of the other side. */
function compareCell(comparison: Comparison, admitted: Admitted): void {
  const { by, other, open } = comparison;
  const shown = new Set<string>();
  let isOpen = false;
  for (const credentials of admitted.credentials) {
    for (const gateway of other.placed.gateways) {
      const read = readBy(gateway.gateway, credentials);
      const [whole, ...each] = refusedBy(other, gateway, read ?? NONE);
      // Of most operations no request is refused, which the first question shows.
      if (whole === undefined) continue;
      const asked = { gateway, credentials, read, shown };
      for (const bounds of ask(comparison, admitted, { ...asked, bounds: whole }) === 'none' ? [] : each) {
        if (shown.size >= MAX_SHOWN) break;
        const found = ask(comparison, admitted, { ...asked, bounds });
        isOpen ||= found === 'unknown';
      }
    }
  }
  if (isOpen) open.push({ by, operation: admitted.operation });
}

/**
 * What a gateway refuses with credentials as it reads them: all of it as one part, then the part of each cell. The first part is left unbounded
 * where the gateway admits what no operation describes.
 */
function refusedBy({ placed }: Side, gateway: PlacedGateway, read: Credentials): readonly RequestBounds[] {
  const isRefused = (cell: GatewayCell): boolean =>
    cell.kind !== 'preflight' && !isAdmitted(gateway.gateway, cell, read);
  const refused = gateway.cells.filter(isRefused);
  if (refused.length === 0) return [];
  const admitting = gateway.cells.filter((cell) => !isRefused(cell));
  const isBounded = admitting.every(({ rule }) => rule !== null);
  const { within, without } = boxesOfCell(placed, gateway, { ...refused[0]!, rule: null, without: [] });
  const filters = admitting.flatMap(({ rule }) => (rule === null ? [] : (placed.filterOf(rule) ?? [])));
  const whole = { within, without: isBounded ? [...without, ...filters] : without };
  return [whole, ...refused.map((cell) => boxesOfCell(placed, gateway, cell))];
}

/** A part of what the other side refuses. */
interface Refused {
  readonly gateway: PlacedGateway;
  readonly bounds: RequestBounds;
  readonly credentials: Credentials;
  /** As that gateway reads them; `null`: not known, so a request shows nothing. */
  readonly read: Credentials | null;
  /** What was shown of the operation. */
  readonly shown: Set<string>;
}

/** Asks whether a request is admitted here and refused there; one that is found is recorded if it shows something new. */
function ask(
  comparison: Comparison,
  { situations, bounds, operation }: Admitted,
  { gateway, bounds: refused, credentials, read, shown }: Refused,
): 'found' | 'none' | 'unknown' {
  const { by, own, other, budget, changes } = comparison;
  const { space } = own.placed.around;
  const { around } = other.placed;
  const theirs = situationsAt(around, gateway.rule, gateway.box ?? servedBox(around));
  let result: 'found' | 'none' | 'unknown' = 'none';
  for (const a of situations) {
    for (const b of theirs) {
      const targets = [narrowed(space, a.target, bounds.within), narrowed(space, b.target, refused.within)];
      const [mine, their] = targets;
      if (!mine || !their) continue;
      const query = joint({ ...a, target: mine }, { ...b, target: their });
      if (query === null) continue;
      const blockers = [...query.blockers, ...bounds.without, ...refused.without];
      const found = findUncovered({ ...query, blockers, count: blockers.length }, space, budget);
      if (found.kind === 'covered') continue;
      const point = found.kind === 'point' ? witnessOf(found.point, space, a.acme) : null;
      const change =
        point === null || read === null ? null : confirm(comparison, { point, credentials, read });
      if (change === null) {
        result = 'unknown';
        continue;
      }
      const key = `${change.refused.reason} ${change.refused.operation} ${change.credentials}`;
      if (!shown.has(key)) changes.push({ by, operation, ...change });
      shown.add(key);
      return 'found';
    }
  }
  return result;
}

/** The request with its credentials, if both evaluators decide it as claimed. */
function confirm(
  { own, other }: Comparison,
  {
    point,
    credentials,
    read,
  }: { readonly point: Witness; readonly credentials: Credentials; readonly read: Credentials },
): Pick<AdmissionChange, 'refused' | 'credentials' | 'witness'> | null {
  const decide = ({ placed }: Side, one: Credentials): Decision => {
    const { evaluator, moment } = placed.around.subject;
    return evaluator.evaluate(requestOf(withIdentity(point, one), moment()));
  };
  const { gateway: outcome, rule, status } = decide(other, read);
  const isRefused = rule?.type === 'gateway' && outcome !== undefined && outcome.reason !== 'preflight';
  if (!isRefused || !passes(decide(own, credentials))) return null;
  const { reason, operation } = outcome;
  return {
    refused: { reason, operation, status },
    credentials: reason === 'credentials' ? (credentials.issued?.words ?? null) : null,
    witness: { ...withIdentity(point, credentials), status: null },
  };
}

function withIdentity(point: Witness, credentials: Credentials): Witness {
  return credentials.consumer === null ? point : { ...point, identity: identityOf(credentials) };
}

const GATEWAY = RULE_TYPES.indexOf('gateway');

/** Whether no gateway refuses the request, and no rule of an earlier phase ends it. */
function passes({ action, rule, gateway }: Decision): boolean {
  if (gateway !== undefined) return rule?.type !== 'gateway' || gateway.reason === 'preflight';
  if (rule === null) return action === 'forward';
  return rule.type === 'record' || RULE_TYPES.indexOf(rule.type) > GATEWAY;
}
