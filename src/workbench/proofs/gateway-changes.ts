/**
 * What the gateways of one rule set admit and those of another refuse: requests with credentials, or the proof that no request is one.
 * In: two rule sets. Out: for each cell that admits requests of which a cell of the other side refuses some one of them, confirmed by
 * both evaluators. Requests that no gateway takes count as admitted, and so do preflights that a gateway answers.
 *
 * A gateway that admits credentials also admits more of them, so the fewest that a cell admits decide.
 */
import type { BodyError } from '../../base/json-schema/comparison.ts';
import { RULE_TYPES } from '../../base/vocabulary/vocabulary.ts';
import { compile } from '../../engine/compiler/compile.ts';
import type { Decision } from '../../engine/evaluator/decision.ts';
import type { GatewayReason } from '../../engine/evaluator/gateways.ts';
import type { EdgeRequest } from '../../engine/evaluator/request.ts';
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
import {
  type BodyTaker,
  bodyTaker,
  compareBodies,
  NO_TAKER,
  PROVED,
  refusesBodies,
  type SampleBody,
} from './gateway-bodies.ts';
import { divideGateways, type GatewayCell, type GatewayCells, mayShareRequests } from './gateway-cells.ts';
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
import { compareLimits, type LimitChange } from './usage-plan-changes.ts';
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
  /** The body that the other side refuses; `null`: the request is refused whatever its body is. */
  readonly body: RefusedBody | null;
}

/** A body that is refused, with the places where it is not valid. */
interface RefusedBody extends SampleBody {
  readonly errors: readonly BodyError[];
}

/** What is proved of two rule sets. */
export interface AdmissionChanges {
  readonly changes: readonly AdmissionChange[];
  /** Operations that may admit such requests: no request shows it, and no proof excludes it. */
  readonly open: readonly { readonly by: AdmittingSide; readonly operation: string | null }[];
  /** Usage plans that admit more or less. */
  readonly limits: readonly LimitChange[];
}

/** A rule set with its gateways in the space of both, with its own registry. */
interface Side {
  readonly placed: GatewaySpace;
  /** The rule set whose gateways compare bodies. */
  readonly comparing: Subject;
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
    return { placed: placeGateways(around, side.divided, cells), comparing: side.comparing };
  });
  const found = { changes: [], open: [], budget: createBudget(MAX_COMPARISON_STEPS) };
  compareSides({ ...found, by: 'after', own: now!, other: was! });
  compareSides({ ...found, by: 'before', own: was!, other: now! });
  return { changes: found.changes, open: found.open, limits: compareLimits(older, newer) };
}

/** A rule set as it is opened before both share a space. */
interface OpenedSide {
  readonly subject: Subject;
  readonly comparing: Subject;
  readonly cells: Subject;
  readonly divided: GatewayCells;
  readonly gateways: readonly GatewayRule[];
  readonly registry: Registry;
}

