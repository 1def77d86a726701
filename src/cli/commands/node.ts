/** `edgeplan node`: parses flags, starts an edge node, prints where it listens, and stops it on a signal. */
import { resolve } from 'node:path';
import { Command } from 'commander';
import { StoreFault } from '../../base/storage/fault.ts';
import { curlCommand, exampleHost } from '../../edge/answers/unserved.ts';
import { joinPredecessor, type Predecessor } from '../../edge/handover/successor.ts';
import type { NodeSignatures, RunningNode } from '../../edge/node/options.ts';
import { WorkerFault } from '../../edge/workers/messages.ts';
import { visible } from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT, inputFault, usageFault, writeFault } from '../exit.ts';
import { digestOf } from '../input/read-file.ts';
import { listenFault, stopOnSignals } from '../long-runs.ts';
import { type NodeFlags, nodeOptions } from '../node-options.ts';
import {
  checkUnreadFlags,
  openNodeSignatures,
  openPlanOrigin,
  type PlanFlags,
  plainControlLines,
  planFlagsOf,
} from '../node-settings.ts';
import type { NodeOrigin } from '../node-upgrade.ts';
import { storeFault } from '../open-data.ts';
import { deferredNotes, note, write } from '../output.ts';
import { version } from '../version.ts';
import type { InstalledFile } from '../watch-file.ts';
import { printWorkerEvent, workersLines } from '../worker-events.ts';

/** Examples of the help. */
const EXAMPLES: Examples = {
  node: [
    'edgeplan node --file edge.yaml',
    'edgeplan node --control https://control.example.net --token-file node.token --host 0.0.0.0 --port 80',
    'edgeplan node --file edge.yaml --certificates ./certificates --tls-port 8443 --ops-port 9090',
  ],
};

/** The command, to be added to a program. */
export function nodeCommand(): Command {
  const command = new Command('node').description(
    'Run an edge node: a reverse proxy that does what plans decide.',
  );
  for (const option of nodeOptions()) command.addOption(option);
  return withExamples(command.action(run), EXAMPLES);
}

async function run(flags: NodeFlags, command: Command): Promise<void> {
  checkUnreadFlags(flags, (name) => command.getOptionValueSource(name) === 'cli');
  const plans = planFlagsOf(flags);
  const { activatedOrigin, exposedLine, serveNodeUpgrades, takeOver } = await import('../node-upgrade.ts');
  const activated = activatedOrigin(flags);
  if (flags.upgrade === true) return (await import('../upgrades.ts')).upgrade('node', flags);
  const predecessor = joinPredecessor();
  if (plans.kind === 'control') {
    for (const line of plainControlLines(plans)) note(`edgeplan: ${line}`);
  }
  const exposed = exposedLine(activated.settings);
  if (exposed !== null) note(`edgeplan: ${exposed}`);
  const notes = deferredNotes();
  if (plans.kind === 'file') {
    notes.add('origins may have loopback and private addresses: the plans are from an edge file');
  }
  let hosts: readonly string[] = [];
  const onInstalled = (file: InstalledFile): void => {
    hosts = file.hosts;
    notes.add(installedLine(file));
  };
  let running: RunningNode;
  let signatures: NodeSignatures | null;
  try {
    signatures = await openNodeSignatures(flags);
    running = await start(flags, { plans, origin: activated, predecessor, signatures, onInstalled });
    if (predecessor !== null) await takeOver(predecessor, running);
  } catch (error) {
    throw refusal(error, flags);
  }
  // Only a load balancer needs time to move its traffic; SIGINT comes from a terminal.
  const upgrades = serveNodeUpgrades(flags, running);
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    const stopped = running.stop(signal === 'SIGTERM' ? flags.drain * 1_000 : 0);
    await Promise.all([upgrades.stop(), stopped]);
  };
  stopOnSignals(stop, { onHangUp: running.reload });
  const lines = [`listening on ${running.url}`];
  if (running.tlsUrl !== null) lines.push(`listening on ${running.tlsUrl}`);
  const operations = running.operationsUrl();
  if (operations !== null) lines.push(`operators: ${operations}/metrics`);
  lines.push(...workersLines(flags), signaturesLine(signatures), `process ${process.pid}`);
  lines.push(
    plans.kind === 'file' ? `plans from ${plans.file}` : `plans from ${plans.url}, stored in ${flags.data}`,
  );
  if (plans.kind === 'file') lines.push(...hostLines(hosts, running.url));
  notes.release();
  // A decision log on stdout is JSON lines and nothing else.
  if (flags.log === '-') note(lines.join('\n'));
  else await write(`${lines.join('\n')}\n`);
}

interface NodeInputs {
  readonly plans: PlanFlags;
  readonly origin: NodeOrigin;
  /** The process that this one takes over from; `null`: none. */
  readonly predecessor: Predecessor | null;
  readonly signatures: NodeSignatures | null;
  readonly onInstalled: (installed: InstalledFile) => void;
}

