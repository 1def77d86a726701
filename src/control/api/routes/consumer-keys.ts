/**
 * Keys of consumers (semantics §15). The text of a key is in the answer that creates it alone: the store has its SHA-256. At most two of
 * a consumer are in force, so that one replaces the other.
 */
import { z } from 'zod';
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import { MAX_CONSUMER_KEYS, MAX_LIVE_KEYS, MAX_REGISTRY_KEYS } from '../../../base/vocabulary/limits.ts';
import { checked, text } from '../../../rules/model/fields.ts';
import { form } from '../../../rules/model/form.ts';
import { KEY_PREFIX } from '../../../rules/model/registry/key-text.ts';
import { mintKey } from '../../../rules/model/registry/mint-key.ts';
import type { ConsumerKeyRow, ConsumerRow } from '../../store/tables/registry.ts';
import { formBody, idOf } from '../operation/read-request.ts';
import { badRequest, conflict, notFound } from '../operation/refusal.ts';
import { type ApiRoute, message, type Operation, ok, operation, type Writing } from '../operation/route.ts';
import { messageShape } from '../operation/shapes.ts';
import { CHANGES, judgeRoom, REMOVES, recordChange, VIEWS } from '../registry/change.ts';
import { CONSUMER_KEY, NEW_CONSUMER_KEY, NEW_KEY_FIELDS, showKey } from '../registry/show.ts';
import { present } from './consumers.ts';

/** Characters of a key's text that identify it: of 43 random ones 8 are stored, so 35 remain to guess. */
const SHOWN_CHARACTERS = 4;

/** What a new key is created with. */
interface NewKey {
  readonly name: string | null;
  /** RFC 3339; `null`: never. */
  readonly expires_at: string | null;
  /** The hash of a key that was made elsewhere; absent: a key is made. */
  readonly sha256?: string | undefined;
}

/** The form of a new key; fields of answers are ignored. */
const newKeyForm = form({
  fields: {
    ...NEW_KEY_FIELDS,
    sha256: checked(text(), (value) =>
      /^[0-9a-f]{64}$/.test(value)
        ? null
        : { code: 'key_hash', message: 'must be 64 lower-case hex digits', found: null },
    )
      .optional()
      .describe('SHA-256 of a key that was made elsewhere, as files list it; absent: a key is made')
      .meta({ examples: ['2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'] }),
  },
  ignored: ['id', 'prefix', 'last4', 'created_at', 'last_used_at', 'revoked_at'],
  finish: (values): NewKey => values,
});

/** Routes for the keys of consumers. */
// biome-ignore format: a table is read in columns
export const CONSUMER_KEY_ROUTES: readonly ApiRoute[] = [
  { method: 'GET', path: '/domains/{domain}/consumers/{consumerId}/keys/', ...VIEWS, ...list() },
  { method: 'POST', path: '/domains/{domain}/consumers/{consumerId}/keys/', ...CHANGES, ...create() },
  { method: 'DELETE', path: '/domains/{domain}/consumers/{consumerId}/keys/{keyId}', ...REMOVES, ...revoke() },
];

function list(): Operation {
  return operation({
    summary: 'Keys of a consumer, revoked ones included, by id',
    response: z.array(CONSUMER_KEY),
    async handle({ domain, params, read }) {
      return read(async (tx) => {
        const consumer = await tx.consumers.get(domain.id, idOf(params['consumerId']));
        if (consumer === null) throw notFound();
        return ok((await tx.consumerKeys.list(consumer.id)).map(showKey));
      });
    },
  });
}

