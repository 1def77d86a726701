/** `edgeplan agent`: answers the proxies in front of your servers; `agent check` attacks one of them. */
import { Command } from 'commander';
import { joinPredecessor, type Predecessor } from '../../edge/handover/successor.ts';
import type { RunningAgent } from '../../edge/node/start-agent.ts';
import { checkCommand } from '../agent-check.ts';
import { type AgentFlags, agentFault, agentOptions, doorWarnings } from '../agent-options.ts';
import type { AgentOrigin } from '../agent-upgrade.ts';
import { type Examples, withExamples } from '../examples.ts';
import { stopOnSignals } from '../long-runs.ts';
import {
  openNodeSignatures,
  openPlanOrigin,
  type PlanFlags,
  plainControlLines,
  planFlagsOf,
} from '../node-settings.ts';
import { note, write } from '../output.ts';
import { version } from '../version.ts';
import type { InstalledFile } from '../watch-file.ts';

/** Examples of the help. */
const EXAMPLES: Examples = {
  agent: [
    'edgeplan agent --file edge.yaml --spop 127.0.0.1:9000 --forward-auth 127.0.0.1:9001 --secret-file door.secret',
    'edgeplan agent --control https://control.example.net --token-file agent.token --ext-authz unix:/run/edgeplan/authz.sock',
  ],
  'agent check': [
    'edgeplan agent check --through http://shop.example.com/admin --connect-to 127.0.0.1:8080',
    'edgeplan agent check --through http://shop.example.com/admin --agent-pid 4711',
  ],
};

/** The command, to be added to a program. */
export function agentCommand(): Command {
  const command = new Command('agent').description(
    'Decide for a proxy that is there already: HAProxy, nginx, Caddy, Traefik, Envoy.',
  );
  for (const option of agentOptions()) command.addOption(option);
  command.action(run).addCommand(checkCommand());
  return withExamples(command, EXAMPLES);
}

async function run(flags: AgentFlags): Promise<void> {
  const plans = planFlagsOf(flags);
  const { activatedAgent, serveAgentUpgrades, takeOverAgent } = await import('../agent-upgrade.ts');
  if (flags.upgrade === true) return (await import('../upgrades.ts')).upgrade('agent', flags);
  const predecessor = joinPredecessor();
  // The doors of a process that takes over may be on sockets of the one before.
  const activated = predecessor === null ? await activatedAgent(flags) : null;
  const plain = plans.kind === 'control' ? plainControlLines(plans) : [];
  for (const line of plain) note(`edgeplan: ${line}`);
  const installed: string[] = [];
  const onInstalled = ({ domain, revision }: InstalledFile): void => {
    installed.push(`${domain}: revision ${revision} decides`);
  };
  let running: RunningAgent;
  try {
    const started = await start(flags, { plans, activated, predecessor, onInstalled });
    running = started.running;
    if (predecessor !== null) await takeOverAgent(predecessor, running, started.origin.abandoned);
  } catch (error) {
    throw agentFault(error, flags);
  }
  const upgrades = serveAgentUpgrades(flags, running);
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    const stopped = running.stop(signal === 'SIGTERM' ? flags.drain * 1_000 : 0);
    await Promise.all([upgrades.stop(), stopped]);
  };
  stopOnSignals(stop, { onHangUp: running.reload });
  const operations = running.operationsUrl();
  const lines = [
    ...running.doors(),
    ...(operations === null ? [] : [`operators: ${operations}/metrics`]),
    ...installed,
    plans.kind === 'file' ? `plans from ${plans.file}` : `plans from ${plans.url}, stored in ${flags.data}`,
    `process ${process.pid}`,
  ];
  // A decision log on stdout is JSON lines and nothing else.
  if (flags.log === '-') note(lines.join('\n'));
  else await write(`${lines.join('\n')}\n`);
}

interface AgentInputs {
  readonly plans: PlanFlags;
  /** `null`: the process takes over from another one. */
  readonly activated: AgentOrigin | null;
  /** The process that this one takes over from; `null`: none. */
  readonly predecessor: Predecessor | null;
  readonly onInstalled: (installed: InstalledFile) => void;
}

interface StartedAgent {
  readonly running: RunningAgent;
  readonly origin: AgentOrigin;
}

/** Opens what the flags name and starts the agent. */
async function start(
  flags: AgentFlags,
  { plans, activated, predecessor, onInstalled }: AgentInputs,
): Promise<StartedAgent> {
  const { createLog } = await import('../../base/telemetry/redacting-log.ts');
  const log = createLog(flags.logLevel, (line) => void process.stderr.write(line));
  const { startAgent } = await import('../../edge/node/start-agent.ts');
  const { activatedAgent, handedAgent } = await import('../agent-upgrade.ts');
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
