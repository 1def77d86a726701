/**
 * Installs the HTTP-01 challenges of domains (RFC 8555 §8.3): entries of the manifest have them whole, so they are in use as
 * soon as a signed page is read, independently of plans and certificates. Nothing is stored: a node that starts reads the
 * whole manifest.
 *
 * In: entries of believed pages. Out: calls of a `ChallengeSink`, one at a time per domain. What fails is tried again.
 */
import { pause, retryMs } from '../../base/platform/tasks.ts';
import type { HttpChallenge, ManifestEntry } from '../../engine/plan/manifest.ts';
import type { EntrySource } from './install-state.ts';
import { FIRST_RETRY_MS, LAST_RETRY_MS, MAX_FEED_CHALLENGES } from './limits.ts';
import { errorMessage, type SyncLog } from './log.ts';

/** Receives challenges. A returned promise resolves once the change is in effect. */
export interface ChallengeSink {
  /** Replaces the challenges of a domain; an empty list removes them. */
  set(domain: string, challenges: readonly HttpChallenge[]): void | Promise<void>;
}

export interface ChallengeInstallerOptions {
  readonly sink: ChallengeSink;
  readonly log: SyncLog;
  /** Ends further attempts. */
  readonly signal: AbortSignal;
}

/** The installer of challenges of one node. */
export interface ChallengeInstaller {
  /** Puts the challenges of an entry into use, unless the entry is older than the one before. */
  offer(entry: ManifestEntry, from: Pick<EntrySource, 'keyId'>): void;
  /** As `Installer.forgetOthers`. */
  forgetOthers(keyId: string, listed: ReadonlySet<string>): void;
  /** As `Installer.forgetUnlisted`. */
  forgetUnlisted(listed: ReadonlySet<string>): void;
}

/** The challenges of a domain's newest entry. */
interface EntryChallenges {
  readonly challenges: readonly HttpChallenge[];
  readonly keyId: string;
  readonly position: number;
}

/** The state of the installer: plain data, changed by the functions of this file. */
interface ChallengeState extends ChallengeInstallerOptions {
  /** Domains whose entries have or had challenges. */
  readonly known: Map<string, EntryChallenges>;
  /** Domains with a running change. */
  readonly busy: Set<string>;
  /** Number of challenges of all domains. */
  total: number;
}

const NONE: readonly HttpChallenge[] = Object.freeze([]);

export function createChallengeInstaller(options: ChallengeInstallerOptions): ChallengeInstaller {
  const state: ChallengeState = { ...options, known: new Map(), busy: new Set(), total: 0 };
  return {
    offer: (entry, from) => offer(state, entry, from),
    forgetOthers: (keyId, listed) =>
      forgetAll(state, (domain, known) => known.keyId !== keyId && !listed.has(domain)),
    forgetUnlisted: (listed) => forgetAll(state, (domain) => !listed.has(domain)),
  };
}

function offer(state: ChallengeState, entry: ManifestEntry, { keyId }: Pick<EntrySource, 'keyId'>): void {
  const { domain, position } = entry;
  const before = state.known.get(domain);
  // INVARIANT: the domain is remembered after its last challenge: an older page, read late, would bring challenges back.
  if (before?.keyId === keyId && position < before.position) return;
  const challenges = withinBound(state, domain, entry.challenges ?? NONE);
  if (before === undefined && challenges.length === 0) return;
  const isSame = areSame(before?.challenges ?? NONE, challenges);
  record(state, domain, { challenges: isSame ? before!.challenges : challenges, keyId, position });
  if (!isSame) void apply(state, domain);
}

/** The challenges if the node has no more than its bound with them, else none. */
function withinBound(
  { known, total, log }: ChallengeState,
  domain: string,
  challenges: readonly HttpChallenge[],
): readonly HttpChallenge[] {
  const all = total - (known.get(domain)?.challenges.length ?? 0) + challenges.length;
  if (challenges.length === 0 || all <= MAX_FEED_CHALLENGES) return challenges;
  log.warn(
    { domain },
    `the node would answer ${all} challenges of certificate authorities; the limit is ${MAX_FEED_CHALLENGES}`,
  );
  return NONE;
}

/** Records the challenges of a domain; `null`: the domain is removed. */
function record(state: ChallengeState, domain: string, entry: EntryChallenges | null): void {
  const before = state.known.get(domain)?.challenges ?? NONE;
  state.total += (entry?.challenges.length ?? 0) - before.length;
  if (entry === null) state.known.delete(domain);
  else state.known.set(domain, entry);
}

function areSame(one: readonly HttpChallenge[], other: readonly HttpChallenge[]): boolean {
  return (
    one.length === other.length &&
    one.every(({ token, answer }, place) => token === other[place]!.token && answer === other[place]!.answer)
  );
}

/** Brings the newest challenges of a domain into use; never rejects. */
async function apply(state: ChallengeState, domain: string): Promise<void> {
  const { known, busy, sink, log, signal } = state;
  // The running change continues with the newest.
  if (busy.has(domain)) return;
  busy.add(domain);
  const newest = (): readonly HttpChallenge[] => known.get(domain)?.challenges ?? NONE;
  let failures = 0;
  for (let applied: readonly HttpChallenge[] | null = null; applied !== newest() && !signal.aborted; ) {
    const challenges = newest();
    try {
      await sink.set(domain, challenges);
      applied = challenges;
    } catch (error) {
      if (failures === 0) {
        log.warn(
          { domain, err: errorMessage(error) },
          'challenges of certificate authorities for a domain cannot be answered yet; tried again',
        );
      }
      await pause(retryMs(failures++, { first: FIRST_RETRY_MS, last: LAST_RETRY_MS }), signal);
    }
  }
  busy.delete(domain);
}

/** Removes domains that pass. */
function forgetAll(state: ChallengeState, isOver: (domain: string, known: EntryChallenges) => boolean): void {
  for (const [domain, known] of state.known) {
    if (!isOver(domain, known)) continue;
    record(state, domain, null);
    if (known.challenges.length > 0) void apply(state, domain);
  }
}
