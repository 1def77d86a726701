/** `edgeplan import zone`: imports the records of a BIND zone file into a domain of a server. */
import { Command } from 'commander';
import { visible } from '../../workbench/simulation/render-text.ts';
import { EXIT } from '../exit.ts';
import { readText } from '../input/read-text.ts';
import { jsonOption } from '../options.ts';
import { note, write, writeDocument } from '../output.ts';
import { tableText } from '../print/table.ts';
import { keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';
import { publicationOutcome } from '../remote/publication.ts';
import { callDomainApi, domainPath } from '../remote/remote-domain.ts';

/** The options of the command, as commander parses them. */
interface Flags extends ServerAccess {
  /** The path of the zone file; `-` is stdin. */
  readonly zone: string;
  /** Validates only. */
  readonly dryRun?: boolean;
  /** Lists every imported record. */
  readonly all?: boolean;
  /** Prints JSON. */
  readonly json?: boolean;
}

/** Records that are listed without `--all`: a screen. */
const MOST_LISTED = 20;

/** The response of the API. */
interface Imported {
  readonly imported: number;
  readonly skipped: number;
  /** Absent from older servers. */
  readonly lost?: number;
  readonly records: readonly {
    readonly name: string;
    readonly type: string;
    readonly destination: string;
    readonly proxied: boolean;
  }[];
  readonly problems: readonly {
    readonly kind?: 'lost' | 'not_needed' | 'hint';
    readonly line: number | null;
    readonly error: string;
  }[];
}

/** Sends the file and prints the imported records and the problems. */
async function run(domain: string, flags: Flags): Promise<void> {
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
    note(`${file}${line === null ? '' : `:${line}`}: ${WORDS[kind]}: ${visible(error)}`);
  const out = revision === null ? null : await publicationOutcome(domain, revision, flags);
  const verb = dry ? 'would be imported' : 'imported';
  const published = out === null ? '' : `; ${out.clause}`;
  const needless = answer.skipped - lost;
  const left = needless === 0 ? '' : `, ${needless} not needed`;
  await write(`${answer.imported} ${verb}, ${lost} not imported${left}${published}\n`);
  if (typeof out?.remedy === 'string') note(`  ${out.remedy}`);
}

/** Kinds of problems in the words of the report. */
const WORDS = { lost: 'not imported', not_needed: 'not needed', hint: 'imported' } as const;

/** A table of the records; of many the first ones, and how many there are of each type. */
function recordsText(records: Imported['records'], all: boolean): string {
  const shown = all || records.length <= MOST_LISTED ? records : records.slice(0, MOST_LISTED);
  const rows = shown.map(({ name, type, destination, proxied }) => [
    name,
    type,
    proxied ? 'proxied' : 'dns only',
    destination,
  ]);
  const table = tableText(['name', 'type', 'edge', 'data'], rows);
  if (shown.length === records.length) return table;
  const counts = new Map<string, number>();
  for (const { type } of records) counts.set(type, (counts.get(type) ?? 0) + 1);
  const types = [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([type, count]) => `${count} ${type}`);
  return `${table}… and ${records.length - shown.length} more (--all lists them); of all: ${types.join(', ')}\n`;
}

/** Creates the command. */
export function importZoneCommand(): Command {
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
    .action(run);
}
