/**
 * `edgeplan agent check`: whether a proxy that asks an agent can be talked past it, and what it does while the agent is stopped or
 * away. In: a URL that a rule blocks. Out: a line for each attack.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { DoorCheck, DoorCheckOptions } from '../workbench/door-check/check-door.ts';
import type { DoorCheckLine } from '../workbench/door-check/exchange.ts';
import { readDoorAddress } from './agent-options.ts';
import { pauseOf } from './agent-pause.ts';
import { CommandFault, EXIT, reasonOf, usageFault } from './exit.ts';
import { readCount } from './node-options.ts';
import { isHttpUrl } from './node-settings.ts';
import { jsonOption } from './options.ts';
import { write, writeDocument } from './output.ts';
import { tableText } from './print/table.ts';

interface CheckFlags {
  readonly through: string;
  readonly open: string;
  readonly connectTo?: ConnectTo;
  readonly anyCertificate?: boolean;
  readonly agentPid?: readonly number[];
  readonly agentAway?: boolean;
  readonly within: number;
  readonly json?: boolean;
}

/** Seconds within which a proxy has to answer; `TIMEOUT_MS` has the reason. */
const WITHIN_SEC = 10;

/** The command, to be added to `agent`. */
export function checkCommand(): Command {
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
    .addOption(
      new Option(
        '--agent-pid <pid>',
        'stop this process of the agent for a while (SIGSTOP): is every request refused in time? May be repeated',
      ).argParser(gatherPid),
    )
    .addOption(new Option('--agent-away', 'you have ended the agent: is every request refused?'))
    .addOption(
      new Option('--within <seconds>', 'within how long each response has to come')
        .argParser(readCount(1, 600))
        .default(WITHIN_SEC),
    )
    .addOption(jsonOption('agent-check'))
    .action(check);
}

type ConnectTo = NonNullable<DoorCheckOptions['connectTo']>;

function readConnectTo(text: string): ConnectTo {
  const address = readDoorAddress(text);
  if (!('path' in address)) return address;
  throw new InvalidArgumentError('a proxy is reached at host:port.');
}

const readPid = readCount(2, 999_999_999);

function gatherPid(text: string, gathered: readonly number[] | undefined): readonly number[] {
  return [...(gathered ?? []), readPid(text)];
}

/** One line for each attack; exits with 1 when one got through, or had no answer from a proxy without its agent. */
async function check(flags: CheckFlags): Promise<void> {
  const { through, open, connectTo, agentPid, agentAway = false, json } = flags;
  if (!isHttpUrl(through)) {
    throw usageFault(`--through is a URL, found \`${through}\``, 'write http://shop.example.com/admin');
  }
  if (!open.startsWith('/')) throw usageFault(`--open is a path, found \`${open}\``, 'begin it with a slash');
  const { checkDoor } = await import('../workbench/door-check/check-door.ts');
  if (agentAway && agentPid !== undefined) {
    throw usageFault('--agent-away and --agent-pid exclude each other', 'a process that runs is not away');
  }
  const found = await checkDoor({
    blocked: through,
    open: new URL(open, through).href,
    anyCertificate: flags.anyCertificate === true,
    timeoutMs: flags.within * 1_000,
    isAway: agentAway,
    ...(connectTo === undefined ? {} : { connectTo }),
    ...(agentPid === undefined ? {} : { pause: pauseOf(agentPid) }),
  }).catch((error: unknown) => {
    throw new CommandFault(EXIT.server, reasonOf(error), {
      cause: error,
      remedy: 'start the proxy, or name it with --connect-to',
    });
  });
  if (found.unusable !== null) throw usageFault(found.unusable);
  if (json === true) await writeDocument('agent-check', { attacks: found.lines });
  else await write(`${checkText(found)}\n`);
  if (!found.lines.every(({ holds }) => holds)) process.exitCode = EXIT.no;
}

const RESULTS: Readonly<Record<DoorCheckLine['result'], string>> = {
  holds: 'holds',
  passed: 'PASSED',
  unanswered: 'HANGS',
};

const AGENT_TEXT: Readonly<Record<DoorCheckLine['agent'], string>> = {
  deciding: '',
  stopped: 'the agent stopped: ',
  continued: 'the agent continued: ',
  away: 'the agent away: ',
};

/** A line for each attack, and the sum. */
function checkText({ lines }: DoorCheck): string {
  const rows = lines.map(({ agent, name, result, outcome }) => [
    RESULTS[result],
    outcome,
    `${AGENT_TEXT[agent]}${name}`,
  ]);
  const count = (wanted: DoorCheckLine['result']): number =>
    lines.filter(({ result }) => result === wanted).length;
  const [passed, unanswered] = [count('passed'), count('unanswered')];
  const all = `${lines.length} attacks`;
  const first = passed === 0 ? `${all}, none got past the block` : `${passed} of ${all} got past the block`;
  const sum = unanswered === 0 ? first : `${first}, ${unanswered} had no answer in time`;
  return `${tableText(['block', 'response', 'attack'], rows)}\n${sum}`;
}
