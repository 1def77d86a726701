/**
 * The feed of a list: where its entries are fetched from and how the last fetch ended. In: an object of a customer, or the JSON
 * texts of a row. Out: settings and state, or the mistakes by their place.
 */
import { type SpecialJudge, specialKind } from '../../../base/addresses/special-addresses.ts';
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import { isObject } from '../../../base/text/json-object.ts';
import { nearest } from '../../../rules/model/nearest.ts';
import { type Problem, type Report, unknownField } from '../../../rules/model/report.ts';
import { judgeWebhookUrl, literalAddress } from '../../notices/outlets.ts';
import {
  MAX_EVERY_MIN,
  MAX_FEED_PATH_CHARACTERS,
  MAX_HEADER_CHARACTERS,
  MAX_PATH_NAMES,
  MIN_EVERY_MIN,
} from './limits.ts';

/** The formats of a fetched body. */
export const FEED_FORMATS = ['text', 'csv', 'json'] as const;
/** One of `FEED_FORMATS`. */
export type FeedFormat = (typeof FEED_FORMATS)[number];

/** Settings as they are stored and answered. */
export interface FeedSettings {
  readonly url: string;
  readonly format: FeedFormat;
  /** Of `csv` a column, by name or number from 1; of `json` the names that lead to the values. Absent: see `read-feed.ts`. */
  readonly path?: string;
  readonly every_min: number;
  /** Whether a header is sent; the header itself is stored encrypted, and never answered. */
  readonly auth_header: boolean;
}

/** Settings as they were given. */
export interface GivenFeed extends Omit<FeedSettings, 'auth_header'> {
  /** The header; `true`: that of the feed before, `false`: none. */
  readonly auth_header: string | boolean;
}

/** Why there is no new content. */
export const FEED_ERRORS = ['unreachable', 'too_large', 'unparsable', 'over_limits', 'shrunk'] as const;
/** One of `FEED_ERRORS`. */
export type FeedError = (typeof FEED_ERRORS)[number];

/** How the last fetches ended, as it is stored. Times are milliseconds since the epoch. */
export interface ListFeedState {
  readonly attempted_at: number | null;
  /** The last fetch whose content is in force, changed or not. */
  readonly succeeded_at: number | null;
  readonly next_at: number;
  /** Fetches since then. */
  readonly failures: number;
  readonly etag?: string;
  readonly last_modified?: string;
  /** SHA-256 of the entries in force; absent: they are not from this feed. */
  readonly digest?: string;
  /** Why the last fetch changed nothing; absent: it succeeded, or there was none. */
  readonly error?: { readonly code: FeedError; readonly reason: string; readonly at: number };
  /** The error that was notified of since the last success. */
  readonly noticed?: FeedError;
  /** The next content may have less than half of the entries. */
  readonly accept_shrink?: true;
}

/** The state of a feed that was never fetched. */
export function newState(due: number): ListFeedState {
  return { attempted_at: null, succeeded_at: null, next_at: due, failures: 0 };
}

const FIELDS: readonly string[] = ['url', 'format', 'path', 'every_min', 'auth_header'];

/** Reads a feed; `null`: it has a mistake, which is in the report. Whether the URL may be called is `judgeFeedUrl`. */
export function readFeed(given: unknown, report: Report, place: readonly string[] = []): GivenFeed | null {
  const before = report.errors();
  const refuse = (field: string | null, problem: Problem): void =>
    report.add('error', field === null ? place : [...place, field], {
      ...(isObject(given) && field !== null ? { found: quoteValue(given[field]) } : {}),
      ...problem,
    });
  if (!isObject(given)) {
    const message = 'must be an object with `url`, `format` and `every_min`';
    refuse(null, { code: 'invalid_type', message, found: quoteValue(given) });
    return null;
  }
  for (const name of Object.keys(given)) {
    if (FIELDS.includes(name)) continue;
    refuse(name, unknownField({ name, value: given[name], known: FIELDS }).problem);
  }
  const { url, format, path, every_min, auth_header = false } = given;
  const missing = FIELDS.filter(
    (name) => name !== 'path' && name !== 'auth_header' && given[name] === undefined,
  );
  for (const name of missing) refuse(name, { code: 'missing_field', message: 'is missing', found: null });
  if (url !== undefined && typeof url !== 'string')
    refuse('url', { code: 'invalid_type', message: 'must be text' });
  if (format !== undefined) judgeFormat(format, refuse);
  if (path !== undefined) judgePath(path, format, refuse);
  if (every_min !== undefined) judgeInterval(every_min, refuse);
  judgeHeader(auth_header, refuse);
  if (report.errors() > before) return null;
  return {
    ...{ url: url as string, format: format as FeedFormat },
    ...(path === undefined ? {} : { path: String(path) }),
    ...{ every_min: every_min as number, auth_header: auth_header as string | boolean },
  };
}

