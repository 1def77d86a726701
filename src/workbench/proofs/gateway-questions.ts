/**
 * Questions about requests with credentials: which come past the gateways of a plan, and which a gateway answers (semantics §15).
 * In: a situation, which is without credentials. Out: questions about boxes, one for each cell of a gateway that may take the
 * requests and one for those that none takes, each with the credentials with which a request of the box is as asked.
 *
 * A gateway takes a request whatever its credentials are, and credentials are free in every box. So a question with credentials is one
 * about the boxes of the cells that admit them.
 */
import type { Registry } from '../../rules/model/registry/registry.ts';
import {
  type Credentials,
  type CredentialWorld,
  comparesBodies,
  credentialsFor,
  isAdmitted,
  isCounted,
  withoutNeedless,
} from './credentials.ts';
import type { DividedGateway, GatewayCell, GatewayCells } from './gateway-cells.ts';
import { commonBox, matchedBy, type Situation, type SubjectSpace } from './situations.ts';
import { type Box, commonSets, isEmptyBox } from './space/boxes.ts';
import type { CoverQuery } from './space/cover.ts';
import type { Space } from './space/space.ts';
import type { Subject, SubjectRule } from './subject.ts';

/** A question, and credentials that its witness may have. */
export interface CredentialQuestion {
  readonly query: CoverQuery;
  readonly acme: Situation['acme'];
  /** In the order in which they are tried. */
  readonly credentials: readonly Credentials[];
}

/** A gateway with its rule in a space. */
export interface PlacedGateway extends DividedGateway {
  readonly rule: SubjectRule;
  /** The requests that its filters match; `null`: too complex. */
  readonly box: Box | null;
}

/** The enforced gateways of a plan in a space, in the order in which they take requests. */
export interface GatewaySpace {
  readonly around: SubjectSpace;
  readonly world: CredentialWorld;
  readonly gateways: readonly PlacedGateway[];
  /** The filter of a cell by its number; `null`: too complex. */
  filterOf(rule: number): Box | null;
}

/** The gateways of a subject. `cells`: the plan of their cells, and its place in the space. */
export function placeGateways(
  around: SubjectSpace,
  { gateways }: GatewayCells,
  { cells, plan, world }: { readonly cells: Subject; readonly plan: number; readonly world: CredentialWorld },
): GatewaySpace {
  const { subject, space } = around;
  const placed = gateways.flatMap((divided): readonly PlacedGateway[] => {
    const rule = subject.ruleOf('gateway', divided.gateway.id);
    return rule === null || rule.isDryRun ? [] : [{ ...divided, rule, box: matchedBy(around, rule) }];
  });
  return {
    around,
    world,
    gateways: placed.sort((a, b) => a.rule.slot - b.rule.slot),
    filterOf: (number) => space.boxOf(plan, cells.ruleOf('cache', number)!.slot),
  };
}

/** Requests of a situation after the phase of gateways: those that a gateway admits, and those that none takes. */
export function questionsPast(placed: GatewaySpace, situation: Situation): readonly CredentialQuestion[] {
  const { gateways, world } = placed;
  const free = question(placed, situation, {
    within: [],
    without: situation.kind === 'ordinary' ? boxesOf(gateways) : [],
    credentials: credentialsFor(world, null),
  });
  // Requests for tokens of ACME pass gateways, and the edge's own paths end before them.
  if (situation.kind !== 'ordinary') return free;
  const taken = gateways.flatMap((gateway) =>
    questionsIn(placed, gateway, situation, (cell, credentials) =>
      isAdmitted(gateway.gateway, cell, credentials),
    ),
  );
  return [...free, ...taken];
}

