/** `edgeplan zones`: the zone of a domain as name servers transfer it, and whether they answer it. */
import { Command } from 'commander';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT } from '../exit.ts';
import { jsonOption } from '../options.ts';
import { write, writeDocument } from '../output.ts';
import {
  type PrintedCheck,
  type PrintedDnssec,
  type PrintedZone,
  zoneCheckText,
  zoneText,
} from '../print/zones.ts';
import { keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';
import { callDomainApi, domainPath } from '../remote/remote-domain.ts';

/** The options of both commands, as commander parses them. */
interface Flags extends ServerAccess {
  readonly json?: boolean;
}

async function get(domain: string, flags: Flags, below: string): Promise<unknown> {
  return (await callDomainApi(domain, flags, { method: 'GET', path: domainPath(domain, below) })).body;
}

/** Prints the zone, and its DS records. */
async function show(domain: string, flags: Flags): Promise<void> {
  const zone = (await get(domain, flags, '/zone')) as PrintedZone;
  const dnssec = (await get(domain, flags, '/dnssec')) as PrintedDnssec;
  if (flags.json === true) await writeDocument('zone', { domain, ...zone, dnssec });
  else await write(zoneText(domain, zone, dnssec));
}

/** Compares the secondaries with the zone. @throws CommandFault where one answers otherwise */
async function check(domain: string, flags: Flags): Promise<void> {
  const result = (await get(domain, flags, '/zone/check')) as PrintedCheck;
  if (flags.json === true) await writeDocument('zone-check', { domain, ...result });
  else await write(zoneCheckText(domain, result));
  const wrong = result.secondaries.filter(({ state }) => state !== 'same');
  if (wrong.length === 0) return;
  const list = wrong.map(({ address, state }) => `${address} (${state})`).join(', ');
  throw new CommandFault(EXIT.no, `not every secondary answers the zone: ${list}`);
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  'zones show': ['edgeplan zones show example.com'],
  'zones check': ['edgeplan zones check example.com', 'edgeplan zones check example.com --json'],
};

/** Creates the command with its subcommands. */
export function zonesCommand(): Command {
  const command = new Command('zones')
    .summary('the zone of a domain, and whether its name servers answer it')
    .description(
      'Shows the zone of a managed domain as name servers transfer it, or compares their answers with it.',
    );
  for (const [name, description, run] of [
    ['show', 'Print the version of the zone, what is not in it, and its DS records.', show],
    ['check', 'Ask every secondary for the record sets of the zone; exit 1 if one answers otherwise.', check],
  ] as const) {
    command
      .command(name)
      .description(description)
      .argument('<domain>', 'its name')
      .addOption(jsonOption(name === 'show' ? 'zone' : 'zone-check'))
      .addOption(serverOption())
      .addOption(keyOption())
      .action(run);
  }
  return withExamples(command, EXAMPLES);
}
