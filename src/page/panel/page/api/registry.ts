/**
 * Consumers, their keys, usage plans and token issuers over the API. In: what the page shows of them. Out: their paths, changes of
 * them, and what is read for a view alone.
 */
import { useEffect, useState } from 'preact/hooks';
import { CallFault, callJson } from './call.ts';
import { domainPath, type EntryOf, type Got } from './documents.ts';
import { report, sentence } from './session.ts';
import { getApi } from './state.ts';
import { attempt, CHANGED, commit, domainName, readTagged } from './writes.ts';

export type ConsumerShown = EntryOf<Got<'/domains/{domain}/consumers/'>>;
export type KeyShown = EntryOf<Got<'/domains/{domain}/consumers/{consumerId}/keys/'>>;
export type UsagePlanShown = EntryOf<Got<'/domains/{domain}/usage-plans/'>>;
export type TokenIssuerShown = EntryOf<Got<'/domains/{domain}/token-issuers/'>>;
export type GatewayUseShown = Got<'/domains/{domain}/gateways/{ruleId}/usage'>;
export type ConsumerUseShown = Got<'/domains/{domain}/consumers/{consumerId}/usage'>;
export type OperationUseShown = Got<'/domains/{domain}/gateways/{ruleId}/operations/usage'>;
export type DiscoveredShown = Got<'/domains/{domain}/gateways/{ruleId}/operations/discovered'>;

/** What gateways refer to, by the segment of the path. */
export type RegistryKind = 'consumers' | 'usage-plans' | 'token-issuers';

/** The path of a list of the domain, or of an object in it. */
export function listPath(kind: RegistryKind | 'gateways', id: number | '' = ''): string {
  return `${domainPath(domainName())}/${kind}/${id}`;
}

/** An object of which the page shows a version. */
interface Versioned {
  readonly id: number;
  readonly updated_at: string;
}

/** The tag of an object. @throws CallFault 412 where the server has another version than the page shows */
async function tagOf(path: string, shown: Versioned): Promise<string> {
  const { value, tag } = await readTagged<Versioned>(path);
  if (value.updated_at !== shown.updated_at) throw new CallFault(412, CHANGED);
  return tag;
}

/** Deletes an object. @param done the sentence that is shown then */
export function deleteListed(kind: RegistryKind, shown: Versioned, done: string): Promise<void> {
  const path = listPath(kind, shown.id);
  return attempt(async () => {
    await commit(path, { method: 'DELETE', ifMatch: await tagOf(path, shown), done });
  });
}

/** Deletes a consumer with its keys. */
export function deleteConsumer(consumer: ConsumerShown): Promise<void> {
  return deleteListed('consumers', consumer, `Consumer ${consumer.username} is deleted.`);
}

/** Turns a consumer on or off. */
export function toggleConsumer(consumer: ConsumerShown): Promise<void> {
  const path = listPath('consumers', consumer.id);
  const enabled = !consumer.enabled;
  const done = `Consumer ${consumer.username} is ${enabled ? 'enabled' : 'disabled'}.`;
  return attempt(async () => {
    const ifMatch = await tagOf(path, consumer);
    await commit(path, { method: 'PUT', body: { enabled }, ifMatch, done });
  });
}

/** The path of the keys of a consumer. */
export function keysPath(consumer: ConsumerShown): string {
  return `${listPath('consumers', consumer.id)}/keys/`;
}

/** Revokes a key, whatever has changed of it since: the last use changes with each report of a node. */
export function revokeKey(consumer: ConsumerShown, key: KeyShown): Promise<void> {
  const path = `${keysPath(consumer)}${key.id}`;
  const done = `Key ${key.id} of ${consumer.username} is revoked.`;
  return attempt(() => commit(path, { method: 'DELETE', done }));
}

/** What a view reads for itself. */
export interface ViewReading<Body> {
  /** `null`: not read yet, or refused. */
  readonly body: Body | null;
  readonly headers: Headers;
  /** Why it cannot be read, in a sentence; `null`: it can. */
  readonly refused: string | null;
  /** Reads it again, and goes on showing what was read until then. */
  readonly again: () => void;
}

/** The answer of a path, or why there is no answer. */
type Read<Body> = Pick<ViewReading<Body>, 'body' | 'headers' | 'refused'>;

const UNREAD: Read<never> = { body: null, headers: new Headers(), refused: null };

/** Reads a path for as long as it is shown, and again with each revision of the domain. */
export function useReading<Body>(path: string): ViewReading<Body> {
  const [read, setRead] = useState<Read<Body> & { readonly path: string }>({ ...UNREAD, path });
  const [turn, setTurn] = useState(0);
  const revision = getApi().revisions[0]?.revision;
  useEffect(() => {
    const gone = new AbortController();
    const run = async (): Promise<void> => {
      try {
        const answer = await callJson<Body>(path, { signal: gone.signal });
        if (!gone.signal.aborted) setRead({ ...answer, refused: null, path });
      } catch (error) {
        if (gone.signal.aborted) return;
        // An end of the session is shown by the sign-in, a server that does not answer by the bar.
        if (error instanceof CallFault && (error.status === 0 || error.status === 401)) report(error);
        else setRead({ ...UNREAD, refused: sentence(error), path });
      }
    };
    void run();
    return () => gone.abort();
  }, [path, revision, turn]);
  const shown = read.path === path ? read : UNREAD;
  return { ...shown, again: () => setTurn((now) => now + 1) };
}
