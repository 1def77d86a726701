/**
 * Restarts of `edgeplan agent` that nobody notices: the sockets that a process starts with, and how it takes over from another
 * one. In: flags. Out: options of the agent, or a CommandFault.
 */
import { rmSync } from 'node:fs';
import { EXT_AUTHZ, FORWARD_AUTH, SPOP } from '../edge/doors/listener.ts';
import { chooseSockets, type InheritedSockets, type SocketAddress } from '../edge/handover/sockets.ts';
import type { Handed, Predecessor } from '../edge/handover/successor.ts';
import type { Upgrades } from '../edge/handover/upgrades.ts';
import { AGENT_LISTENER_NAMES, type DoorSettings } from '../edge/node/agent-doors.ts';
import { type AgentReport, readAgentState } from '../edge/node/agent-handover.ts';
import { OPERATIONS } from '../edge/node/options.ts';
import type { AgentOptions, RunningAgent } from '../edge/node/start-agent.ts';
import { type AgentFlags, agentSettings, doorSettings } from './agent-options.ts';
import { EXIT, usageFault } from './exit.ts';
import { inheritedSockets, serveUpgrades } from './upgrades.ts';

/** What an agent starts with. */
export interface AgentOrigin
  extends ReturnType<typeof agentSettings>,
    Pick<AgentOptions, 'doors' | 'sockets' | 'handed'> {
  /** Files of unix sockets that the process before has listened at and this one does not. */
  readonly abandoned: readonly string[];
}

/**
 * The sockets that systemd passes, and the settings with them.
 * @throws CommandFault when a socket cannot be used, one of a named door is missing, or no door is named
 */
export async function activatedAgent(flags: AgentFlags): Promise<AgentOrigin> {
  const sockets = inheritedSockets({
    names: AGENT_LISTENER_NAMES,
    unixNames: [SPOP, FORWARD_AUTH, EXT_AUTHZ],
  });
  const origin = await originOf(flags, sockets, new Set(sockets.keys()));
  const missing =
    sockets.size === 0 ? [] : [...wantedOf(origin).keys()].filter((name) => isMissing(name, sockets));
  if (missing.length > 0) {
    throw usageFault(
      `LISTEN_FDS has no socket for ${missing.join(', ')}, found ${[...sockets.keys()].join(', ')}`,
      `add a socket unit with FileDescriptorName=${missing[0]}, or leave the door out`,
    );
  }
  return origin;
}

/** As for a node, the health and metrics listener may have an address of its own. */
function isMissing(name: string, sockets: InheritedSockets): boolean {
  return name !== OPERATIONS && !sockets.has(name);
}

/** What a process that takes over starts with: the sockets of the one before, as far as the flags have their addresses. */
export async function handedAgent(flags: AgentFlags, { sockets, state }: Handed): Promise<AgentOrigin> {
  const fixed = new Set(sockets.filter(({ place }) => place === null).map(({ name }) => name));
  const origin = await originOf(flags, new Map(), fixed);
  const chosen = chooseSockets(sockets, wantedOf(origin));
  const left = sockets.filter(({ name, place }) => place !== null && !chosen.has(name));
  return {
    ...origin,
    sockets: chosen,
    handed: readAgentState(state),
    abandoned: left.flatMap(({ path }) => (path === null ? [] : [path])),
  };
}

async function originOf(
  flags: AgentFlags,
  sockets: InheritedSockets,
  names: ReadonlySet<string>,
): Promise<AgentOrigin> {
  const doors = await doorSettings(flags, names);
  return { ...agentSettings(flags, names.has(OPERATIONS)), doors, sockets, handed: null, abandoned: [] };
}

/** The addresses of listeners, by name. */
function wantedOf({
  doors: { spop, http, extAuthz },
  operationsPort,
  operationsAddress,
}: { readonly doors: DoorSettings } & Pick<
  AgentOptions,
  'operationsPort' | 'operationsAddress'
>): ReadonlyMap<string, SocketAddress> {
  const wanted = new Map<string, SocketAddress>();
  if (spop !== null) wanted.set(SPOP, spop);
  if (http !== null) wanted.set(FORWARD_AUTH, http.address);
  if (extAuthz !== null) wanted.set(EXT_AUTHZ, extAuthz);
  if (operationsPort !== null) wanted.set(OPERATIONS, { host: operationsAddress, port: operationsPort });
  return wanted;
}

/**
 * Lets a started agent take over: opens its doors once it is ready, reports that to the process before, and decides when that one
 * has left. @throws the error of listening; the agent has ended then
 */
export async function takeOverAgent(
  predecessor: Predecessor,
  running: RunningAgent,
  abandoned: readonly string[],
): Promise<void> {
  predecessor.onAbort(() => {
    running.stop(0).finally(() => process.exit(EXIT.server));
  });
  await predecessor.ready(running.unready);
  try {
    await running.open();
  } catch (error) {
    // The process before serves on once this one has ended.
    await running.stop(0);
    throw error;
  }
  predecessor.onReport((report, handle) => running.absorb(report as AgentReport, handle));
  void predecessor.gone.then(running.alone);
  await predecessor.serving();
  for (const path of abandoned) rmSync(path, { force: true });
}

/** Accepts upgrades of a started agent, by `--upgrade` and SIGUSR2. */
export function serveAgentUpgrades(flags: AgentFlags, running: RunningAgent): Upgrades {
  return serveUpgrades(flags, running, ({ report }) => running.leave(flags.drain * 1_000, report));
}
