/**
 * Changes of a simulated request, and the request that they come to as words of `simulate`. In: a request and what shall be
 * different. Out: the words, and the request that they state, so that what is printed is what was tried.
 */
import type { EdgeRequest } from '../../engine/evaluator/request.ts';
import { shellWord } from './render-text.ts';
import { type RequestFlags, readRequest } from './request-line.ts';

/** Values by name; `null`: no value is known. */
export type NamedValues = Readonly<Record<string, string | null>>;

/** The facts of a visitor that flags state, by flag. */
export type VisitorFlags = Readonly<
  Partial<Record<'ip' | 'country' | 'asn' | 'bot' | 'ja4' | 'ja4h', string>>
>;

/** A change of the request. */
export interface Proposal {
  readonly method?: string;
  readonly scheme?: string;
  readonly host?: string;
  /** The path in place of the target; the query goes with it unless `query` is given. */
  readonly path?: string;
  readonly query?: NamedValues;
  /** By name in lower case. */
  readonly headers?: NamedValues;
  readonly cookies?: NamedValues;
  readonly visitor?: VisitorFlags;
}

/** Both changes; of a field in both the second. */
export function joinedProposals(first: Proposal, second: Proposal): Proposal {
  const joined = <Name extends 'query' | 'headers' | 'cookies' | 'visitor'>(name: Name) =>
    first[name] === undefined && second[name] === undefined
      ? {}
      : { [name]: { ...first[name], ...second[name] } };
  return {
    ...{ ...first, ...second },
    ...{ ...joined('query'), ...joined('headers'), ...joined('cookies'), ...joined('visitor') },
  };
}

/** A request and the words that state it. */
export interface StatedRequest {
  readonly words: string;
  readonly request: EdgeRequest;
}

/**
 * The changed request. `whole`: with what the request states besides its URL, but for headers: those that are not of the change
 * may be credentials, and only the User-Agent is stated. `null`: words cannot state it.
 */
export function stated(proposal: Proposal, request: EdgeRequest, whole: boolean): StatedRequest | null {
  const {
    method,
    scheme = request.scheme,
    headers,
    cookies,
    visitor,
  } = whole ? joinedProposals(knownOf(request), proposal) : proposal;
  const cleared = whole ? (request.cleared ?? []) : [];
  const url = `${scheme}://${proposal.host ?? String(request.host)}${targetOf(proposal, request.target)}`;
  const { 'user-agent': agent = null, ...others } = headers ?? {};
  const pairs = valuesIn(cookies).map(([name, value]) => `${name}=${value}`);
  const flags: RequestFlags = {
    ...(method === undefined || method === 'GET' ? {} : { method }),
    ...visitor,
    ...(agent === null ? {} : { userAgent: agent }),
    header: valuesIn(others).map(([name, value]) => (value === '' ? `${name};` : `${name}: ${value}`)),
    ...(pairs.length === 0 ? {} : { cookie: pairs.join('; ') }),
    cleared,
  };
  const read = readRequest(url, { ...flags, now: request.now ?? 0 });
  return read.ok ? { request: read.value, words: wordsOf(url, flags) } : null;
}

/** The names that have a value. */
function valuesIn(values: NamedValues | undefined): readonly (readonly [string, string])[] {
  return Object.entries(values ?? {}).flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as const],
  );
}

/** What a request states besides its URL. */
function knownOf({ method, ip, country, asn, bot, ja4, ja4h, headers = {} }: EdgeRequest): Proposal {
  const facts = Object.entries({ ip, country, asn, ja4, ja4h }).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [[name, String(value)] as const],
  );
  const agent = headers['user-agent'];
  return {
    method,
    headers: typeof agent === 'string' ? { 'user-agent': agent } : {},
    visitor: { ...Object.fromEntries(facts), ...(bot === undefined ? {} : { bot: botFlag(bot) }) },
  };
}

/** A bot as `--bot` states it. */
export function botFlag(bot: EdgeRequest['bot']): string {
  if (bot === undefined || bot === null) return 'none';
  return bot.verified === true ? `${bot.kind}:verified` : bot.kind;
}

/** Path and query. */
function targetOf({ path, query }: Proposal, target: string): string {
  const [bare = '', asked] = splitTarget(target);
  if (path !== undefined && query === undefined) return path;
  const parts = (asked ?? '').split('&').filter((part) => part !== '' && !isNamed(part, query ?? {}));
  const added = Object.entries(query ?? {}).flatMap(([name, value]) =>
    value === null ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  );
  const changed = query === undefined ? asked : [...parts, ...added].join('&');
  return `${path ?? bare}${changed === undefined || changed === '' ? '' : `?${changed}`}`;
}

function splitTarget(target: string): readonly [string, string?] {
  const mark = target.indexOf('?');
  return mark < 0 ? [target] : [target.slice(0, mark), target.slice(mark + 1)];
}

/** Whether a part of a query is of one of the names. */
function isNamed(part: string, names: NamedValues): boolean {
  const [written = ''] = part.split('=', 1);
  return Object.keys(names).some((name) => name === decoded(written));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** The URL and the flags as a shell takes them. */
function wordsOf(url: string, flags: RequestFlags): string {
  const { method, userAgent, header = [], cookie, cleared = [] } = flags;
  const facts = (['ip', 'country', 'asn', 'bot', 'ja4', 'ja4h'] as const).flatMap((name) => {
    const value = (flags as VisitorFlags)[name];
    return value === undefined ? [] : [`--${name}`, value];
  });
  const words = [
    ...(method === undefined ? [] : ['-X', method]),
    ...facts,
    ...(userAgent === undefined ? [] : ['-A', userAgent]),
    ...header.flatMap((line) => ['-H', line]),
    ...(cookie === undefined ? [] : ['-b', cookie]),
    ...cleared.flatMap((ref) => ['--cleared', ref]),
  ];
  return [url, ...words]
    .map((word) => (/^-{1,2}[A-Za-z0-9]+$/.test(word) ? word : shellWord(word)))
    .join(' ');
}
