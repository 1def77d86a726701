/**
 * What the proxy does with a decided request, as a CheckResponse. In: the door's answer and the request. Out: the message.
 *
 * Changes of a forwarded request are headers: `:path` for a rewrite, `x-edgeplan-origin`, `x-edgeplan-origin-source` and
 * `x-edgeplan-host` for routes to choose by, `x-edgeplan-tags` and `x-edgeplan-id` for the origin. `:authority` is never set:
 * the proxy would look for another virtual host by it. What a visitor sent by a name of ours is removed.
 */
import type { HeaderList } from '../../../base/http/header-fields.ts';
import { refText } from '../../../engine/evaluator/identity.ts';
import type { Origin } from '../../../engine/evaluator/index.ts';
import { type NetChange, netChanges } from '../../../engine/evaluator/net-changes.ts';
import { isJoined } from '../../answers/answer-to.ts';
import type { ForwardChanges, ProxiedRequest } from '../../decide/proxied.ts';
import type { EdgeVerdict } from '../../decide/verdict.ts';
import type { DoorAnswer } from '../door.ts';
import { type CheckMetadata, type CheckResponse, type SetHeader, wireOctets } from './check-response.ts';

/** Headers that the door sets in forwarded requests. */
const HEADERS = {
  id: 'x-edgeplan-id',
  tags: 'x-edgeplan-tags',
  fault: 'x-edgeplan-fault',
  origin: 'x-edgeplan-origin',
  originSource: 'x-edgeplan-origin-source',
  host: 'x-edgeplan-host',
} as const;

/** How names of ours begin, whichever of `-`, `_` and `.` separate their words: some servers take one for another. */
const OWN_PREFIX = 'x-edgeplan-';

/** Most characters of `x-edgeplan-tags`; servers accept a head of some KiB. */
const MAX_TAG_CHARACTERS = 2_048;

/** The message for a door's answer. */
export function checkResponseOf(answer: DoorAnswer, request: ProxiedRequest): CheckResponse {
  switch (answer.kind) {
    case 'forward':
      return forwarded(answer, request);
    case 'answer': {
      const { status, headers, body } = answer.answer;
      const metadata = metadataOf(answer.id, answer.verdict);
      return { kind: 'denied', status, headers: settingHeaders(headers), body, metadata };
    }
    case 'fault':
      return faultResponse(answer);
    default:
      return answer satisfies never;
  }
}

/** The message for a fault of ours. @param answer `null`: the message was not read as a request */
export function faultResponse(answer: Extract<DoorAnswer, { readonly kind: 'fault' }> | null): CheckResponse {
  if (answer === null) return { kind: 'error', headers: [], metadata: {} };
  const { id, fault } = answer;
  const headers = [
    { name: HEADERS.id, value: id, appends: false },
    { name: HEADERS.fault, value: fault, appends: false },
  ];
  return { kind: 'error', headers, metadata: { id, fault } };
}

type Forward = Extract<DoorAnswer, { readonly kind: 'forward' }>;

function forwarded({ id, verdict, fault, changes }: Forward, request: ProxiedRequest): CheckResponse {
  const headers: SetHeader[] = [];
  const set = (name: string, value: string): void => {
    headers.push({ name, value, appends: false });
  };
  set(HEADERS.id, id);
  if (fault !== null) set(HEADERS.fault, fault);
  const tags = tagText(verdict?.decision.tags ?? []);
  if (tags !== '') set(HEADERS.tags, tags);
  if (changes.target !== request.target) set(':path', changes.target);
  if (changes.origin !== null) {
    set(HEADERS.origin, clusterName(changes.origin));
    set(HEADERS.originSource, changes.origin.source);
    if (changes.origin.hostHeader !== '') set(HEADERS.host, changes.origin.hostHeader);
  }
  const remove: string[] = [];
  setCookies(changes, { set, remove });
  const own = new Set(headers.map(({ name }) => name));
  for (const name of Object.keys(request.headers)) if (isOwnName(name) && !own.has(name)) remove.push(name);
  const ruled = ruledRequest(changes, request);
  return {
    kind: 'ok',
    headers: [...headers.filter(({ name }) => !ruled.names.has(name)), ...ruled.headers],
    remove: [...remove.filter((name) => !ruled.names.has(name)), ...ruled.remove],
    responseHeaders: ruledResponse(changes),
    metadata: fault === null ? metadataOf(id, verdict) : { id, fault },
  };
}

