/** Token issuers of a domain (semantics §15): whose JSON Web Tokens its gateways accept, and where their keys come from. */
import { z } from 'zod';
import { isObject } from '../../../base/text/json-object.ts';
import { MAX_TOKEN_ISSUERS } from '../../../base/vocabulary/limits.ts';
import { tokenIssuerForm } from '../../../rules/model/registry/token-issuer.ts';
import type { TokenIssuer } from '../../../rules/model/types.ts';
import { judgeWebhookUrl } from '../../notices/outlets.ts';
import { type FetchedKeys, fetchedKeysOf, tokenIssuerOf } from '../../publishing/plan-registry.ts';
import type { TokenIssuerRow } from '../../store/tables/registry.ts';
import { formBody, idOf } from '../operation/read-request.ts';
import { badRequest, conflict, notFound } from '../operation/refusal.ts';
import {
  type ApiRoute,
  type Call,
  message,
  type Operation,
  operation,
  type Response,
  type Writing,
} from '../operation/route.ts';
import { messageShape } from '../operation/shapes.ts';
import { CHANGES, judgeRoom, REMOVES, readChange, recordChange, VIEWS } from '../registry/change.ts';
import { showSettings, showTokenIssuer, TOKEN_ISSUER, TOKEN_ISSUER_UPDATE } from '../registry/show.ts';
import { judgeNamed } from '../rules/registry-references.ts';

/** Routes for token issuers. */
// biome-ignore format: a table is read in columns
export const TOKEN_ISSUER_ROUTES: readonly ApiRoute[] = [
  { method: 'GET', path: '/domains/{domain}/token-issuers/', ...VIEWS, ...list() },
  { method: 'POST', path: '/domains/{domain}/token-issuers/', ...CHANGES, ...create() },
  { method: 'GET', path: '/domains/{domain}/token-issuers/{issuerId}', ...VIEWS, ...read() },
  { method: 'PUT', path: '/domains/{domain}/token-issuers/{issuerId}', ...CHANGES, ...update() },
  { method: 'DELETE', path: '/domains/{domain}/token-issuers/{issuerId}', ...REMOVES, ...remove() },
];

/** The answer with one issuer; its ETag is that of the settings, which fetches leave as they are. */
function shown(row: TokenIssuerRow): Response {
  return { body: showTokenIssuer(row), tagged: showSettings(row) };
}

function list(): Operation {
  return operation({
    summary: 'Token issuers of a domain, by name',
    response: z.array(TOKEN_ISSUER),
    async handle({ domain, latest }) {
      const rows = await latest.tokenIssuers.list(domain.id);
      return { body: rows.map(showTokenIssuer), tagged: rows.map(showSettings) };
    },
  });
}

function read(): Operation {
  return operation({
    summary: 'One token issuer, with the state of its keys',
    response: TOKEN_ISSUER,
    async handle({ domain, latest, params }) {
      return shown(found(await latest.tokenIssuers.list(domain.id), params));
    },
  });
}

/** `POST …/token-issuers/`: keys of `jwks_url` are fetched within seconds. */
function create(): Operation {
  return operation<TokenIssuer>({
    summary: 'Add a token issuer; gateways refer to it by its name',
    body: formBody(tokenIssuerForm),
    response: TOKEN_ISSUER,
    statuses: [409],
    async handle({ body, write }) {
      return write(async (w) => {
        const there = await w.tx.tokenIssuers.list(w.domain.id);
        judgeRoom('token issuers', { there: there.length, most: MAX_TOKEN_ISSUERS });
        judgeName(there, body.name);
        await judgeReferences(w, body, null);
        const made = { ...columnsOf(w, body), keys_state: newKeysState(w, body), created_at: w.now };
        const row = await w.tx.tokenIssuers.insert(made);
        if (row.keys_state !== null) await w.tx.issuerFetches.put(row.id, w.now);
        const entry = {
          action: 'token_issuer.create',
          subject: `token_issuer/${row.id}`,
          after: showSettings(row),
        };
        await recordChange(w, entry, `token issuer \`${row.name}\` created`);
        return shown(row);
      });
    },
  });
}

