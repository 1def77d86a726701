/** `edgeplan node`: parses flags, starts an edge node, prints where it listens, and stops it on a signal. */
import { Command } from 'commander';
import { curlCommand, exampleHost } from '../../edge/answers/unserved.ts';
import type { NodeSignatures, RunningNode } from '../../edge/node/options.ts';
import { visible } from '../../workbench/simulation/render-text.ts';
import { digestOf } from '../input/digest.ts';
import { type NodeFlags, nodeOptions } from '../node-options.ts';
import { refusal } from '../node-refusal.ts';
import {
  type NodeSettings,
  openNodeSignatures,
  openPlanOrigin,
  type PlanFlags,
  planFlagsOf,
  settingsOf,
} from '../node-settings.ts';
import { note, write } from '../output.ts';
import { plainControlLines } from '../plain-control.ts';
import { stopOnSignals } from '../stop-on-signals.ts';
import { checkUnreadFlags } from '../unread-flags.ts';
import { version } from '../version.ts';
import type { InstalledFile } from '../watch-file.ts';
import { printWorkerEvent, workersLines } from '../worker-events.ts';

/** The command, to be added to a program. */
export function nodeCommand(): Command {
  const command = new Command('node').description(
    'Run an edge node: a reverse proxy that does what plans decide.',
  );
  for (const option of nodeOptions()) command.addOption(option);
  return command.action(run);
}

async function run(flags: NodeFlags, command: Command): Promise<void> {
  checkUnreadFlags(flags, (name) => command.getOptionValueSource(name) === 'cli');
  const plans = planFlagsOf(flags);
  const settings = settingsOf(flags);
  if (plans.kind === 'control') {
    for (const line of plainControlLines(plans)) note(`edgeplan: ${line}`);
  }
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
    running = await start(flags, { plans, settings, signatures, onInstalled });
  } catch (error) {
    throw refusal(error, flags);
  }
  // Only a load balancer needs time to move its traffic; SIGINT comes from a terminal.
  const stop = (signal: NodeJS.Signals): Promise<void> =>
    running.stop(signal === 'SIGTERM' ? flags.drain * 1_000 : 0);
  stopOnSignals(stop, { onHangUp: running.reload });
  const lines = [`listening on ${running.url}`];
  if (running.tlsUrl !== null) lines.push(`listening on ${running.tlsUrl}`);
  if (running.operationsUrl !== null) lines.push(`operators: ${running.operationsUrl}/metrics`);
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
  readonly settings: NodeSettings;
  readonly signatures: NodeSignatures | null;
  readonly onInstalled: (installed: InstalledFile) => void;
}

/** Opens what the flags name and starts the node. Modules are loaded here, so that no other command waits for them. */
async function start(
  flags: NodeFlags,
  { plans, settings, signatures, onInstalled }: NodeInputs,
): Promise<RunningNode> {
  const { createLog } = await import('../../base/telemetry/redacting-log.ts');
  const { checkNodeInputs } = await import('../check-node-inputs.ts');
  const { startNode } = await import('../../edge/node/start-node.ts');
  const log = createLog(flags.logLevel, (line) => void process.stderr.write(line));
  await checkNodeInputs(settings);
  const onRefused = (fault: Error): void =>
    note(`edgeplan: ${fault.message}; the last good plan is served on`);
  return startNode({
    ...settings,
    plans: await openPlanOrigin(plans, { log, onInstalled, onRefused }),
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

/** Notes that are printed at the release, and at once after it: a start that fails prints none. */
function deferredNotes() {
  const lines: string[] = [];
  let print = (line: string): void => void lines.push(line);
  return {
    add: (line: string): void => print(line),
    release(): void {
      print = note;
      for (const line of lines.splice(0)) note(line);
    },
  };
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