type Refuse = (field: string, problem: Problem) => void;

function judgeFormat(format: unknown, refuse: Refuse): void {
  if ((FEED_FORMATS as readonly unknown[]).includes(format)) return;
  const near = typeof format === 'string' ? nearest(format, FEED_FORMATS) : null;
  const message = 'must be `text`, `csv` or `json`';
  refuse('format', {
    code: 'invalid_value',
    message,
    ...(near === null ? {} : { remedy: `did you mean \`${near}\`?` }),
  });
}

function judgePath(path: unknown, format: unknown, refuse: Refuse): void {
  const problem = pathProblem(path, format);
  if (problem !== null) refuse('path', problem);
}

function pathProblem(path: unknown, format: unknown): Problem | null {
  if (format === 'text')
    return { code: 'invalid_value', message: 'has no meaning for `text`, which has an entry a line' };
  if (typeof path !== 'string' && !Number.isSafeInteger(path))
    return { code: 'invalid_type', message: 'must be text' };
  const text = String(path);
  if (text === '' || text.length > MAX_FEED_PATH_CHARACTERS)
    return { code: 'too_long', message: `must have 1 to ${MAX_FEED_PATH_CHARACTERS} characters` };
  if (format === 'csv' && /^-?[0-9]+$/.test(text) && Number(text) < 1)
    return { code: 'out_of_range', message: 'must be the number of a column from 1 on, or its name' };
  const names = text.split('.');
  if (format !== 'json' || (!names.includes('') && names.length <= MAX_PATH_NAMES)) return null;
  const message = `must be at most ${MAX_PATH_NAMES} names with dots between them, such as \`prefixes.*.ip_prefix\``;
  return { code: 'invalid_value', message };
}

function judgeInterval(every: unknown, refuse: Refuse): void {
  if (Number.isSafeInteger(every) && (every as number) >= MIN_EVERY_MIN && (every as number) <= MAX_EVERY_MIN)
    return;
  const message = `must be a whole number of minutes from ${MIN_EVERY_MIN} to ${MAX_EVERY_MIN}`;
  refuse('every_min', { code: 'out_of_range', message });
}

/** Mistakes never show the value. */
function judgeHeader(header: unknown, refuse: Refuse): void {
  if (typeof header === 'boolean') return;
  const isText = typeof header === 'string' && header !== '' && header.length <= MAX_HEADER_CHARACTERS;
  if (isText && /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(header)) return;
  const message = `must be the value of an \`Authorization\` header, such as \`Bearer …\`: 1 to ${MAX_HEADER_CHARACTERS} visible ASCII characters`;
  refuse('auth_header', { code: 'invalid_value', message, found: null });
}

/** What is wrong with the URL of a feed; `null`: nothing. Names are judged where they are resolved. */
export function judgeFeedUrl(
  { url, auth_header }: Pick<GivenFeed, 'url' | 'auth_header'>,
  special: SpecialJudge,
): string | null {
  const problem = judgeWebhookUrl(url, special);
  if (problem !== null) return `url: ${problem}`;
  const target = new URL(url);
  if (auth_header === false || target.protocol === 'https:' || isLocal(target, special)) return null;
  return 'url: must have https where `auth_header` is sent';
}

/** Whether a URL names a special address, which the operator has allowed. */
function isLocal(url: URL, special: SpecialJudge): boolean {
  const literal = literalAddress(url);
  return literal !== null && special(literal) === null && specialKind(literal) !== null;
}

/** The settings in a row. */
export function settingsOf(feed: string): FeedSettings {
  return JSON.parse(feed) as FeedSettings;
}

/** The state in a row. */
export function stateOf(feedState: string): ListFeedState {
  return JSON.parse(feedState) as ListFeedState;
}