/** `PUT …/{issuerId}`: a partial update; `jwks_url` replaces `keys`, and the other way round. */
function update(): Operation {
  return operation<unknown>({
    summary: 'Change a token issuer; fields left out keep their value',
    body: { kind: 'raw', schema: TOKEN_ISSUER_UPDATE },
    response: TOKEN_ISSUER,
    statuses: [409],
    async handle({ body, params, write }) {
      return write(async (w) => {
        const there = await w.tx.tokenIssuers.list(w.domain.id);
        const before = found(there, params);
        w.match(showSettings(before));
        const had = tokenIssuerOf(before);
        const fields = readChange(tokenIssuerForm, withoutReplaced(had, body), body);
        const columns = columnsOf(w, fields);
        if (columns.body === before.body) return shown(before);
        if (fields.name !== before.name) {
          judgeName(there, fields.name);
          await judgeNamed(w, { kind: 'token_issuer', name: before.name });
        }
        await judgeReferences(w, fields, had);
        const keys_state = keysStateAfter(w, { fields, had, before });
        const row = (await w.tx.tokenIssuers.update({ ...columns, keys_state, id: before.id }))!;
        if (keys_state === null) await w.tx.issuerFetches.remove(row.id);
        else if (keys_state !== before.keys_state) await w.tx.issuerFetches.put(row.id, w.now);
        const entry = {
          action: 'token_issuer.update',
          subject: `token_issuer/${row.id}`,
          before: showSettings(before),
          after: showSettings(row),
        };
        await recordChange(w, entry, `token issuer \`${row.name}\` changed`);
        return shown(row);
      });
    },
  });
}

function remove(): Operation {
  return operation({
    summary: 'Delete a token issuer that no gateway names',
    response: messageShape,
    statuses: [409],
    async handle({ params, write }) {
      return write(async (w) => {
        const row = found(await w.tx.tokenIssuers.list(w.domain.id), params);
        const before = showSettings(row);
        w.match(before);
        await judgeNamed(w, { kind: 'token_issuer', name: row.name });
        await w.tx.tokenIssuers.remove(w.domain.id, row.id);
        const entry = { action: 'token_issuer.delete', subject: `token_issuer/${row.id}`, before };
        await recordChange(w, entry, `token issuer \`${row.name}\` deleted`);
        return message(`token issuer ${row.name} deleted`);
      });
    },
  });
}

/** The issuer of the path. @throws Refusal 404 */
function found(rows: readonly TokenIssuerRow[], params: Call<unknown>['params']): TokenIssuerRow {
  const id = idOf(params['issuerId']);
  const row = rows.find((one) => one.id === id);
  if (row === undefined) throw notFound();
  return row;
}

/** The stored fields without the source of keys that a partial update replaces. */
function withoutReplaced({ keys, ...fields }: TokenIssuer, input: unknown): object {
  if (!isObject(input)) return { ...fields, keys };
  const { jwks_url: url, keys: listed } = input;
  if (Array.isArray(listed) && listed.length > 0) return { ...fields, jwks_url: null };
  return typeof url === 'string' || keys === undefined ? fields : { ...fields, keys };
}

/** The columns of an issuer but those that never change, and its keys. An empty list of keys counts as absent. */
function columnsOf({ domain, now }: Writing, { keys, ...fields }: TokenIssuer) {
  const listed = keys === undefined || keys.length === 0 ? {} : { keys };
  const { name, default_consumer } = fields;
  const body = JSON.stringify({ ...fields, ...listed });
  return { domain_id: domain.id, name, default_consumer, body, updated_at: now };
}

/** The state of keys that were never fetched; `null`: there is no URL. */
function newKeysState({ now }: Writing, { jwks_url }: TokenIssuer): string | null {
  if (jwks_url === null) return null;
  const state: FetchedKeys = { keys: [], left_out: [], fetched_at: null, next_at: now, failures: 0 };
  return JSON.stringify(state);
}

interface IssuerChange {
  readonly fields: TokenIssuer;
  readonly had: TokenIssuer;
  readonly before: TokenIssuerRow;
}

/** The state of keys after a change; another one than before: they are fetched again. */
function keysStateAfter(w: Writing, { fields, had, before }: IssuerChange): string | null {
  // Keys of another URL may be those of another issuer.
  if (fields.jwks_url !== had.jwks_url) return newKeysState(w, fields);
  const state = fetchedKeysOf(before);
  if (state === null || fields.algorithms.join() === had.algorithms.join()) return before.keys_state;
  // Which keys can be used depends on the algorithms, also of a key set that has not changed since.
  const { etag: _, last_modified: __, ...rest } = state;
  return JSON.stringify({ ...rest, next_at: w.now });
}

/** @throws Refusal 409 */
function judgeName(there: readonly TokenIssuerRow[], name: string): void {
  if (there.some((one) => one.name === name))
    throw conflict(`name: there is a token issuer \`${name}\` already`);
}

/** Checks a new URL, and that a new default consumer is one of the domain. @throws Refusal 400 */
async function judgeReferences(w: Writing, fields: TokenIssuer, before: TokenIssuer | null): Promise<void> {
  const { jwks_url: url, default_consumer: name } = fields;
  if (url !== null && url !== before?.jwks_url) {
    const problem = judgeWebhookUrl(url, w.specialOrigin);
    if (problem !== null) throw badRequest(`jwks_url: ${problem}`);
  }
  if (name === null || name === before?.default_consumer) return;
  if ((await w.tx.consumers.byUsername(w.domain.id, name)) === null)
    throw badRequest(`default_consumer: names no consumer of the domain, found \`${name}\``);
}
