/** `edgeplan agent`: answers the proxies in front of your servers; `agent check` attacks one of them. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { StoreFault } from '../../base/storage/fault.ts';
import type { RunningAgent } from '../../edge/node/start-agent.ts';
import type { DoorCheck, DoorCheckOptions } from '../../workbench/door-check/check-door.ts';
import {
  type AgentFlags,
  agentOptions,
  agentSettings,
  doorSettings,
  exposedDoors,
  readDoorAddress,
} from '../agent-options.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT, reasonOf, usageFault, writeFault } from '../exit.ts';
import { listenFault, stopOnSignals } from '../long-runs.ts';
import { isHttpUrl, openNodeSignatures, openPlanOrigin, planFlagsOf } from '../node-settings.ts';
import { storeFault } from '../open-data.ts';
import { jsonOption } from '../options.ts';
import { note, write, writeDocument } from '../output.ts';
import { tableText } from '../print/table.ts';
import { version } from '../version.ts';
import type { InstalledFile } from '../watch-file.ts';

/** Examples of the help. */
const EXAMPLES: Examples = {
  agent: [
    'edgeplan agent --file edge.yaml --spop 127.0.0.1:9000 --forward-auth 127.0.0.1:9001 --secret-file door.secret',
    'edgeplan agent --control https://control.example.net --token-file agent.token --ext-authz unix:/run/edgeplan/authz.sock',
    'edgeplan agent check --through http://shop.example.com/admin --connect-to 127.0.0.1:8080',
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
  for (const line of exposedDoors(doors)) note(`edgeplan: ${line}`);
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
    throw refusal(error, flags);
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

/** The fault to print; an unknown error is returned unchanged. */
function refusal(error: unknown, { opsPort, opsAddress }: AgentFlags): unknown {
  if (error instanceof CommandFault) return error;
  if (error instanceof StoreFault) return storeFault(error);
  const { code, address, port, path, syscall } = error as NodeJS.ErrnoException & {
    readonly address?: string;
    readonly port?: number;
  };
  if (port !== undefined && port === opsPort) {
    return listenFault(error, { host: opsAddress, ports: { '--ops-port': opsPort } }) ?? error;
  }
  if (syscall === 'listen' && code === 'EADDRINUSE') {
    const place = port === undefined || port < 0 ? String(address) : `${address}:${port}`;
    const remedy = 'choose another address for the door, or end the process that listens there';
    return new CommandFault(EXIT.server, `the address ${place} is taken`, { cause: error, remedy });
  }
  return path !== undefined && syscall !== undefined ? writeFault(path, error) : error;
}

// `edgeplan agent check`: whether a proxy can be talked past its agent.

interface CheckFlags {
  readonly through: string;
  readonly open: string;
  readonly connectTo?: ConnectTo;
  readonly anyCertificate?: boolean;
  readonly json?: boolean;
}

function checkCommand(): Command {
  return new Command('check')
    .description('Attack a proxy that asks an agent: does any request reach what a rule blocks?')
    .addOption(new Option('--through <url>', 'a URL at the proxy that the plan blocks').makeOptionMandatory())
    .addOption(new Option('--open <path>', 'a path of the same host that the plan forwards').default('/'))
    .addOption(
      new Option(
        '--connect-to <address>',
        'where the proxy listens (default: host and port of the URL)',
      ).argParser(readConnectTo),
    )
    .addOption(new Option('--any-certificate', 'accept any certificate of the proxy'))
    .addOption(jsonOption('agent-check'))
    .action(check);
}

type ConnectTo = NonNullable<DoorCheckOptions['connectTo']>;

function readConnectTo(text: string): ConnectTo {
  const address = readDoorAddress(text);
  if (!('path' in address)) return address;
  throw new InvalidArgumentError('a proxy is reached at host:port.');
}

/** One line for each attack; exits with 1 when one got through. */
async function check({ through, open, connectTo, anyCertificate = false, json }: CheckFlags): Promise<void> {
  if (!isHttpUrl(through)) {
    throw usageFault(`--through is a URL, found \`${through}\``, 'write http://shop.example.com/admin');
  }
  if (!open.startsWith('/')) throw usageFault(`--open is a path, found \`${open}\``, 'begin it with a slash');
  const { checkDoor } = await import('../../workbench/door-check/check-door.ts');
  const options = { blocked: through, open: new URL(open, through).href, anyCertificate };
  const found = await checkDoor(connectTo === undefined ? options : { ...options, connectTo }).catch(
    (error: unknown) => {
      throw new CommandFault(EXIT.server, reasonOf(error), {
        cause: error,
        remedy: 'start the proxy, or name it with --connect-to',
      });
    },
  );
  if (found.unusable !== null) throw usageFault(found.unusable);
  if (json === true) await writeDocument('agent-check', { attacks: found.lines });
  else await write(`${checkText(found)}\n`);
  if (!found.lines.every(({ holds }) => holds)) process.exitCode = EXIT.no;
}

/** A line for each attack, and the sum. */
function checkText({ lines }: DoorCheck): string {
  const rows = lines.map(({ name, holds, outcome }) => [holds ? 'holds' : 'PASSED', outcome, name]);
  const passed = lines.filter(({ holds }) => !holds).length;
  const sum =
    passed === 0
      ? `${lines.length} attacks, none got past the block`
      : `${passed} of ${lines.length} attacks got past the block`;
  return `${tableText(['block', 'response', 'attack'], rows)}\n${sum}`;
}
