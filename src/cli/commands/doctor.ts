/** `edgeplan doctor`: checks what a server or a node needs before it is started, and says what to do. */
import { Command, Option } from 'commander';
import { paint } from '../../workbench/simulation/paint.ts';
import {
  type Check,
  type DoctorFlags,
  findingLines,
  type NamedFinding,
  reportFields,
  summaryText,
} from '../doctor/check.ts';
import { certificates, edgeFile, secretsKey } from '../doctor/files.ts';
import { disk, machine, nodeVersion, ports, resolvers } from '../doctor/machine.ts';
import { clock, database, feed } from '../doctor/services.ts';
import { type Examples, withExamples } from '../examples.ts';
import { EXIT } from '../exit.ts';
import { certificatesOption, controlOptions, maxConnectionsOption } from '../node-options.ts';
import { checkControlUrl } from '../node-settings.ts';
import { checkStoreFlags, storeOptions } from '../open-data.ts';
import { secretsKeyOption } from '../open-secrets-key.ts';
import { colourOption, inGroup, jsonOption, readPort, resolverOption } from '../options.ts';
import { type ColourChoice, colourFor, write, writeDocument } from '../output.ts';

/** The options of the command, as commander parses them. */
interface Flags extends DoctorFlags {
  /** Prints JSON. */
  readonly json?: boolean;
  /** When to colour the output. */
  readonly color: ColourChoice;
}

/** All checks, in the order of the report. */
const CHECKS: readonly Check[] = [
  nodeVersion,
  machine,
  ports,
  disk,
  database,
  secretsKey,
  clock,
  resolvers,
  feed,
  edgeFile,
  certificates,
];

/** Runs all checks and prints their findings; exit code 1 when something fails. */
async function run(flags: Flags): Promise<void> {
  checkStoreFlags(flags);
  if (flags.control !== undefined) checkControlUrl(flags.control);
  const findings = await Promise.all(CHECKS.map((check) => runCheck(check, flags)));
  const all = findings.flat();
  if (all.some(({ state }) => state === 'failure')) process.exitCode = EXIT.no;
  if (flags.json === true) return writeDocument('doctor', reportFields(all));
  await write(paint(findingLines(all), colourFor(process.stdout, flags.color)));
  await write(`\n${summaryText(all)}\n`);
}

async function runCheck({ name, run: check }: Check, flags: Flags): Promise<readonly NamedFinding[]> {
  return (await check(flags)).map((finding) => ({ check: name, ...finding }));
}

/** Parses a port of a repeated option. */
function gatherPort(text: string, gathered: readonly number[] | undefined): readonly number[] {
  return [...(gathered ?? []), readPort(text)];
}

/** `--file`, as node has it. */
function fileOption(): Option {
  return new Option('-f, --file <file>', 'an edge file that must compile');
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  doctor: [
    'edgeplan doctor --data ./edgeplan-data',
    'edgeplan doctor --database postgres://edgeplan@db.example.net/edgeplan --port 8787',
    'edgeplan doctor --control https://control.example.net --token-file node.token --certificates ./certificates --json',
  ],
};

/** Creates the command. */
export function doctorCommand(): Command {
  const command = new Command('doctor')
    .summary('check what a server or a node needs, and what to do about it')
    .description(
      'Checks Node, the machine, ports, the data folder, the database, the secrets key, the clock, DNS, the feed of a control plane, ' +
        'an edge file and certificates, with the options of serve and node for these. Changes nothing, and works beside a running server. ' +
        'Exits with 1 when something fails; warnings do not count.',
    );
  const listening = [
    new Option('--host <address>', 'the address that ports are tried on')
      .default('127.0.0.1')
      .env('EDGEPLAN_HOST'),
    new Option(
      '--port <number>',
      'a port that must be free; may be repeated (default: 8787, 8788, 8080 and 8443, where a taken one is a warning)',
    ).argParser(gatherPort),
    new Option('--tls-port <number>', 'a port for HTTPS that must be free').argParser(readPort),
    new Option(
      '--ops-port <number>',
      'a port for health and metrics that must be free on 127.0.0.1',
    ).argParser(readPort),
  ];
  const options = [
    ...inGroup('Store:', [...storeOptions(), secretsKeyOption()]),
    ...inGroup('Listening:', listening),
    ...inGroup('Node:', [fileOption(), ...controlOptions(), certificatesOption(), maxConnectionsOption()]),
    ...inGroup('DNS:', [resolverOption('a DNS resolver to query')]),
    jsonOption('doctor'),
    colourOption(),
  ];
  for (const option of options) command.addOption(option);
  return withExamples(command.action(run), EXAMPLES);
}