function openSide(given: RuleSet): OpenedSide | null {
  const { keys: _, ...whole } = compilable(given);
  const ruleSet = withoutBodies(whole);
  const { registry: known = EMPTY_REGISTRY } = ruleSet;
  if (!('consumers' in known)) return null;
  // A consumer that expires is one until then.
  const consumers = known.consumers.map((consumer) => ({ ...consumer, expires_at: null }));
  const registry = { ...known, consumers };
  const gateways = whole.rules.filter((rule) => rule.type === 'gateway');
  const divided = divideGateways(
    gateways.filter(({ enabled, action_mode }) => enabled && action_mode === 'enforce'),
  );
  const sealed = (rules: RuleSet['rules']): Uint8Array =>
    seal(compile({ ...ruleSet, registry, rules }).plan, { revision: 1 });
  return {
    ...{ divided, gateways, registry },
    subject: readSubject(sealed(ruleSet.rules), { judgesCredentials: true }),
    comparing: readSubject(sealed(whole.rules), { judgesCredentials: true }),
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
  const none = { operation: null, base: '', taker: NO_TAKER, credentials: [NONE] };
  const outside = { situations: after, bounds: free, ...none };
  compareCell(comparison, outside);
  compareBodiesOf(comparison, outside);
  for (const gateway of gateways) {
    const situations = situationsAt(around, gateway.rule, gateway.box ?? servedBox(around));
    const issued = issuedBy(world, gateway.gateway, others);
    for (const cell of gateway.cells) {
      const credentials =
        cell.kind === 'preflight' ? [NONE] : leastCredentials(gateway.gateway, cell, issued);
      const bounds = boxesOfCell(placed, gateway, cell);
      const named = { operation: nameOf(gateway.gateway, cell), base: gateway.gateway.base_path };
      const taker = bodyTaker(gateway.gateway, cell.operation);
      const admitted = { situations, bounds, ...named, taker, credentials };
      compareCell(comparison, admitted);
      compareBodiesOf(comparison, admitted);
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
  readonly base: string;
  /** What it makes of bodies. */
  readonly taker: BodyTaker;
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

/** Sets bodies of admitted requests against the operations of the other side that compare bodies. */
function compareBodiesOf(comparison: Comparison, admitted: Admitted): void {
  const { by, other, open } = comparison;
  const { taker: own, base } = admitted;
  const shown = new Set<string>();
  let isOpen = false;
  for (const gateway of other.placed.gateways) {
    const { base_path } = gateway.gateway;
    for (const cell of gateway.cells) {
      const taker = bodyTaker(gateway.gateway, cell.operation);
      if (!refusesBodies(taker)) continue;
      const isApart =
        own.operation !== null && base === base_path && !mayShareRequests(own.operation, cell.operation!);
      const { isProved, samples } = isApart ? PROVED : compareBodies(own, taker);
      if (isProved) continue;
      for (const credentials of admitted.credentials) {
        const read = readBy(gateway.gateway, credentials);
        // What is refused anyway is shown without a body.
        if (read !== null && !isAdmitted(gateway.gateway, cell, read)) continue;
        const bounds = boxesOfCell(other.placed, gateway, cell);
        const found = ask(comparison, admitted, { gateway, bounds, credentials, read, shown, samples });
        isOpen ||= found === 'unknown';
        if (found === 'found') break;
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
  /** Bodies one of which it may refuse; absent: it refuses every body. */
  readonly samples?: readonly SampleBody[];
}

/** Asks whether a request is admitted here and refused there; one that is found is recorded if it shows something new. */
function ask(
  comparison: Comparison,
  { situations, bounds, operation }: Admitted,
  { gateway, bounds: refused, credentials, read, shown, samples }: Refused,
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
      const asked = point === null || read === null ? null : { point, credentials, read };
      const change =
        asked === null
          ? null
          : samples === undefined
            ? confirm(comparison, asked)
            : confirmBody(comparison, asked, samples);
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

/** A request with its credentials, and as the other side reads them. */
interface Trial {
  readonly point: Witness;
  readonly credentials: Credentials;
  readonly read: Credentials;
}

type Confirmed = Pick<AdmissionChange, 'refused' | 'credentials' | 'witness' | 'body'>;

/** The request with its credentials, if both evaluators decide it as claimed. */
function confirm({ own, other }: Comparison, trial: Trial, body: SampleBody | null = null): Confirmed | null {
  const { point, credentials, read } = trial;
  const decide = ({ placed, comparing }: Side, one: Credentials): Decision => {
    const { evaluator, moment } = body === null ? placed.around.subject : comparing;
    return evaluator.evaluate(withBody(requestOf(withIdentity(point, one), moment()), body));
  };
  const { gateway: outcome, rule, status } = decide(other, read);
  const isRefused = rule?.type === 'gateway' && outcome !== undefined && outcome.reason !== 'preflight';
  if (!isRefused || !passes(decide(own, credentials))) return null;
  const { reason, operation, errors = [] } = outcome;
  return {
    refused: { reason, operation, status },
    credentials: reason === 'credentials' ? (credentials.issued?.words ?? null) : null,
    witness: { ...withIdentity(point, credentials), status: null },
    body: body === null ? null : { ...body, errors },
  };
}

/** The request with the first body that both evaluators decide as claimed. */
function confirmBody(comparison: Comparison, trial: Trial, samples: readonly SampleBody[]): Confirmed | null {
  for (const body of samples) {
    const confirmed = confirm(comparison, trial, body);
    if (confirmed !== null) return confirmed;
  }
  return null;
}

const UTF8 = new TextEncoder();

function withBody(request: EdgeRequest, body: SampleBody | null): EdgeRequest {
  if (body === null) return request;
  const { 'content-type': _, ...headers } = request.headers ?? {};
  const typed = body.type === null ? headers : { ...headers, 'content-type': body.type };
  return { ...request, headers: typed, body: UTF8.encode(body.text) };
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
