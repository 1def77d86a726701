/** Pages of entries as JSON text, and their cursors. PERF: the lines of a page may have 2 MiB, which nothing here parses. */
import type { ReadTransaction } from '../store/store.ts';
import type { LogPage, LogPlace, StoredLogEntry } from './log-store.ts';

/** Entries as JSON text with the names of their nodes. */
export async function entryTexts(
  { nodes }: Pick<ReadTransaction, 'nodes'>,
  entries: readonly StoredLogEntry[],
): Promise<readonly string[]> {
  const names = new Map<number, string | null>();
  for (const { nodeId } of entries) {
    if (!names.has(nodeId)) names.set(nodeId, (await nodes.get(nodeId))?.name ?? null);
  }
  return entries.map(
    ({ line, nodeId }) => `${line.slice(0, -1)},"node":${JSON.stringify(names.get(nodeId) ?? null)}}`,
  );
}

/** A page as JSON text. */
export async function pageText(
  tx: Pick<ReadTransaction, 'nodes'>,
  { entries, next, complete }: LogPage,
): Promise<string> {
  const texts = (await entryTexts(tx, entries)).join(',');
  const cursor = JSON.stringify(next === null ? null : cursorOf(next));
  return `{"entries":[${texts}],"next":${cursor},"complete":${complete}}`;
}

/** A place as a cursor: opaque to clients. */
function cursorOf({ at, id }: LogPlace): string {
  return Buffer.from(`${at} ${id}`).toString('base64url');
}

/** The place of a cursor; `null`: the text is no cursor. */
export function placeOf(cursor: string): LogPlace | null {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const [, at, id] = /^(\d{1,15}) ([0-9a-f-]{36})$/.exec(text) ?? [];
  return at === undefined || id === undefined ? null : { at: Number(at), id };
}
