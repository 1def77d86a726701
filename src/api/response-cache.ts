/**
 * Answers that are sent again without asking for a row. What a steady route answers depends on the store alone, so the
 * octets it sent to a key stand until somebody commits anything. Checks keep their order: the key by the store's version
 * and by the clock, then its budget; whatever else could refuse the request did not when the answer was made, and nothing
 * has been committed since. Everything that is not plainly such a request takes the long way.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { hashKey, redactKeys } from '../access/key.ts';
import type { AnswerKind, NoteAnswer } from './answer-times.ts';
import { isWorthCompressing, takesGzip } from './compress.ts';
import { MAX_CACHED_CHARACTERS, MAX_CACHED_RESPONSES } from './limits.ts';
import { rateLimitHeaders } from './rate-limit.ts';
import { requestIdOf } from './request-id.ts';
import type { Caller } from './route.ts';
import type { Services } from './services.ts';

export interface ResponseCache {
  /**
   * Takes a request that a kept answer may be sent to, and answers it a moment later; false where there is none.
   * `otherwise` gets it back when the answer has turned out not to stand.
   */
  take(request: IncomingMessage, response: ServerResponse, otherwise: RequestListener): boolean;
  /** Keeps an answer that was made entirely at `version` of the store. */
  store(answer: Sent): void;
}

/** A 200 of a steady route. */
export interface Sent {
  readonly url: string;
  readonly caller: Caller;
  /** The store's version before anything was asked for it. */
  readonly version: number;
  /** The route's path. */
  readonly path: string;
  /** Names and values in turn, all but the id of the request. */
  readonly headers: readonly string[];
  readonly text: string;
}

interface Kept extends Sent {
  readonly encoding: 'latin1' | 'utf8';
  /** Made with the first request it answers. */
  told: Told | null;
}

/** Where what all requests have in common that are answered so is told. */
interface Told {
  readonly log: Logger;
  readonly note: NoteAnswer | null;
}

export interface ResponseCacheOptions {
  readonly services: Services;
  readonly log: Logger;
  readonly watch?: (kind: AnswerKind) => NoteAnswer;
}

interface Waiting {
  readonly kept: Kept;
  readonly response: ServerResponse;
  readonly id: string | undefined;
  readonly came: number;
  readonly otherwise: RequestListener;
}

/** Kept answers of one server. */
export function createResponseCache({ services, log, watch }: ResponseCacheOptions): ResponseCache {
  const { store, clock, uses, budget } = services;
  // By URL first: where nothing is kept for one, nobody's key needs to be hashed.
  const answers = new Map<string, Map<string, Kept>>();
  const size = { version: 0, answers: 0, characters: 0 };
  let waiting: Waiting[] = [];

  /**
   * INVARIANT: the store is asked for its version after the last of these requests has come, so a commit that was
   * answered before one of them was sent is seen.
   */
  function answerWaiting(): void {
    const batch = waiting;
    waiting = [];
    const version = store.version();
    const now = clock();
    for (const one of batch) {
      if (one.kept.version !== version || !answer(one, now)) one.otherwise(one.response.req, one.response);
    }
  }

  function answer({ kept, response, id, came }: Waiting, now: number): boolean {
    const { caller, headers, text, encoding } = kept;
    if (caller.expires_at !== null && caller.expires_at <= now) return false;
    // A refused request is not counted, so the long way may ask again.
    if (budget.take(caller.key_id, now) > 0) return false;
    uses.note(caller.key_id, now);
    const reqId = requestIdOf(id);
    const limit = Object.entries(rateLimitHeaders(budget, caller.key_id, now)).flat();
    response.writeHead(200, ['x-request-id', reqId, ...limit, ...headers]);
    response.end(text, encoding);
    const ms = performance.now() - came;
    kept.told ??= tell(kept);
    kept.told.note?.(ms / 1_000);
    kept.told.log.info({ reqId, ms: Math.round(ms * 1_000) / 1_000 }, 'answered');
    return true;
  }

  function tell({ url, path, caller }: Kept): Told {
    const kind = { method: 'GET', path, status: 200 } as const;
    return {
      log: log.child({ method: kind.method, url: redactKeys(url), status: kind.status, key: caller.key_id }),
      note: watch?.(kind) ?? null,
    };
  }

  // PERF: clients send one key over and over, so each connection keeps its last one hashed.
  const last = new WeakMap<Socket, { readonly key: string; readonly hash: string }>();
  function hashOf(socket: Socket, key: string): string {
    const known = last.get(socket);
    if (known?.key === key) return known.hash;
    const hash = hashKey(key);
    last.set(socket, { key, hash });
    return hash;
  }

  return {
    take(request, response, otherwise) {
      const found = request.method === 'GET' ? answers.get(request.url!) : undefined;
      const asked = found === undefined ? null : plainly(request.rawHeaders);
      const kept = asked === null ? undefined : found!.get(hashOf(request.socket, asked.key));
      if (kept === undefined || (asked!.compressed && isWorthCompressing(kept.text))) return false;
      if (waiting.length === 0) setImmediate(answerWaiting);
      waiting.push({ kept, response, id: asked!.id, came: performance.now(), otherwise });
      return true;
    },
    store(sent) {
      const { version, url, caller, path, headers, text } = sent;
      if (text.length > MAX_CACHED_CHARACTERS) return;
      size.characters += text.length;
      size.answers += 1;
      if (
        version !== size.version ||
        size.characters > MAX_CACHED_CHARACTERS ||
        size.answers > MAX_CACHED_RESPONSES
      ) {
        answers.clear();
        Object.assign(size, { version, answers: 1, characters: text.length });
      }
      const encoding = text.length === Buffer.byteLength(text) ? 'latin1' : 'utf8';
      const made: Kept = { url, caller, version, path, headers, text, encoding, told: null };
      const known = answers.get(url);
      if (known === undefined) answers.set(url, new Map([[caller.hash, made]]));
      else known.set(caller.hash, made);
    },
  };
}

/** Fields whose presence means that more has to be looked at than who asks. */
const TELLING = new Set(['content-length', 'transfer-encoding', 'if-none-match', 'upgrade']);
const SCHEME = 'Bearer ';

interface Plain {
  readonly key: string;
  readonly id: string | undefined;
  /** It takes gzip. */
  readonly compressed: boolean;
}

/** The key and the id of a request with one key, no body and no condition; `null` for any other. */
function plainly(raw: readonly string[]): Plain | null {
  let key: string | null = null;
  let compressed = false;
  let id: string | undefined;
  let host = false;
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase();
    if (name === 'authorization' || name === 'x-api-key') {
      const value = raw[at + 1]!;
      if (key !== null) return null;
      if (name === 'x-api-key') key = value;
      else if (value.startsWith(SCHEME)) key = value.slice(SCHEME.length);
      else return null;
    } else if (name === 'x-request-id') {
      if (id !== undefined) return null;
      id = raw[at + 1]!;
    } else if (name === 'accept-encoding') compressed = takesGzip(raw[at + 1]!);
    else if (name === 'host') host = true;
    else if (TELLING.has(name)) return null;
  }
  return key === null || !host ? null : { key, id, compressed };
}
