/**
 * Fetches the body of a feed. Special addresses are refused after each resolution, as those of webhooks are, also of the targets of
 * redirects; octets are counted while they come, decompressed. The header goes to the origin of the feed's URL alone.
 */
import type { LookupFunction } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { Agent, type Dispatcher, request } from 'undici';
import type { SpecialJudge } from '../../../base/addresses/special-addresses.ts';
import { withDeadline } from '../../../base/platform/tasks.ts';
import { networkReason } from '../../notices/outlet-options.ts';
import { judgedLookup, judgeWebhookUrl } from '../../notices/outlets.ts';
import { FETCH_MS, MAX_REDIRECTS, MAX_VALIDATOR_CHARACTERS } from './limits.ts';
import type { FeedError, ListFeedState } from './settings.ts';

/** What is asked for. */
export interface FetchedKind {
  /** The name of the client. */
  readonly agent: string;
  /** Content types. */
  readonly accept: string;
  /** Octets of a body, decompressed, at most. */
  readonly most: number;
}

/** What is fetched. */
export interface FeedQuestion extends FetchedKind, Pick<ListFeedState, 'etag' | 'last_modified'> {
  readonly url: string;
  /** The `Authorization` header; `null`: none. */
  readonly header: string | null;
}

/** What a fetch needs. */
export interface FetchTools {
  readonly special: SpecialJudge;
  /** Resolves names that the account has chosen. */
  readonly lookup: LookupFunction;
  /** CAs to trust, in PEM; absent: those of Node. */
  readonly ca?: string;
}

/** The body, that it is unchanged, or why it cannot be had. */
export type FetchedFeed =
  | ({
      readonly kind: 'content';
      readonly octets: Uint8Array;
      /** The `Cache-Control` header; `null`: the answer has none. */
      readonly caching: string | null;
    } & Pick<ListFeedState, 'etag' | 'last_modified'>)
  | { readonly kind: 'same'; readonly caching: string | null }
  | {
      readonly kind: 'failed';
      readonly code: Extract<FeedError, 'unreachable' | 'too_large'>;
      readonly reason: string;
    };

/** Fetches once, within some milliseconds; never rejects. The signal ends it. */
export function fetchInTime(
  question: FeedQuestion,
  tools: FetchTools,
  { ms, signal: ending }: { readonly ms: number; readonly signal: AbortSignal },
): Promise<FetchedFeed> {
  return withDeadline(ms, ending, (signal) => orLate(fetchFeed(question, tools, signal), signal));
}

/** What was fetched, or a lack of time: what a fetch waits for may not notice its signal. */
function orLate(fetching: Promise<FetchedFeed>, signal: AbortSignal): Promise<FetchedFeed> {
  const late = new Promise<FetchedFeed>((resolve) => {
    const end = (): void => resolve({ kind: 'failed', code: 'unreachable', reason: 'no answer in time' });
    signal.addEventListener('abort', end, { once: true });
  });
  return Promise.race([fetching, late]);
}

/** Fetches once; never rejects. The signal ends it. */
async function fetchFeed(
  question: FeedQuestion,
  { special, lookup, ca }: FetchTools,
  signal: AbortSignal,
): Promise<FetchedFeed> {
  const connect = {
    // The types of undici's lookup have a callback for one address; it asks for all of them.
    lookup: judgedLookup(lookup, special) as never,
    timeout: FETCH_MS,
    ...(ca === undefined ? {} : { ca }),
  };
  const dispatcher = new Agent({ connections: 1, pipelining: 0, connect });
  try {
    return await follow(question, { special, dispatcher, signal });
  } catch (error) {
    return failed(networkReason(error));
  } finally {
    await dispatcher.destroy();
  }
}

function failed(reason: string, code: 'unreachable' | 'too_large' = 'unreachable'): FetchedFeed {
  return { kind: 'failed', code, reason };
}

interface Following {
  readonly special: SpecialJudge;
  readonly dispatcher: Dispatcher;
  readonly signal: AbortSignal;
}