/** What a gateway does with requests that it takes. */
const ANSWERS = {
  refused: ({ gateway }, cell, credentials) => !isAdmitted(gateway, cell, credentials),
  limited: ({ gateway }, cell, credentials, registry) =>
    isAdmitted(gateway, cell, credentials) && isCounted({ gateway, cell }, registry, credentials),
  compared: ({ gateway }, cell, credentials) =>
    isAdmitted(gateway, cell, credentials) && comparesBodies(gateway, cell),
} as const satisfies Readonly<
  Record<
    string,
    (gateway: DividedGateway, cell: GatewayCell, credentials: Credentials, registry: Registry) => boolean
  >
>;

/** Requests of a situation of a gateway's rule that it refuses, or may refuse by usage plans or bodies. */
export function questionsAnswered(
  placed: GatewaySpace,
  situation: Situation,
  { rule, answer }: { readonly rule: SubjectRule; readonly answer: keyof typeof ANSWERS },
): readonly CredentialQuestion[] {
  const gateway = placed.gateways.find((one) => one.rule === rule)!;
  return questionsIn(placed, gateway, situation, (cell, credentials) =>
    ANSWERS[answer](gateway, cell, credentials, placed.world.registry),
  );
}

/** Requests that a gateway takes, with credentials for which the verdict on their cell is as asked. */
export function questionsIn(
  placed: GatewaySpace,
  gateway: PlacedGateway,
  situation: Situation,
  isAsked: (cell: GatewayCell, credentials: Credentials) => boolean,
): readonly CredentialQuestion[] {
  const { world } = placed;
  const all = credentialsFor(world, gateway.gateway);
  return gateway.cells.flatMap((cell) => {
    const asked = all.filter((one) => isAsked(cell, one));
    const credentials = asked.map((one) =>
      isAdmitted(gateway.gateway, cell, one) ? withoutNeedless(world, cell, one) : one,
    );
    return question(placed, situation, { ...boxesOfCell(placed, gateway, cell), credentials });
  });
}

/** Boxes that requests are in, and boxes that they are not in. */
export interface RequestBounds {
  readonly within: readonly Box[];
  readonly without: readonly Box[];
}

/** The requests of a cell: those that no earlier gateway takes. A filter that is too complex bounds nothing. */
export function boxesOfCell(
  { gateways, filterOf }: GatewaySpace,
  gateway: PlacedGateway,
  cell: GatewayCell,
): RequestBounds {
  const own = cell.rule === null ? null : filterOf(cell.rule);
  const others = cell.without.flatMap((rule) => filterOf(rule) ?? []);
  const earlier = boxesOf(gateways.slice(0, gateways.indexOf(gateway)));
  return { within: [gateway.box, own].filter((box) => box !== null), without: [...earlier, ...others] };
}

/** The requests that the filters of gateways match; those that are too complex are left out. */
export function boxesOf(gateways: readonly PlacedGateway[]): readonly Box[] {
  return gateways.flatMap(({ box }) => box ?? []);
}

/** A box narrowed to others; `null`: nothing is left. */
export function narrowed(space: Space, target: Box, within: readonly Box[]): Box | null {
  let left = target;
  for (const box of within) {
    const sets = commonSets(left.sets, box.sets);
    if (isEmptyBox({ sets, paths: null })) return null;
    // A box that is too complex to narrow has more requests than are asked about, and lacks none.
    left = commonBox(space, left, box) ?? { sets, paths: left.paths };
  }
  return left;
}

/** The question of a situation in some boxes and outside of others; none without credentials. */
function question(
  { around: { space } }: GatewaySpace,
  situation: Situation,
  { within, without, credentials }: RequestBounds & { readonly credentials: readonly Credentials[] },
): readonly CredentialQuestion[] {
  const { blockers, count, acme, outside } = situation;
  if (credentials.length === 0) return [];
  const target = narrowed(space, situation.target, within);
  if (target === null) return [];
  const all = [...blockers.boxes.slice(0, count), ...without];
  const query = { target, blockers: all, count: all.length, within: situation.within, outside };
  return [{ query, acme, credentials }];
}
