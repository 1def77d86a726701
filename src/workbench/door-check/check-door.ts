/**
 * Attacks a proxy that has an agent beside it, from outside. In: a URL that the plan blocks, and one of the same site that it
 * forwards. Out: for each attack whether the block holds. One connection for each, over raw sockets. Where the agent can be
 * stopped, or is away, the proxy has to refuse every request.
 */
import { type AgentPause, checkAway, checkStopped } from './agent-absent.ts';
import { type AttackTarget, doorAttacks, request } from './attacks.ts';
import {
  type DoorCheckLine,
  type DoorExchange,
  exchange,
  isRefusal,
  outcomeOf,
  type ProxyPlace,
} from './exchange.ts';

/** What is checked. */
export interface DoorCheckOptions extends ProxyPlace {
  /** A URL of the same site that the plan forwards; `blocked` is one that it blocks. */
  readonly open: string;
  /** Whether the agent does not run: every request has to be refused. Default: `false`. */
  readonly isAway?: boolean;
  /** Stops the agent for a while, after the attacks; absent: it is not stopped. */
  readonly pause?: AgentPause;
}

/** The outcome of a check. */
export interface DoorCheck {
  /** Why the attacks would show nothing, with the remedy; `null`: they were made. */
  readonly unusable: string | null;
  readonly lines: readonly DoorCheckLine[];
}

/** Checks the proxy; rejects for a malformed URL, and where nobody accepts connections. */
export async function checkDoor(options: DoorCheckOptions): Promise<DoorCheck> {
  const blocked = new URL(options.blocked);
  const open = new URL(options.open);
  const target = { host: blocked.host, blocked: targetOf(blocked), open: targetOf(open) };
  if (blocked.origin !== open.origin) return { unusable: 'both URLs must be of one site', lines: [] };
  if (options.isAway === true) {
    await firstResponse(options, target);
    const lines = await checkAway(options, target);
    return { unusable: null, lines: [...lines, ...(await attack(options, target))] };
  }
  const unusable = await baseline(options, target);
  if (unusable !== null) return { unusable, lines: [] };
  const lines = await attack(options, target);
  if (options.pause === undefined) return { unusable: null, lines };
  return { unusable: null, lines: [...lines, ...(await checkStopped(options, target, options.pause))] };
}

/** Makes the attacks, one behind the other. */
async function attack(options: DoorCheckOptions, target: AttackTarget): Promise<readonly DoorCheckLine[]> {
  const lines: DoorCheckLine[] = [];
  const agent = options.isAway === true ? 'away' : 'deciding';
  for (const { name, octets } of doorAttacks(target)) {
    const { statuses, error } = await exchange(options, octets);
    // The request before the last one, on the attacks that send two, is the open one, which passes by a decision.
    const isOpenFirst = agent === 'deciding' && name === 'a request behind the open one';
    const counted = isOpenFirst ? statuses.slice(1) : statuses;
    const holds = counted.every(isRefusal);
    const outcome = outcomeOf({ statuses: counted, error });
    lines.push({ agent, name, holds, result: holds ? 'holds' : 'passed', outcome });
  }
  return lines;
}

function targetOf({ pathname, search }: URL): string {
  return `${pathname}${search}`;
}

/** Whether the block and the open path are what the caller says. @returns why not; `null`: they are */
async function baseline(
  options: DoorCheckOptions,
  { host, blocked, open }: AttackTarget,
): Promise<string | null> {
  const first = await firstResponse(options, { host, blocked, open });
  if (!first.statuses.every(isRefusal)) {
    return `${options.blocked} is not blocked: it answers ${outcomeOf(first)}; name a path that a rule blocks`;
  }
  const second = await exchange(options, request(`GET ${open} HTTP/1.1`, host, []));
  if (second.statuses.length > 0 && !second.statuses.some(isRefusal)) return null;
  return `${options.open} is not open: it answers ${outcomeOf(second)}; name a path that is forwarded`;
}

/** The response to the blocked path. @throws where the proxy gives none */
async function firstResponse(
  options: DoorCheckOptions,
  { host, blocked }: AttackTarget,
): Promise<DoorExchange> {
  const found = await exchange(options, request(`GET ${blocked} HTTP/1.1`, host, []));
  if (found.statuses.length > 0) return found;
  throw new Error(`no response from ${options.blocked}: ${found.error ?? 'the connection was closed'}`);
}