/** Opens what the flags name and starts the node. Modules are loaded here, so that no other command waits for them. */
async function start(
  flags: NodeFlags,
  { plans, origin: activated, predecessor, signatures, onInstalled }: NodeInputs,
): Promise<RunningNode> {
  const { createLog } = await import('../../base/telemetry/redacting-log.ts');
  const { checkNodeInputs } = await import('../check-node-inputs.ts');
  const { startNode } = await import('../../edge/node/start-node.ts');
  const log = createLog(flags.logLevel, (line) => void process.stderr.write(line));
  await checkNodeInputs(activated.settings);
  const onRefused = (fault: Error): void =>
    note(`edgeplan: ${fault.message}; the last good plan is served on`);
  const planOrigin = await openPlanOrigin(plans, { log, onInstalled, onRefused });
  const { handedOrigin } = await import('../node-upgrade.ts');
  // Everything that needs neither the folder nor a port is done: the process before releases both now.
  const handed = predecessor === null ? null : await predecessor.take();
  const { settings, ...origin } = handed === null ? activated : handedOrigin(flags, handed);
  return startNode({
    ...settings,
    ...origin,
    plans: planOrigin,
    signatures,
    version: version(),
    log,
    onWorkerEvent: printWorkerEvent,
    onCaughtUp: ({ served, refused }) => note(servingLine(served, refused)),
    onTokenRefused: (sentence, stored) =>
      note(
        `edgeplan: ${sentence}; ${stored === 0 ? 'no plan is stored, so nothing is served' : 'the stored plans are served on'}`,
      ),
  });
}

/** Characters of a digest that are printed: `sha256:` and seven digits. */
const DIGEST_SHOWN = 14;

/** Which signatures `waf` rules inspect with. */
function signaturesLine(signatures: NodeSignatures | null): string {
  if (signatures === null) return 'signatures: none, waf rules inspect nothing';
  return `signatures: ${visible(signatures.program.name)} ${digestOf(signatures.sealed()).slice(0, DIGEST_SHOWN)}`;
}

function installedLine({ domain, serves, revision, digest }: InstalledFile): string {
  const how = serves ? 'is served' : 'says that it must not serve; its hosts are refused';
  return `${domain}: revision ${revision} ${how} (plan sha256:${digest.slice(0, 7)})`;
}

/** Maximum number of hosts in the lines of the start. */
const MAX_HOSTS = 8;

/** The hosts that the edge file serves, and a command that requests one of them. */
function hostLines(hosts: readonly string[], url: string): readonly string[] {
  const example = exampleHost(hosts);
  if (example === null)
    return ['no host is served: the file has no proxied record, or its domain is not active'];
  const more = hosts.length - MAX_HOSTS;
  const listed = hosts.slice(0, MAX_HOSTS).join(', ');
  const { hostname, port } = new URL(url);
  // A node that listens on all addresses is reached on loopback.
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  const address = bare === '0.0.0.0' ? '127.0.0.1' : bare === '::' ? '::1' : bare;
  const target = { scheme: 'http', address, port: port === '' ? -1 : Number(port) } as const;
  return [`serves ${listed}${more > 0 ? ` and ${more} more` : ''}`, `try: ${curlCommand(example, target)}`];
}

/** How many domains the control plane gave the node at its start. */
function servingLine(served: number, refused: number): string {
  const count = served === 0 ? 'no domain' : served === 1 ? '1 domain' : `${served} domains`;
  const others = refused === 1 ? '1 more is' : `${refused} more are`;
  return `serving ${count}${refused === 0 ? '' : `; ${others} not active and refused`}`;
}

/** The listener address and the folder of the node, for the sentence. */
export interface NodePlaces {
  readonly host: string;
  readonly port: number;
  readonly tlsPort?: number;
  readonly opsPort?: number;
  readonly data: string;
}

/** The fault to print; an unknown error is returned unchanged. */
function refusal(error: unknown, options: NodePlaces): unknown {
  if (error instanceof CommandFault) return error;
  if (error instanceof StoreFault) return storeFault(error);
  const { host, port, tlsPort, opsPort, data } = options;
  const ports = { '--port': port, '--tls-port': tlsPort, '--ops-port': opsPort };
  const listening = listenFault(error, { host, ports });
  if (listening !== null) return listening;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const path = error instanceof Error && 'path' in error ? String(error.path) : null;
  if ((code === 'ENOENT' || code === 'ENOTDIR' || code === 'EEXIST') && path !== null) {
    // The system names the absolute path.
    const isData = resolve(path) === resolve(data);
    const remedy = isData ? { remedy: 'name a folder with --data' } : {};
    return inputFault(`\`${isData ? data : path}\` is no folder that can be used`, {
      cause: error,
      ...remedy,
    });
  }
  if (path !== null && error instanceof Error && 'syscall' in error) return writeFault(path, error);
  if (error instanceof Error && error.name === 'TrustFault') {
    return usageFault(
      `--trust: ${error.message}`,
      'edgeplan node-token create prints the key as EDGEPLAN_NODE_TRUST',
    );
  }
  if (error instanceof WorkerFault) {
    const remedy = 'its messages are above; --log-level debug shows more';
    return new CommandFault(EXIT.server, error.message, { cause: error, remedy });
  }
  return error;
}
