/** Witnesses of proofs: a request is made of a point, and the evaluator confirms that it is decided as the proof claims. */
import { encodeCapture } from '../../base/octets/octets.ts';
import type { Action, Decision, RuleRef } from '../../engine/evaluator/decision.ts';
import { refText } from '../../engine/evaluator/identity.ts';
import { splitReference } from '../../engine/evaluator/phases/redirect.ts';
import type { EdgeRequest } from '../../engine/evaluator/request.ts';
import { acceptsLetters } from './space/automaton.ts';
import { AXES, type Axis } from './space/boxes.ts';
import type { Point } from './space/cover.ts';
import { spell } from './space/search.ts';
import type { Space } from './space/space.ts';
import type { Subject } from './subject.ts';

/** A request that proves a claim. */
export interface Witness {
  readonly method: string;
  readonly url: string;
  readonly ip: string | null;
  readonly country: string | null;
  readonly bot: { readonly kind: string; readonly verified: boolean } | null;
  readonly ja4: string | null;
  readonly ja4h: string | null;
  /** Challenges that the visitor has solved. */
  readonly cleared: readonly string[];
  /** The status of the response, if the claim is about error pages. */
  readonly status: number | null;
}

/** The request of a point. `method`: of requests to paths of ACME tokens, which rules pass only for GET and HEAD. */
export function witnessOf({ atoms, path }: Point, space: Space, acme: 'GET' | 'POST'): Witness {
  const { axes } = space;
  const atom = (axis: Axis): number => atoms[AXES.indexOf(axis)]!;
  const target = encodeCapture(spell(path, space.letters));
  return {
    method: acceptsLetters(space.acme, path) ? acme : 'GET',
    url: `https://${axes.host.sample(atom('host'))}${target}`,
    ip: axes.ip.sample(atom('ip')),
    country: axes.country.sample(atom('country')),
    bot: axes.bot.sample(atom('bot')),
    ja4: axes.ja4.sample(atom('ja4')),
    ja4h: axes.ja4h.sample(atom('ja4h')),
    cleared: [],
    status: axes.status.sample(atom('status')),
  };
}

/** The host of a witness. */
export function hostOfWitness({ url }: Witness): string {
  const start = url.indexOf('://') + 3;
  return url.slice(start, url.indexOf('/', start));
}

/** The request that the evaluator takes. `now`: milliseconds. */
export function requestOf(witness: Witness, now: number): EdgeRequest {
  const { method, url, ip, country, bot, ja4, ja4h, cleared } = witness;
  const start = url.indexOf('://') + 3;
  return {
    scheme: url.slice(0, start - 3),
    method,
    host: hostOfWitness(witness),
    target: url.slice(url.indexOf('/', start)),
    headers: {},
    bot,
    now,
    cleared,
    ...(ip === null ? {} : { ip }),
    ...(country === null ? {} : { country }),
    ...(ja4 === null ? {} : { ja4 }),
    ...(ja4h === null ? {} : { ja4h }),
  };
}

// Confirms that the evaluator decides a request as a proof claims: with challenges solved where one is in the way, and over
// either scheme where a redirect leads to the request's own URL.

/** Changes of one witness, at most: of a fingerprint rule, a captcha rule, a record and redirects, with room. */
const MAX_CHANGES = 16;

/** Whether a decision is what is claimed, and if not, what has ended the request. */
export interface Confirmation {
  readonly isShown: boolean;
  readonly endedBy: EndedBy | null;
}

/** What a rule or record that ended a request did. */
interface EndedBy {
  readonly action: Action;
  readonly rule: RuleRef;
}

/** The witness, maybe changed, with which `attempt` shows the claim; `null`: none was found. */
export function changedUntil(
  first: Witness,
  subject: Subject,
  attempt: (witness: Witness) => Confirmation,
): Witness | null {
  let witness = first;
  for (let tried = 0; tried < MAX_CHANGES; tried++) {
    const { isShown, endedBy } = attempt(witness);
    if (isShown) return witness;
    if (endedBy === null) return null;
    const changed = changedFor(witness, subject, endedBy);
    if (changed === null) return null;
    witness = changed;
  }
  return null;
}

/** Evaluates a witness. */
export function tryDecision(
  { evaluator, moment }: Subject,
  witness: Witness,
  isShown: (decision: Decision) => boolean,
): Confirmation & { readonly decision: Decision } {
  const decision = evaluator.evaluate(requestOf(witness, moment()));
  const { action, rule } = decision;
  return { decision, isShown: isShown(decision), endedBy: rule === null ? null : { action, rule } };
}

/** The witness that a rule does not end again; `null`: no change is known, or it was made before. */
function changedFor(witness: Witness, { rules }: Subject, { action, rule }: EndedBy): Witness | null {
  if (action === 'challenge') return { ...witness, cleared: [...witness.cleared, refText(rule)] };
  if (action !== 'redirect') return null;
  const { scheme, query } = splitReference(
    rules.find(({ ref }) => ref.type === rule.type && ref.id === rule.id)?.target ?? '/',
  );
  const [bare = ''] = witness.url.split('?', 1);
  const rest = `${bare.slice(bare.indexOf(':'))}${query === null ? '' : `?${query}`}`;
  const url = `${scheme === '' ? 'https' : scheme}${rest}`;
  return url === witness.url ? null : { ...witness, url };
}

/**
 * The witness, and if redirects are concerned, the same over either scheme and with each kind of query that decides whether a
 * location is the request's own URL: none, those of the targets, and one that no target has.
 */
export function withUrls(witness: Witness, targets: readonly string[]): readonly Witness[] {
  if (targets.length === 0) return [witness];
  const queries = new Set([
    '',
    ...targets.map(splitReference).map(({ query }) => (query === null ? '' : `?${query}`)),
  ]);
  queries.add(`?${'x'.repeat(1 + Math.max(...[...queries].map(({ length }) => length)))}`);
  const rest = witness.url.slice(witness.url.indexOf(':'));
  return ['https', 'http'].flatMap((scheme) =>
    [...queries].map((query) => ({ ...witness, url: `${scheme}${rest}${query}` })),
  );
}
