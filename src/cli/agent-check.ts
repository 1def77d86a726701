/** `edgeplan agent check`: whether a proxy that asks an agent can be talked past it. In: a URL that a rule blocks. Out: a line for each attack. */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { DoorCheck, DoorCheckOptions } from '../workbench/door-check/check-door.ts';
import { readDoorAddress } from './agent-options.ts';
import { CommandFault, EXIT, reasonOf, usageFault } from './exit.ts';
import { isHttpUrl } from './node-settings.ts';
import { jsonOption } from './options.ts';
import { write, writeDocument } from './output.ts';
import { tableText } from './print/table.ts';

interface CheckFlags {
  readonly through: string;
  readonly open: string;
  readonly connectTo?: ConnectTo;
  readonly anyCertificate?: boolean;
  readonly json?: boolean;
}

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
  const { checkDoor } = await import('../workbench/door-check/check-door.ts');
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