async function follow(
  question: FeedQuestion,
  { special, dispatcher, signal }: Following,
): Promise<FetchedFeed> {
  const first = new URL(question.url);
  let target = first;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const problem = judgeTarget(target, first, special);
    if (problem !== null)
      return failed(redirects === 0 ? `the URL ${problem}` : `the target of a redirect ${problem}`);
    const isOwn = target.origin === first.origin;
    const headers = headersOf(question, isOwn);
    const answer = await request(target, { dispatcher, method: 'GET', headers, signal });
    const { statusCode, body } = answer;
    body.on('error', () => undefined);
    const location = statusCode >= 300 && statusCode < 400 ? textOf(answer.headers['location']) : null;
    if (location === null) return readAnswer(answer, question.most);
    body.destroy();
    if (!URL.canParse(location, target.href))
      return failed(`the server answered ${statusCode} with a target that is no URL`);
    target = new URL(location, target);
    target.hash = '';
  }
  return failed(`the server redirects more than ${MAX_REDIRECTS} times`);
}

function judgeTarget(target: URL, first: URL, special: SpecialJudge): string | null {
  if (first.protocol === 'https:' && target.protocol !== 'https:') return 'must have https as the URL has';
  return judgeWebhookUrl(target.href, special);
}

function headersOf(
  { agent, accept, header, etag, last_modified }: FeedQuestion,
  isOwn: boolean,
): Record<string, string> {
  return {
    'user-agent': agent,
    accept,
    'accept-encoding': 'gzip, br',
    ...(etag === undefined ? {} : { 'if-none-match': etag }),
    ...(last_modified === undefined ? {} : { 'if-modified-since': last_modified }),
    ...(header === null || !isOwn ? {} : { authorization: header }),
  };
}

function textOf(header: string | string[] | undefined): string | null {
  return typeof header === 'string' && header !== '' ? header : null;
}

async function readAnswer(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  most: number,
): Promise<FetchedFeed> {
  const caching = textOf(headers['cache-control']);
  if (statusCode === 304) {
    body.destroy();
    return { kind: 'same', caching };
  }
  if (statusCode !== 200) {
    body.destroy();
    return failed(`the server answered ${statusCode}`);
  }
  if (Number(headers['content-length'] ?? 0) > most) {
    body.destroy();
    return tooLarge(most);
  }
  const coding = (textOf(headers['content-encoding']) ?? 'identity').trim().toLowerCase();
  const decoded = decode(body, coding);
  if (decoded === null) {
    body.destroy();
    return failed(
      `the server answered with the content coding \`${coding.slice(0, 32)}\`, which was not asked for`,
    );
  }
  const octets = await readUpTo(decoded, most);
  if (octets === null) {
    body.destroy();
    return tooLarge(most);
  }
  return { kind: 'content', octets, caching, ...validators(headers) };
}

function tooLarge(most: number): FetchedFeed {
  return failed(`the body has more than ${most} octets`, 'too_large');
}

/** The octets of a body without its coding; `null`: an unknown one. */
function decode(body: Readable, coding: string): Readable | null {
  if (coding === 'identity') return body;
  const decoder =
    coding === 'gzip' || coding === 'x-gzip'
      ? createGunzip()
      : coding === 'br'
        ? createBrotliDecompress()
        : null;
  // An error of either ends both; the reader of the decoder gets it.
  return decoder === null ? null : pipeline(body, decoder, () => undefined);
}

/** All octets; `null`: there are more than `most`, and the rest is not read. */
async function readUpTo(stream: Readable, most: number): Promise<Uint8Array | null> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of stream) {
    length += (part as Buffer).length;
    if (length > most) return null;
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts);
}

function validators(
  headers: Dispatcher.ResponseData['headers'],
): Pick<ListFeedState, 'etag' | 'last_modified'> {
  const [etag, last_modified] = [textOf(headers['etag']), textOf(headers['last-modified'])];
  const isStored = (value: string | null): value is string =>
    value !== null && value.length <= MAX_VALIDATOR_CHARACTERS && /^[\x20-\x7e]+$/.test(value);
  return {
    ...(isStored(etag) ? { etag } : {}),
    ...(isStored(last_modified) ? { last_modified } : {}),
  };
}
