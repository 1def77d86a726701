/**
 * Applies the changes of headers rules (semantics §14). In: the fields of a message as a flat list, and the decision. Out: the
 * fields with the changes in their order. Where a message is an object of its platform, its fields are changed one by one
 * (`changeFields`).
 */
import type { EdgeAnswer, HeaderList } from '../../base/http/header-fields.ts';
import type { Decision, HeaderChange } from '../../engine/evaluator/index.ts';
import type { Challenges } from './challenge/challenge.ts';

/**
 * Fields that a page of the edge's own does not work without: a challenge has a script that its policy allows, and answers with
 * the cookie by which the visitor passes.
 */
const OF_CHALLENGES: ReadonlySet<string> = new Set([
  'cache-control',
  'content-security-policy',
  'content-type',
  'location',
  'set-cookie',
]);

const NONE: readonly HeaderChange[] = Object.freeze([]);

/** The changes of the response to a decided request. */
export function responseChanges({ action, rule, responseHeaders }: Decision): readonly HeaderChange[] {
  if (responseHeaders === undefined) return NONE;
  const isChallenge = action === 'challenge' || (action === 'respond' && rule === null);
  if (!isChallenge) return responseHeaders;
  return responseHeaders.filter(({ name }) => !OF_CHALLENGES.has(name.toLowerCase()));
}

/**
 * The changes of a forwarded request. A gateway that hides a key sets the visitor's other cookies, among them those of the edge,
 * which no origin gets (semantics §5 captcha).
 */
export function requestChanges(
  { requestHeaders }: Pick<Decision, 'requestHeaders'>,
  challenges: Pick<Challenges, 'withoutOwn'>,
): readonly HeaderChange[] {
  if (requestHeaders === undefined) return NONE;
  return requestHeaders.map((change) => {
    const { op, name, value } = change;
    if (value === null || fieldName(name) !== 'cookie') return change;
    const rest = challenges.withoutOwn(value);
    if (rest === value) return change;
    return rest === '' && op === 'set' ? { op: 'remove', name, value: null } : { op, name, value: rest };
  });
}

/** A name as changes of responses and of requests to an application compare it. */
export function fieldName(name: string): string {
  return name.toLowerCase();
}

/**
 * A name as changes of requests to an origin compare it: one that reads `_` as `-` would take a visitor's field for that of a
 * rule (semantics §7).
 */
export function aliasedName(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

/** A list of fields with changes, whose names compare as `nameOf` returns them. The same list without changes. */
export function changedList(
  headers: HeaderList,
  changes: readonly HeaderChange[],
  nameOf: (name: string) => string,
): HeaderList {
  if (changes.length === 0) return headers;
  let list = headers;
  for (const { op, name, value } of changes) {
    const wanted = nameOf(name);
    const next: string[] = [];
    for (let at = 0; at < list.length; at += 2) {
      if (op === 'add' || nameOf(list[at]!) !== wanted) next.push(list[at]!, list[at + 1]!);
    }
    if (value !== null) next.push(name, value);
    list = next;
  }
  return list;
}

/** A whole answer with the changes of its decision; `null`: it was refused before one. */
export function changedAnswer(answer: EdgeAnswer, decision: Decision | null): EdgeAnswer {
  if (decision?.responseHeaders === undefined) return answer;
  return { ...answer, headers: changedList(answer.headers, responseChanges(decision), fieldName) };
}

/** The fields of a message on some platform. */
export interface ChangedFields {
  set(name: string, value: string): void;
  add(name: string, value: string): void;
  remove(name: string): void;
}

/** Changes the fields of a message in place. */
export function changeFields(fields: ChangedFields, changes: readonly HeaderChange[]): void {
  for (const { op, name, value } of changes) {
    if (value === null) fields.remove(name);
    else if (op === 'add') fields.add(name, value);
    else fields.set(name, value);
  }
}

/** Fields of a request by lower-case name. */
type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Fields that are about one client, and not changed for the cache: it answers conditions and ranges itself. */
const OF_CLIENT: ReadonlySet<string> = new Set([
  'authorization',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'range',
]);

/** The fields by which the cache selects among variants: those that the origin has seen (RFC 9111 §4.1). */
export function variantFields(headers: Fields, changes: readonly HeaderChange[] = NONE): Fields {
  if (changes.length === 0) return headers;
  const changed: Record<string, string | readonly string[] | undefined> = { ...headers };
  for (const { op, name, value } of changes) {
    const lower = name.toLowerCase();
    if (OF_CLIENT.has(lower)) continue;
    const before = op === 'add' ? changed[lower] : undefined;
    if (value === null) delete changed[lower];
    else changed[lower] = before === undefined ? value : [...[before].flat(), value];
  }
  return changed;
}
