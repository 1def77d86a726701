/** `edgeplan agent`: answers the proxies in front of your servers; `agent check` attacks one of them. */
import { Command } from 'commander';
import { joinPredecessor } from '../../edge/handover/successor.ts';
import type { RunningAgent } from '../../edge/node/start-agent.ts';
import { checkCommand } from '../agent-check.ts';
import { type AgentFlags, agentFault, agentOptions } from '../agent-options.ts';
import { type Examples, withExamples } from '../examples.ts';
import { stopOnSignals } from '../long-runs.ts';
import { plainControlLines, planFlagsOf } from '../node-settings.ts';
import { note, write } from '../output.ts';
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
  if (flags.upgrade === true) return (await import('../upgrades.ts')).upgrade('agent', flags);
  const { activatedAgent, serveAgentUpgrades, takeOverAgent } = await import('../agent-upgrade.ts');
  const { openAgent } = await import('../agent-start.ts');
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
    const started = await openAgent(flags, { plans, activated, predecessor, onInstalled });
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
