/** Witnesses of proofs: a request is made of a point, and the evaluator confirms that it is decided as the proof claims. */
import { encodeCapture } from '../../base/octets/octets.ts';
import type { Action, Decision, RuleRef } from '../../engine/evaluator/decision.ts';
import { refText } from '../../engine/evaluator/identity.ts';
import { splitReference } from '../../engine/evaluator/phases/redirect.ts';
import type { EdgeRequest, RequestIdentity } from '../../engine/evaluator/request.ts';
import { acceptsLetters } from './space/automaton.ts';
import { AXES, type Axis } from './space/boxes.ts';
import type { Point } from './space/cover.ts';
import { spell } from './space/search.ts';
import type { Space } from './space/space.ts';
import type { SampledValue } from './space/value-axes.ts';
import type { Subject } from './subject.ts';

/** A request that proves a claim. */
export interface Witness {
  readonly method: string;
  readonly url: string;
  /** Names in lower case; of several lines a list. A character of a value is an octet. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly ip: string | null;
  readonly country: string | null;
  readonly asn: number | null;
  readonly bot: { readonly kind: string; readonly verified: boolean } | null;
  readonly ja4: string | null;
  readonly ja4h: string | null;
  /** Challenges that the visitor has solved. */
  readonly cleared: readonly string[];
  /** What its credentials prove; absent: it has none. */
  readonly identity?: RequestIdentity;
  /** The status of the response, if the claim is about error pages. */
  readonly status: number | null;
}

/**
 * The request of a point; `null`: it has no values that conditions need. `method`: of requests to paths of ACME tokens, which rules
 * pass only for GET and HEAD without a query.
 */
export function witnessOf({ atoms, path }: Point, space: Space, acme: 'GET' | 'POST'): Witness | null {
  const { axes } = space;
  const atom = (axis: Axis): number => atoms[AXES.indexOf(axis)]!;
  const values = axes.values.valuesAt(atoms);
  if (values === null) return null;
  const isToken = acceptsLetters(space.acme, path);
  const method = values.method ?? (isToken ? acme : 'GET');
  const query = values.query.map(
    ({ name, value }) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  const isFetch = (method === 'GET' || method === 'HEAD') && query.length === 0;
  if (isToken && acme === 'POST' && isFetch) query.push(untested(space));
  const target = encodeCapture(spell(path, space.letters));
  const cookie = values.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  return {
    method,
    url: `${values.scheme ?? 'https'}://${axes.host.sample(atom('host'))}${target}${queryPart(query)}`,
    headers: headersOf(
      cookie === '' ? values.headers : [...values.headers, { name: 'cookie', value: cookie }],
    ),
    ip: axes.ip.sample(atom('ip')),
    country: axes.country.sample(atom('country')),
    asn: values.asn,
    bot: axes.bot.sample(atom('bot')),
    ja4: axes.ja4.sample(atom('ja4')),
    ja4h: axes.ja4h.sample(atom('ja4h')),
    cleared: [],
    status: axes.status.sample(atom('status')),
  };
}

function queryPart(parameters: readonly string[]): string {
  return parameters.length === 0 ? '' : `?${parameters.join('&')}`;
}

/** A query parameter that no condition reads. */
function untested({ axes: { values } }: Space): string {
  let name = 'x';
  while (values.isTested('query', name)) name += 'x';
  return name;
}

/** Header fields by name. */
function headersOf(lines: readonly SampledValue[]): Witness['headers'] {
  const fields = new Map<string, string[]>();
  for (const { name, value } of lines) fields.set(name, [...(fields.get(name) ?? []), value]);
  return Object.fromEntries(
    [...fields].map(([name, values]) => [name, values.length === 1 ? values[0]! : values]),
  );
}

/** The host of a witness. */
export function hostOfWitness({ url }: Witness): string {
  const start = url.indexOf('://') + 3;
  return url.slice(start, url.indexOf('/', start));
}

/** The request that the evaluator takes. `now`: milliseconds. */
export function requestOf(witness: Witness, now: number): EdgeRequest {
  const { method, url, headers, ip, country, asn, bot, ja4, ja4h, cleared, identity } = witness;
  const start = url.indexOf('://') + 3;
  return {
    scheme: url.slice(0, start - 3),
    method,
    host: hostOfWitness(witness),
    target: url.slice(url.indexOf('/', start)),
    headers,
    bot,
    now,
    cleared,
    ...(identity === undefined ? {} : { identity }),
    ...(ip === null ? {} : { ip }),
    ...(country === null ? {} : { country }),
    ...(asn === null ? {} : { asn }),
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
  const own = witness.url.slice(bare.length);
  const rest = `${bare.slice(bare.indexOf(':'))}${query === null ? own : `?${query}`}`;
  const url = `${scheme === '' ? 'https' : scheme}${rest}`;
  return url === witness.url ? null : { ...witness, url };
}

/**
 * The witness, and if redirects are concerned, the same over either scheme and with each kind of query that decides whether a
 * location is the request's own URL: its own, those of the targets alone and after its own, and one that no target has.
 */
export function withUrls(witness: Witness, targets: readonly string[]): readonly Witness[] {
  if (targets.length === 0) return [witness];
  const [bare = ''] = witness.url.split('?', 1);
  const own = witness.url.slice(bare.length);
  const added = (query: string): string => (own === '' ? `?${query}` : `${own}&${query}`);
  const named = targets.map(splitReference).flatMap(({ query }) => (query === null ? [] : [query]));
  const queries = new Set([own, ...named.flatMap((query) => [`?${query}`, added(query)])]);
  queries.add(added('x'.repeat(1 + Math.max(...[...queries].map(({ length }) => length)))));
  const rest = bare.slice(bare.indexOf(':'));
  const first = bare.slice(0, bare.indexOf(':'));
  return [first, first === 'https' ? 'http' : 'https'].flatMap((scheme) =>
    [...queries].map((query) => ({ ...witness, url: `${scheme}${rest}${query}` })),
  );
}
