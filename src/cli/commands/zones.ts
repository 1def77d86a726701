/** `edgeplan zones`: the zone of a domain as name servers transfer it, and whether they answer it. */
import { Command } from 'commander';
import { visible } from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT } from '../exit.ts';
import { jsonOption } from '../options.ts';
import { write, writeDocument } from '../output.ts';
import { tableText } from '../print/table.ts';
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

// Prints zones: the version with its problems, and what secondaries answer.

/** A zone as the API answers it. */
interface PrintedZone {
  readonly serial: number;
  readonly records: number;
  readonly primary: string;
  readonly updated_at: string;
  readonly changing: boolean;
  readonly problems: number;
  readonly problem_list: readonly {
    readonly name: string;
    readonly type: string;
    readonly message: string;
  }[];
  readonly secondaries: readonly { readonly address: string; readonly notifying: boolean }[];
}

/** A check as the API answers it. */
interface PrintedCheck {
  readonly serial: number;
  readonly sets: number;
  readonly compared: number;
  readonly secondaries: readonly {
    readonly address: string;
    readonly state: string;
    readonly serial: number | null;
    readonly fault: string | null;
    readonly different: number;
    readonly differences: readonly PrintedDifference[];
  }[];
}

/** A record set that a secondary answers otherwise. */
interface PrintedDifference {
  readonly name: string;
  readonly type: string;
  readonly expected: readonly string[];
  readonly answered: readonly string[];
  readonly fault: string | null;
}

/** The DS records of a domain as the API answers them. */
interface PrintedDnssec {
  readonly status: string;
  readonly ds: readonly { readonly record: string }[];
  readonly fault: string | null;
}

/** One zone. */
function zoneText(domain: string, zone: PrintedZone, dnssec: PrintedDnssec): string {
  const rows = [
    ['zone', domain],
    ['serial', `${zone.serial}${zone.changing ? ', the next version is being made' : ''}`],
    ['made', zone.updated_at],
    ['records', String(zone.records)],
    ['primary', zone.primary],
    ...zone.secondaries.map(({ address, notifying }, index) => [
      index === 0 ? 'secondaries' : '',
      `${address}${notifying ? '  has not accepted this version yet' : ''}`,
    ]),
    ['dnssec', dnssec.fault === null ? dnssec.status : `${dnssec.status}: ${dnssec.fault}`],
    ...dnssec.ds.map(({ record }) => ['', record]),
  ];
  const lines = rows.map(([label = '', text = '']) => `${label.padEnd(LABEL)}${visible(text)}`);
  const problems = zone.problem_list.map(({ name, type, message }) => [name, type, message]);
  const more = zone.problems - problems.length;
  return [
    ...lines,
    ...(problems.length === 0 ? [] : ['', tableText(['not in the zone', 'type', 'why'], problems).trimEnd()]),
    ...(more > 0 ? [`and ${more} more`] : []),
    '',
  ].join('\n');
}

/** What the secondaries answer. */
function zoneCheckText(domain: string, check: PrintedCheck): string {
  const { serial, sets, compared, secondaries } = check;
  const part = compared === sets ? '' : `, the first ${compared} compared`;
  const rows = secondaries.map((one) => [
    one.address,
    one.state,
    one.serial === null ? '' : String(one.serial),
    one.fault ?? (one.different === 0 ? '' : `${one.different} sets differ`),
  ]);
  return [
    `${domain}  serial ${serial}, ${sets} record sets${part}`,
    '',
    tableText(['secondary', 'state', 'serial', ''], rows),
    ...secondaries.flatMap(({ address, differences }) =>
      differences.flatMap((one) => differenceLines(address, one)),
    ),
  ].join('\n');
}

function differenceLines(address: string, difference: PrintedDifference): readonly string[] {
  const { name, type, expected, answered, fault } = difference;
  const list = (texts: readonly string[]): string => (texts.length === 0 ? 'nothing' : texts.join(' | '));
  return [
    visible(`${address}: ${name} ${type}`),
    visible(`  zone    ${list(expected)}`),
    visible(`  answer  ${fault ?? list(answered)}`),
    '',
  ];
}

/** Columns of the labels. */
const LABEL = 13;
