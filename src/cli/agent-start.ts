/**
 * The start of `edgeplan agent`: as any other process, or in the place of one that serves. In: flags, and what is known of plans and
 * sockets. Out: the running agent, or the fault of what it could not open.
 */
import type { Predecessor } from '../edge/handover/successor.ts';
import type { RunningAgent } from '../edge/node/start-agent.ts';
import { type AgentFlags, doorWarnings } from './agent-options.ts';
import type { AgentOrigin } from './agent-upgrade.ts';
import { openNodeSignatures, openPlanOrigin, type PlanFlags } from './node-settings.ts';
import { note } from './output.ts';
import { version } from './version.ts';
import type { InstalledFile } from './watch-file.ts';

/** What an agent starts with. */
export interface AgentInputs {
  readonly plans: PlanFlags;
  /** `null`: the process takes over from another one. */
  readonly activated: AgentOrigin | null;
  /** The process that this one takes over from; `null`: none. */
  readonly predecessor: Predecessor | null;
  readonly onInstalled: (installed: InstalledFile) => void;
}

/** An agent that serves, or waits to take over. */
export interface StartedAgent {
  readonly running: RunningAgent;
  readonly origin: AgentOrigin;
}

/** Opens what the flags name and starts the agent. */
export async function openAgent(
  flags: AgentFlags,
  { plans, activated, predecessor, onInstalled }: AgentInputs,
): Promise<StartedAgent> {
  const { createLog } = await import('../base/telemetry/redacting-log.ts');
  const log = createLog(flags.logLevel, (line) => void process.stderr.write(line));
  const { startAgent } = await import('../edge/node/start-agent.ts');
  const { activatedAgent, handedAgent } = await import('./agent-upgrade.ts');
  const signatures = await openNodeSignatures(flags);
  const planOrigin = await openPlanOrigin(plans, {
    log,
    onInstalled,
    onRefused: (fault) => note(`edgeplan: ${fault.message}; the last good plan decides on`),
  });
  // Everything that needs neither the folder nor a door is done: the process before releases both now.
  const handed = predecessor === null ? null : await predecessor.take();
  const origin =
    handed === null ? (activated ?? (await activatedAgent(flags))) : await handedAgent(flags, handed);
  const { abandoned: _, ...settings } = origin;
  for (const line of doorWarnings(settings.doors)) note(`edgeplan: ${line}`);
  const running = await startAgent({
    ...settings,
    takesOver: handed !== null,
    plans: planOrigin,
    signatures,
    version: version(),
    log,
    onCaughtUp: ({ served }) => note(`deciding for ${served === 1 ? '1 domain' : `${served} domains`}`),
    onTokenRefused: (sentence) => note(`edgeplan: ${sentence}`),
  });
  return { running, origin };
}