/** `POST …/keys/`: 409 where two keys are in force. */
function create(): Operation {
  return operation<NewKey>({
    summary: 'Add a key to a consumer; its text is in this answer alone',
    body: formBody(newKeyForm),
    response: NEW_CONSUMER_KEY,
    statuses: [409],
    async handle({ body, params, validateOnly, write }) {
      return write(async (w) => {
        const consumer = await present(w, params);
        const there = await w.tx.consumerKeys.list(consumer.id);
        w.match(there.map(showKey));
        const expires_at = expiryOf(w, body);
        await judgeKeys(w, there, body);
        await removeOld(w, there);
        const minted = body.sha256 === undefined ? mintKey() : null;
        const row = await w.tx.consumerKeys.insert({
          domain_id: w.domain.id,
          consumer_id: consumer.id,
          sha256: minted?.sha256 ?? body.sha256!,
          prefix: minted === null ? '' : minted.text.slice(0, KEY_PREFIX.length + SHOWN_CHARACTERS),
          last4: minted === null ? '' : minted.text.slice(-SHOWN_CHARACTERS),
          name: body.name ?? '',
          created_at: w.now,
          expires_at,
        });
        const after = showKey(row);
        await record(w, { consumer, row, verb: 'create', after });
        // A key that is not stored must not look like one that is.
        return ok(minted === null || validateOnly ? after : { ...after, value: minted.text });
      });
    },
  });
}

/** `DELETE …/keys/{keyId}`: revokes; once the revision is out, nodes refuse the key. */
function revoke(): Operation {
  return operation({
    summary: 'Revoke a key of a consumer',
    response: messageShape,
    statuses: [409],
    async handle({ params, write }) {
      return write(async (w) => {
        const consumer = await present(w, params);
        const before = await w.tx.consumerKeys.get(consumer.id, idOf(params['keyId']));
        if (before === null) throw notFound();
        w.match(showKey(before));
        const row = await w.tx.consumerKeys.revoke(before, w.now);
        if (row === null) throw conflict(`key ${before.id} is revoked already`);
        await record(w, { consumer, row, verb: 'revoke', before: showKey(before), after: showKey(row) });
        return message(`key ${row.id} revoked`);
      });
    },
  });
}

/** When the key ends. @throws Refusal 400 for a time that is past */
function expiryOf({ now }: Writing, { expires_at }: NewKey): number | null {
  if (expires_at === null) return null;
  const at = Date.parse(expires_at.toUpperCase());
  if (at > now) return at;
  throw badRequest(`expires_at: must be in the future, found ${quoteValue(expires_at)}`);
}

/** Checks how many keys are in force, and that no other has the hash. @throws Refusal 409 */
async function judgeKeys(
  { tx, domain, now }: Writing,
  there: readonly ConsumerKeyRow[],
  { sha256 }: NewKey,
): Promise<void> {
  const live = there.filter((key) => isLive(key, now));
  if (live.length >= MAX_LIVE_KEYS) {
    const ids = live.map(({ id }) => id).join(' and ');
    throw conflict(
      `at most ${MAX_LIVE_KEYS} keys of a consumer are in force at once, and keys ${ids} are; revoke one of them first`,
    );
  }
  const all = await tx.consumerKeys.countInForce(domain.id, now);
  judgeRoom('keys of a domain in force', { there: all, most: MAX_REGISTRY_KEYS });
  if (sha256 !== undefined && (await tx.consumerKeys.byDigest(domain.id, sha256)) !== null)
    throw conflict('sha256: a key with this hash is there already, or was revoked');
}

function isLive({ revoked_at, expires_at }: ConsumerKeyRow, now: number): boolean {
  return revoked_at === null && (expires_at === null || expires_at > now);
}

/** Removes the oldest keys that are not in force, so that their number is bounded. */
async function removeOld({ tx, now }: Writing, there: readonly ConsumerKeyRow[]): Promise<void> {
  const dead = there.filter((key) => !isLive(key, now));
  const most = MAX_CONSUMER_KEYS - MAX_LIVE_KEYS;
  for (const { id, consumer_id } of dead.slice(0, Math.max(0, dead.length - most)))
    await tx.consumerKeys.remove(consumer_id, id);
}

interface Recorded {
  readonly consumer: ConsumerRow;
  readonly row: ConsumerKeyRow;
  readonly verb: 'create' | 'revoke';
  readonly before?: object;
  readonly after: object;
}

async function record(w: Writing, { consumer, row, verb, before, after }: Recorded): Promise<void> {
  const subject = `consumer_key/${row.id}`;
  const whose = { consumer: consumer.username };
  const entry = {
    action: `consumer_key.${verb}`,
    subject,
    ...(before === undefined ? {} : { before: { ...whose, ...before } }),
    after: { ...whose, ...after },
  };
  await recordChange(w, entry, `key ${row.id} of consumer ${consumer.id} ${verb}d`);
}
