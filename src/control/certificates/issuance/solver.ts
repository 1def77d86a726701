/**
 * Answers challenges of CAs: DNS-01 by a record in the domain's zone, HTTP-01 by a token on the feed of nodes. A challenge is
 * reported to the CA once its answer is there for everybody.
 */
import { pause, withDeadline } from '../../../base/platform/tasks.ts';
import { canonical, queryServer } from '../../dns/message.ts';
import type { ServerAddress } from '../../dns/server-address.ts';
import type { Store } from '../../store/store.ts';
import type { DomainRow } from '../../store/tables/domains.ts';
import type { RecordRow } from '../../store/tables/rules.ts';
import { AWAY_AFTER, NAMESERVERS_MS, NAMESERVERS_POLL_MS, NODES_MS } from '../limits.ts';
import { challengeOwner, delegationOf } from './names.ts';

/** A challenge with its answer. */
export interface PlacedChallenge {
  readonly type: 'dns-01' | 'http-01';
  /** The name that is proved; wildcards as `*.example.com`. */
  readonly name: string;
  readonly token: string;
  /** The key authorization (RFC 8555 §8.1), or its digest for DNS-01. */
  readonly answer: string;
}

/** A domain's way of answering. */
export interface ChallengePlace {
  readonly domain: Pick<DomainRow, 'id' | 'name'>;
  readonly records: readonly Pick<RecordRow, 'name' | 'type'>[];
  /** Whether name servers answer for it from our zones. */
  readonly zone: boolean;
}

export interface SolverOptions {
  readonly store: Store;
  /** The name servers that answer from our zones. */
  readonly nameservers: readonly ServerAddress[];
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Milliseconds for tokens to reach the nodes. Default: `NODES_MS`. */
  readonly nodesMs?: number;
}

/** Answers challenges. */
export interface Solver {
  /** The type to prove a name with; a sentence: neither proves it. */
  choose(name: string, place: ChallengePlace): PlacedChallenge['type'] | { readonly reason: string };
  /** Places the answers and waits for them. Out: why some cannot be proved, by name. @throws StoreFault */
  place(
    place: ChallengePlace,
    challenges: readonly PlacedChallenge[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>>;
  /** Removes them. @throws StoreFault */
  remove(place: ChallengePlace, challenges: readonly PlacedChallenge[]): Promise<void>;
}

export function createSolver(options: SolverOptions): Solver {
  const { store } = options;
  return {
    choose,
    async place({ domain }, challenges, signal) {
      const failed = new Map<string, string>();
      const texts = challenges.filter(({ type }) => type === 'dns-01');
      const tokens = challenges.filter(({ type }) => type === 'http-01');
      await placeAll(options, domain, { texts, tokens, failed });
      if (tokens.length > 0) await pause(options.nodesMs ?? NODES_MS, signal);
      await withDeadline(NAMESERVERS_MS, signal, (deadline) =>
        Promise.all(
          texts.map(async (text) => {
            const reason = await awaitNameservers(options.nameservers, text, deadline);
            if (reason !== null) failed.set(text.name, reason);
          }),
        ),
      );
      return failed;
    },
    async remove({ domain }, challenges) {
      await store.write(async (tx) => {
        await tx.domains.get(domain.id);
        for (const { type, name, token, answer } of challenges) {
          if (type === 'dns-01')
            await tx.zones.removeChallenge(domain.name, { owner: challengeOwner(name), value: answer });
          else await tx.plans.removeChallenge(domain, { token, at: options.clock() });
        }
      });
    },
  };
}

/** DNS-01 where the zone is ours: it needs no node. Where the customer has the TXT record elsewhere, HTTP-01. */
function choose(name: string, { domain, records, zone }: ChallengePlace): ReturnType<Solver['choose']> {
  const away = delegationOf(name, { domain: domain.name, records });
  if (zone && away === null) return 'dns-01';
  if (!name.startsWith('*.')) return 'http-01';
  return {
    reason: `a wildcard ${away ?? 'is proved in the zone of the domain, which this server does not serve'}`,
  };
}

interface Placing {
  readonly texts: readonly PlacedChallenge[];
  readonly tokens: readonly PlacedChallenge[];
  readonly failed: Map<string, string>;
}

function placeAll(
  { store, clock }: SolverOptions,
  domain: ChallengePlace['domain'],
  { texts, tokens, failed }: Placing,
): Promise<void> {
  return store.write(async (tx) => {
    const at = clock();
    // The domain is locked before its zone is marked, as by every other write.
    await tx.domains.get(domain.id);
    for (const { name, answer: value } of texts)
      await tx.zones.addChallenge(domain.name, { owner: challengeOwner(name), value, created_at: at });
    for (const { name, token, answer } of tokens) {
      if (await tx.plans.setChallenge(domain, { token, answer, at })) continue;
      failed.set(name, 'no node serves the domain yet: it has not been published');
    }
  });
}

/** Resolves when every name server answers the text, those that answer nothing left out. Out: why not; `null`: they do. */
async function awaitNameservers(
  servers: readonly ServerAddress[],
  challenge: PlacedChallenge,
  signal: AbortSignal,
): Promise<string | null> {
  if (servers.length === 0) return null;
  const states = await Promise.all(servers.map((server) => awaitNameserver(server, challenge, signal)));
  if (states.includes('other')) {
    const at = servers[states.indexOf('other')]!;
    return `the name server ${at.address} did not answer the record of the challenge in time`;
  }
  return states.includes('same') ? null : 'no name server of the zone answers';
}

/** - `same` it answers the text - `other` it does not in time - `away` it answers nothing */
async function awaitNameserver(
  server: ServerAddress,
  { name, answer }: PlacedChallenge,
  signal: AbortSignal,
): Promise<'same' | 'other' | 'away'> {
  const owner = challengeOwner(name);
  for (let silent = 0; !signal.aborted; ) {
    try {
      const reply = await queryServer(server, { name: owner, type: 'TXT' }, { recursive: false, signal });
      silent = 0;
      if (reply.answers.some((one) => canonical(one.name) === owner && textOf(one.data) === answer))
        return 'same';
    } catch {
      silent += 1;
      if (silent >= AWAY_AFTER) return 'away';
    }
    await pause(NAMESERVERS_POLL_MS, signal);
  }
  return 'other';
}

/** The text of a TXT record: its strings one after the other. */
function textOf(data: unknown): string {
  const strings = Array.isArray(data) ? data : [data];
  return strings.map((one) => Buffer.from(one as Uint8Array | string).toString('latin1')).join('');
}
