/** Writes of the feeds of named lists. */
import { createReport, describeMistakes } from '../../../rules/model/report.ts';
import { REFRESH_MS } from '../../lists/feed/limits.ts';
import { sealHeader } from '../../lists/feed/sealed-header.ts';
import {
  type GivenFeed,
  judgeFeedUrl,
  type ListFeedState,
  newState,
  readFeed,
  settingsOf,
  stateOf,
} from '../../lists/feed/settings.ts';
import type { ListOwner } from '../../store/repositories/lists.ts';
import type { ListRow } from '../../store/tables/lists.ts';
import { badRequest, conflict, notFound, Refusal } from '../operation/refusal.ts';
import type { Services, Writing } from '../operation/route.ts';
import { withKey } from '../operation/with-key.ts';
import { showList } from './show.ts';
import { presentList } from './write.ts';

/** Reads a feed from a body. @throws Refusal 400 */
export function feedOf(body: unknown): GivenFeed {
  const report = createReport();
  const feed = readFeed(body, report);
  if (feed === null) throw badRequest(describeMistakes(report.diagnostics()));
  return feed;
}

/** Sets the feed of a list; it is fetched within seconds. @throws Refusal 400, 404, 412, 503 */
export async function setFeed(
  w: Writing,
  services: Pick<Services, 'secretsKey'>,
  { list, feed }: { readonly list: ListOwner & Pick<ListRow, 'name'>; readonly feed: GivenFeed },
): Promise<ListRow> {
  const before = await presentList(w, list);
  const problem = judgeFeedUrl(feed, w.specialOrigin);
  if (problem !== null) throw badRequest(problem);
  const { auth_header: given, ...rest } = feed;
  const settings = { ...rest, auth_header: given !== false };
  const sealed_header = await sealedOf(w, services, { before, feed });
  const attempted_at = before.feed_state === null ? null : stateOf(before.feed_state).attempted_at;
  const due_at = attempted_at === null ? w.now : Math.max(w.now, attempted_at + REFRESH_MS);
  const after = (await w.tx.listFeeds.put({
    ...{ id: before.id, feed: JSON.stringify(settings), sealed_header, due_at, at: w.now },
    feed_state: JSON.stringify({ ...newState(due_at), attempted_at }),
  }))!;
  await record(w, 'list.feed', { before, after });
  return after;
}

interface Sealing {
  readonly before: ListRow;
  readonly feed: GivenFeed;
}

/** The encrypted header; `null`: the feed has none. @throws Refusal 400, 503 */
async function sealedOf(
  { tx }: Writing,
  services: Pick<Services, 'secretsKey'>,
  { before, feed: { url, auth_header: given } }: Sealing,
): Promise<Uint8Array | null> {
  if (given === false) return null;
  if (given !== true)
    return withKey(services, 'headers of feeds', async (ring) =>
      sealHeader(given, { list: before.id, url }, ring),
    );
  const known = before.feed === null ? null : settingsOf(before.feed);
  const stored = await tx.listFeeds.header(before.id);
  if (known === null || stored === null || new URL(known.url).origin !== new URL(url).origin)
    throw badRequest(
      'auth_header: `true` needs a header that is stored for the origin of `url`; write the header',
    );
  return stored;
}

/** Removes the feed of a list; the entries stay, and can be written again. @throws Refusal 404, 412 */
export async function removeFeed(w: Writing, list: ListOwner & Pick<ListRow, 'name'>): Promise<ListRow> {
  const before = await presentList(w, list);
  if (before.feed === null) throw notFound();
  const after = (await w.tx.listFeeds.remove(before.id, w.now))!;
  await record(w, 'list.feed', { before, after });
  return after;
}

/** Makes the feed of a list due now. @throws Refusal 404, 409, 412, 429 */
export async function refreshFeed(
  w: Writing,
  list: ListOwner & Pick<ListRow, 'name'>,
  acceptShrink: boolean,
): Promise<ListRow> {
  const before = await presentList(w, list);
  if (before.feed_state === null) throw conflict('the list has no feed');
  const { accept_shrink: _, ...state } = stateOf(before.feed_state);
  const wait = state.attempted_at === null ? 0 : state.attempted_at + REFRESH_MS - w.now;
  if (wait > 0 && wait <= REFRESH_MS) {
    const seconds = Math.ceil(wait / 1_000);
    const sentence = `the feed was fetched within the minute; again in ${seconds} s`;
    throw new Refusal(429, sentence, { 'retry-after': String(seconds) });
  }
  const next: ListFeedState = { ...state, next_at: w.now, ...(acceptShrink ? { accept_shrink: true } : {}) };
  const after = (await w.tx.listFeeds.hasten(before.id, {
    feed_state: JSON.stringify(next),
    due_at: w.now,
  }))!;
  await record(w, 'list.refresh', { before, after });
  return after;
}

interface Change {
  readonly before: ListRow;
  readonly after: ListRow;
}

/** Audits a change, that of an account's list at each domain that it reaches. */
async function record(
  w: Writing,
  action: 'list.feed' | 'list.refresh',
  { before, after }: Change,
): Promise<void> {
  const entry = { action, subject: `list/${after.name}`, before: showList(before), after: showList(after) };
  if (after.domain_id !== null) return w.audit(entry);
  const reached = await w.tx.lists.reached(after);
  await w.audit(...reached.map((domain) => ({ ...entry, domain })));
}
