/** `edgeplan agent`: answers the proxies in front of your servers; `agent check` attacks one of them. */
import { Command } from 'commander';
import type { RunningAgent } from '../../edge/node/start-agent.ts';
import { checkCommand } from '../agent-check.ts';
import {
  type AgentFlags,
  agentFault,
  agentOptions,
  agentSettings,
  doorSettings,
  doorWarnings,
} from '../agent-options.ts';
import { type Examples, withExamples } from '../examples.ts';
import { stopOnSignals } from '../long-runs.ts';
import { openNodeSignatures, openPlanOrigin, plainControlLines, planFlagsOf } from '../node-settings.ts';
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
  const doors = await doorSettings(flags);
  const plain = plans.kind === 'control' ? plainControlLines(plans) : [];
  for (const line of [...plain, ...doorWarnings(doors)]) note(`edgeplan: ${line}`);
  const installed: string[] = [];
  const onInstalled = ({ domain, revision }: InstalledFile): void => {
    installed.push(`${domain}: revision ${revision} decides`);
  };
  const { createLog } = await import('../../base/telemetry/redacting-log.ts');
  const log = createLog(flags.logLevel, (line) => void process.stderr.write(line));
  let running: RunningAgent;
  try {
    const signatures = await openNodeSignatures(flags);
    const { startAgent } = await import('../../edge/node/start-agent.ts');
    running = await startAgent({
      ...agentSettings(flags),
      doors,
      plans: await openPlanOrigin(plans, {
        log,
        onInstalled,
        onRefused: (fault) => note(`edgeplan: ${fault.message}; the last good plan decides on`),
      }),
      signatures,
      version: version(),
      log,
      onCaughtUp: ({ served }) => note(`deciding for ${served === 1 ? '1 domain' : `${served} domains`}`),
      onTokenRefused: (sentence) => note(`edgeplan: ${sentence}`),
    });
  } catch (error) {
    throw agentFault(error, flags);
  }
  stopOnSignals((signal) => running.stop(signal === 'SIGTERM' ? flags.drain * 1_000 : 0), {
    onHangUp: running.reload,
  });
  const operations = running.operationsUrl();
  const lines = [
    ...running.doors,
    ...(operations === null ? [] : [`operators: ${operations}/metrics`]),
    ...installed,
    plans.kind === 'file' ? `plans from ${plans.file}` : `plans from ${plans.url}, stored in ${flags.data}`,
    `process ${process.pid}`,
  ];
  // A decision log on stdout is JSON lines and nothing else.
  if (flags.log === '-') note(lines.join('\n'));
  else await write(`${lines.join('\n')}\n`);
}
