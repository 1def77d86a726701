/** `edgeplan import`: a zone file into a domain of a server, and rules of other products into an edge file. */
import { Command, Option } from 'commander';
import type { Importer, OpenIncludes } from '../../workbench/importers/importer.ts';
import { IMPORTERS } from '../../workbench/importers/importers.ts';
import { NGINX } from '../../workbench/importers/nginx/import-nginx.ts';
import { parseNginx } from '../../workbench/importers/nginx/parse-nginx.ts';
import {
  countOpened,
  countOutcomes,
  type ImportedEdge,
  type ImportRefusal,
  type SourceFile,
} from '../../workbench/importers/report.ts';
import { visible } from '../../workbench/simulation/render-text.ts';
import { checkNginx, type NginxCheck } from '../check-nginx/check.ts';
import { findNginx } from '../check-nginx/run-nginx.ts';
import { type Examples, withExamples } from '../examples.ts';
import { EXIT, inputFault } from '../exit.ts';
import { includesOf, rootOf } from '../input/open-includes.ts';
import { readText, refuseOutside } from '../input/read-file.ts';
import { jsonOption } from '../options.ts';
import { note, write, writeDocument } from '../output.ts';
import {
  checkText,
  countsText,
  type ImportedRecord,
  MOST_LISTED,
  recordsText,
  reportedEntries,
} from '../print/import.ts';
import { keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';
import { publicationOutcome } from '../remote/publication.ts';
import { callDomainApi, domainPath } from '../remote/remote-domain.ts';
import { writeWhole } from '../write-file.ts';

// `edgeplan import zone`: imports the records of a BIND zone file into a domain of a server.

/** The options of the command, as commander parses them. */
interface ZoneFlags extends ServerAccess {
  /** The path of the zone file; `-` is stdin. */
  readonly zone: string;
  /** Validates only. */
  readonly dryRun?: boolean;
  /** Lists every imported record. */
  readonly all?: boolean;
  /** Prints JSON. */
  readonly json?: boolean;
}

/** The response of the API. */
interface Imported {
  readonly imported: number;
  readonly skipped: number;
  /** Absent from older servers. */
  readonly lost?: number;
  readonly records: readonly ImportedRecord[];
  readonly problems: readonly {
    readonly kind?: 'lost' | 'not_needed' | 'hint';
    readonly line: number | null;
    readonly error: string;
  }[];
}

/** Sends the file and prints the imported records and the problems. */
async function importZone(domain: string, flags: ZoneFlags): Promise<void> {
  const text = await readText(flags.zone);
  const dry = flags.dryRun === true;
  // The request waits for the publication, so that the revision can be printed.
  const path = `${domainPath(domain, '/records/import')}?${dry ? 'validate_only=true' : 'wait=published'}`;
  const { body, headers } = await callDomainApi(domain, flags, {
    method: 'POST',
    path,
    body: text,
    type: 'text/dns',
  });
  const answer = body as Imported;
  // An import that loses records is a negative result for scripts.
  const lost = answer.lost ?? answer.skipped;
  if (lost > 0) process.exitCode = EXIT.no;
  const revision = headers.get('x-revision');
  if (flags.json === true) {
    const fields = { domain, dry_run: dry, revision: revision === null ? null : Number(revision) };
    return writeDocument('import', { ...fields, ...answer });
  }
  await write(recordsText(answer.records, flags.all === true));
  const file = flags.zone === '-' ? 'stdin' : flags.zone;
  for (const { kind = 'lost', line, error } of answer.problems)
    note(`${file}${line === null ? '' : `:${line}`}: ${ZONE_WORDS[kind]}: ${visible(error)}`);
  const out = revision === null ? null : await publicationOutcome(domain, revision, flags);
  const verb = dry ? 'would be imported' : 'imported';
  const published = out === null ? '' : `; ${out.clause}`;
  const needless = answer.skipped - lost;
  const left = needless === 0 ? '' : `, ${needless} not needed`;
  await write(`${answer.imported} ${verb}, ${lost} not imported${left}${published}\n`);
  if (typeof out?.remedy === 'string') note(`  ${out.remedy}`);
}

/** Kinds of problems in the words of the report. */
const ZONE_WORDS = { lost: 'not imported', not_needed: 'not needed', hint: 'imported' } as const;

/** Creates the command. */
function importZoneCommand(): Command {
  return new Command('zone')
    .summary('add the records of a BIND zone file to a domain')
    .description(
      'Sends a BIND master file to the server, which adds its records, except SOA, NS of the domain itself and records that ' +
        'exist already. Records that the domain lacks afterwards are printed on stderr with their lines; the exit code is then 1.',
    )
    .argument('<domain>', 'its name')
    .requiredOption('-z, --zone <file>', 'the zone file; - is stdin')
    .option('--dry-run', 'only print what would be imported')
    .option('--all', `list every record, not only the first ${MOST_LISTED}`)
    .addOption(jsonOption('import'))
    .addOption(serverOption())
    .addOption(keyOption())
    .action(importZone);
}

/** The options of the importers, as commander parses them. */
interface Flags {
  readonly domain?: string;
  readonly origin: string;
  /** Writes the edge file here instead of to stdout. */
  readonly output?: string;
  /** Prints the report as JSON. */
  readonly json?: boolean;
  /** Reads files outside the folder of the source. */
  readonly allowOutside?: boolean;
  /** Runs nginx beside the edge file. */
  readonly check?: boolean;
  /** The folder that stands for `/etc/nginx`. */
  readonly root?: string;
}

/** The options of nginx alone. */
const NGINX_OPTIONS: readonly Option[] = [
  new Option('--check', 'run nginx and the edge file over generated requests, and print what differs'),
  new Option(
    '--root <folder>',
    'the folder that stands for /etc/nginx (default: the nearest folder at or above the first file with an nginx.conf)',
  ),
];

/** What an import was made of. */
interface ImportSource {
  readonly files: readonly SourceFile[];
  readonly open: OpenIncludes;
  readonly origin: string;
}

/** Compares nginx with the edge file. @throws CommandFault without nginx */
async function checkEdge(edge: ImportedEdge, { files, open, origin }: ImportSource): Promise<NginxCheck> {
  const parsed = parseNginx(files, open);
  const program = findNginx();
  if (program === null)
    throw inputFault('nginx is not installed', { remedy: 'leave --check out, or install nginx' });
  return checkNginx(program, parsed.ok ? parsed.directives : [], { edge, origin });
}

/** Translates the files; writes the edge file and the report. */
async function run({ translate }: Importer, names: readonly string[], flags: Flags): Promise<void> {
  const files: SourceFile[] = [];
  for (const name of names) {
    if (flags.allowOutside !== true) refuseOutside(name, flags.root ?? rootOf(name));
    files.push({ name: name === '-' ? 'stdin' : name, text: await readText(name) });
  }
  const { domain: wanted = null, origin, root = rootOf(files[0]!.name), allowOutside = false } = flags;
  const open = includesOf({ root, outside: allowOutside });
  const result = translate(files, { domain: wanted, origin }, open);
  if (!result.ok) throw refusalFault(result);
  const { domain, text, entries, notes } = result;
  const counts = countOutcomes(entries);
  const opened = countOpened(entries);
  const checked = flags.check === true ? await checkEdge(result, { files, open, origin }) : undefined;
  if ((checked?.differences.length ?? 0) > 0) process.exitCode = EXIT.no;
  if (counts.not_carried > 0 || counts.closed > 0 || opened > 0) process.exitCode = EXIT.no;
  if (flags.output !== undefined) await writeWhole(flags.output, Buffer.from(text));
  if (flags.json === true)
    return writeDocument('imported-rules', {
      domain,
      counts,
      opened,
      entries,
      notes,
      edge: text,
      check: checked ?? null,
    });
  if (flags.output === undefined) await write(text);
  for (const entry of reportedEntries(entries)) note(entry);
  for (const text of notes) note(`note: ${visible(text)}`);
  note(countsText(counts));
  note(`opened paths: ${opened}`);
  if (checked !== undefined) note(checkText(checked));
}

/** A source that cannot be read; exit code 3. */
function refusalFault({ mistakes }: ImportRefusal): Error {
  const [first] = mistakes;
  const { place, message, remedy } = first!;
  const text = place === null ? message : `${place}: ${message}`;
  return inputFault(text, remedy === undefined ? {} : { remedy });
}

/** Creates the command of one product. */
function importerCommand(importer: Importer): Command {
  const { name, files, summary, description } = importer;
  const command = new Command(name)
    .summary(summary)
    .description(
      `${description} The edge file goes to stdout; a report on stderr says of each rule whether it was carried over, with ` +
        'which difference, or why not. What guards a path and cannot be carried over becomes a rule that refuses the path to ' +
        'everybody. The exit code is 1 when something was not carried over, or is stricter.',
    )
    .argument('<file...>', files)
    .option('--domain <name>', 'the domain of the edge file (default: that of most hosts)')
    .addOption(
      new Option('--origin <address>', 'origin of records for which the source names none').default(
        'origin.invalid',
      ),
    )
    .option('-o, --output <file>', 'write the edge file here instead of stdout')
    .option('--allow-outside', 'read files that links or includes name outside the folder')
    .addOption(jsonOption('imported-rules'))
    .action((names: readonly string[], flags: Flags) => run(importer, names, flags));
  if (importer === NGINX) for (const option of NGINX_OPTIONS) command.addOption(option);
  return command;
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  'import zone': [
    'edgeplan import zone example.com --zone example.com.zone --dry-run',
    'dig @ns1.old.example AXFR example.com | edgeplan import zone example.com --zone - --json',
  ],
  ...Object.fromEntries(IMPORTERS.map(({ name, examples }) => [`import ${name}`, examples])),
};

/** Creates the command. */
export function importCommand(): Command {
  const command = new Command('import')
    .summary('read a zone file, or rules of other products')
    .description(
      'Add a BIND zone file to a domain of a server, or translate rules of other products to an edge file.',
    );
  command.addCommand(importZoneCommand());
  for (const importer of IMPORTERS) command.addCommand(importerCommand(importer));
  return withExamples(command, EXAMPLES);
}