/** What headers rules do to the request; `names`: those in whose place other changes have no effect. */
function ruledRequest(
  { requestChanges }: ForwardChanges,
  request: ProxiedRequest,
): {
  readonly names: ReadonlySet<string>;
  readonly headers: readonly SetHeader[];
  readonly remove: readonly string[];
} {
  if (requestChanges === undefined) return NO_CHANGES;
  const net = netChanges(requestChanges);
  const replaced = [...net].filter(([, { replaces }]) => replaces);
  const names = new Set(replaced.map(([name]) => name));
  const plain = new Set(replaced.map(([name]) => plainName(name)));
  const aliases = Object.keys(request.headers).filter(
    (name) => !names.has(name) && plain.has(plainName(name)),
  );
  const removed = replaced.flatMap(([name, { values }]) => (values.length === 0 ? [name] : []));
  return { names, headers: settingNet(net), remove: [...removed, ...aliases] };
}

const NO_CHANGES = { names: new Set<string>(), headers: [], remove: [] } as const;

/** The headers of the response; what a rule removes of the origin's stays, since the protocol has no removal. */
function ruledResponse({ responseHeaders, responseChanges }: ForwardChanges): readonly SetHeader[] {
  const settings = settingHeaders(responseHeaders);
  if (responseChanges === undefined) return settings;
  const net = netChanges(responseChanges);
  return [...settings.filter(({ name }) => net.get(name)?.replaces !== true), ...settingNet(net)];
}

function settingNet(net: ReadonlyMap<string, NetChange>): readonly SetHeader[] {
  return [...net].flatMap(([name, { replaces, values }]) =>
    values.map((value, at) => ({ name, value, appends: at > 0 || !replaces })),
  );
}

/**
 * Sets the Cookie header without the edge's own cookies. One whose other cookies are not UTF-8 stays whole: no CheckResponse
 * has such octets, and another value could end a visitor's session.
 */
function setCookies(
  { cookies }: ForwardChanges,
  { set, remove }: { readonly set: (name: string, value: string) => void; readonly remove: string[] },
): void {
  if (cookies === null) return;
  if (cookies === '') remove.push('cookie');
  else if (wireOctets(cookies) !== null) set('cookie', cookies);
}

/** Whether a name in lower case is one of ours, or one that a server behind the proxy may take for one. */
function isOwnName(name: string): boolean {
  // PERF: few names begin with these letters.
  return name.startsWith('x') && plainName(name).startsWith(OWN_PREFIX);
}

/** A name with `-` for each mark that some server takes for one. */
function plainName(name: string): string {
  return name.replaceAll(/[_.]/g, '-');
}

/** The origin as the name of a cluster, and as `original_dst` reads it: `address:port`, IPv6 in brackets. */
function clusterName({ address, port, scheme }: Origin): string {
  const host = address.includes(':') ? `[${address}]` : address;
  return `${host}:${port ?? (scheme === 'http' ? 80 : 443)}`;
}

/** Tags, separated by commas, as many as fit. */
function tagText(tags: readonly string[]): string {
  let text = '';
  for (const tag of tags) {
    if (text.length + tag.length >= MAX_TAG_CHARACTERS) break;
    text += text === '' ? tag : `,${tag}`;
  }
  return text;
}

/** Headers that replace others of their name; of several of one name, such as Set-Cookie, the later ones are added. */
function settingHeaders(list: HeaderList): readonly SetHeader[] {
  const headers: SetHeader[] = [];
  const seen = new Set<string>();
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at]!.toLowerCase();
    headers.push({ name, value: list[at + 1]!, appends: seen.has(name) || isJoined(list[at]!) });
    seen.add(name);
  }
  return headers;
}

function metadataOf(id: string, verdict: EdgeVerdict | null): CheckMetadata {
  if (verdict === null) return { id };
  const { domain, decision, unenforced } = verdict;
  const { rule, action } = decision;
  return {
    id,
    domain,
    action,
    ...(rule === null ? {} : { rule: refText(rule) }),
    unenforced,
  };
}
