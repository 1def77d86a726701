/** `edgeplan import`: a zone file into a domain of a server, and rules of other products into an edge file. */
import { Command, Option } from 'commander';
import { importBunny } from '../../workbench/importers/bunny/import-bunny.ts';
import { importCloudflare } from '../../workbench/importers/cloudflare/import-cloudflare.ts';
import { importFastly } from '../../workbench/importers/fastly/import-fastly.ts';
import { importNginx } from '../../workbench/importers/nginx/import-nginx.ts';
import { parseNginx } from '../../workbench/importers/nginx/parse-nginx.ts';
import {
  countOpened,
  countOutcomes,
  type ImportEntry,
  type ImportedEdge,
  type ImporterOptions,
  type ImportOutcome,
  type ImportRefusal,
  type SourceFile,
} from '../../workbench/importers/report.ts';
import { visible } from '../../workbench/simulation/render-text.ts';
import { checkNginx, type NginxCheck } from '../check-nginx/check.ts';
import { type CheckedOutcome, findNginx } from '../check-nginx/run-nginx.ts';
import { type Examples, withExamples } from '../examples.ts';
import { EXIT, inputFault } from '../exit.ts';
import { includesOf, rootOf } from '../input/open-includes.ts';
import { readText, refuseOutside } from '../input/read-file.ts';
import { jsonOption } from '../options.ts';
import { note, write, writeDocument } from '../output.ts';
import { tableText } from '../print/table.ts';
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

/** One product. */
interface Importer {
  readonly name: string;
  /** What its files are. */
  readonly files: string;
  readonly summary: string;
  readonly description: string;
  readonly translate: (
    files: readonly SourceFile[],
    options: ImporterOptions,
    flags: Flags,
  ) => ImportedEdge | ImportRefusal;
  readonly options?: readonly Option[];
  /** Compares the product itself with the edge file. */
  readonly check?: (
    files: readonly SourceFile[],
    options: ImporterOptions,
    flags: Flags,
  ) => (edge: ImportedEdge) => Promise<NginxCheck>;
}

const IMPORTERS: readonly Importer[] = [
  {
    name: 'nginx',
    files: 'nginx.conf or files of sites; - is stdin',
    summary: 'translate an nginx configuration to an edge file',
    description:
      'Translates server names, locations, return, rewrite, if and map over host and path, allow and deny, limit_req, ' +
      'proxy_pass and upstream. Includes are read below the folder of nginx.conf, which stands for /etc/nginx.',
    translate: (files, options, { root = rootOf(files[0]!.name), allowOutside = false }) =>
      importNginx(files, includesOf({ root, outside: allowOutside }), options),
    check: (files, { origin }, { root = rootOf(files[0]!.name), allowOutside = false }) => {
      const parsed = parseNginx(files, includesOf({ root, outside: allowOutside }));
      return async (edge) => {
        const program = findNginx();
        if (program === null)
          throw inputFault('nginx is not installed', { remedy: 'leave --check out, or install nginx' });
        return checkNginx(program, parsed.ok ? parsed.directives : [], { edge, origin });
      };
    },
    options: [
      new Option('--check', 'run nginx and the edge file over generated requests, and print what differs'),
      new Option(
        '--root <folder>',
        'the folder that stands for /etc/nginx (default: the nearest folder at or above the first file with an nginx.conf)',
      ),
    ],
  },
  {
    name: 'cloudflare',
    files: 'JSON of rulesets, bulk redirect lists, page rules, DNS records; - is stdin',
    summary: 'translate rulesets of Cloudflare to an edge file',
    description:
      'Translates what the API answers for rulesets (custom rules, rate limiting, redirects, URL rewrites, origin and cache ' +
      'rules), items of bulk redirect lists, page rules and DNS records, which name the origins.',
    translate: importCloudflare,
  },
  {
    name: 'bunny',
    files: 'JSON of a pull zone or of edge rules; - is stdin',
    summary: 'translate a pull zone of bunny.net to an edge file',
    description:
      'Translates what the API answers for a pull zone: its origin, hosts and block lists, and its edge rules that block, ' +
      'redirect, choose an origin or set times in the cache.',
    translate: importBunny,
  },
  {
    name: 'fastly',
    files: 'JSON of a service or of a version; - is stdin',
    summary: 'translate a VCL service of Fastly to an edge file',
    description:
      'Translates what the API answers for the details of a service: domains, backends, ACLs, conditions, request settings, ' +
      'response objects, cache settings and rate limiters. Custom VCL is not carried over.',
    translate: importFastly,
  },
];

/** Translates the files; writes the edge file and the report. */
async function run({ translate, check }: Importer, names: readonly string[], flags: Flags): Promise<void> {
  const files: SourceFile[] = [];
  for (const name of names) {
    if (flags.allowOutside !== true) refuseOutside(name, flags.root ?? rootOf(name));
    files.push({ name: name === '-' ? 'stdin' : name, text: await readText(name) });
  }
  const options = { domain: flags.domain ?? null, origin: flags.origin };
  const result = translate(files, options, flags);
  if (!result.ok) throw refusalFault(result);
  const { domain, text, entries, notes } = result;
  const counts = countOutcomes(entries);
  const opened = countOpened(entries);
  const checked = flags.check === true ? await check?.(files, options, flags)(result) : undefined;
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

/** Differences that are printed at most: a screen. */
const MOST_DIFFERENCES = 40;

/** What a check found, one line for each difference. */
function checkText({ compared, differences }: NginxCheck): string {
  const shown = (outcome: CheckedOutcome): string => {
    if (outcome.kind === 'redirect') return `${outcome.status} ${outcome.url}`;
    return outcome.kind === 'forward' ? `forward to ${outcome.origin}${outcome.target}` : `${outcome.status}`;
  };
  const lines = differences.slice(0, MOST_DIFFERENCES).map(({ kind, request, nginx, edge }) => {
    const { method, scheme, host, target, ip } = request;
    return `check: ${kind}: ${method} ${scheme}://${host}${target} from ${ip}: nginx ${shown(nginx)}, edge ${shown(edge)}`;
  });
  const count = (kind: string): number => differences.filter((one) => one.kind === kind).length;
  const sums = `${count('opened')} opened, ${count('lost_redirect')} lost redirects, ${count('closed')} closed, ${count('other')} other`;
  return [
    ...lines.map(visible),
    `check: ${compared} requests compared, ${differences.length} differ: ${sums}`,
  ].join('\n');
}

/** The outcomes in the words of the report. */
const WORDS: Readonly<Record<ImportOutcome, string>> = {
  exact: 'carried over',
  differs: 'carried over with a difference',
  closed: 'carried over stricter',
  not_carried: 'not carried over',
  not_needed: 'not needed',
};

/** Places of one kind that are printed at most: a line. */
const MOST_PLACES = 6;

/** The entries that the report names, in their order; settings of one kind are counted where the first of them is. */
function reportedEntries(entries: readonly ImportEntry[]): readonly string[] {
  const kinds = new Map<string, ImportEntry[]>();
  const texts: (() => string)[] = [];
  for (const entry of entries) {
    if (entry.outcome === 'not_needed') continue;
    const key = entry.kind === null ? null : JSON.stringify([entry.kind, entry.outcome, entry.reasons]);
    const known = key === null ? undefined : kinds.get(key);
    if (known !== undefined) {
      known.push(entry);
      continue;
    }
    const own = [entry];
    if (key !== null) kinds.set(key, own);
    texts.push(() => (own.length === 1 ? entryText(entry) : kindText(own)));
  }
  return texts.map((text) => text());
}

/** Entries of one kind in one line, with the first of their places. */
function kindText(entries: readonly ImportEntry[]): string {
  const { kind, outcome, reasons } = entries[0]!;
  const places = [...new Set(entries.map(({ place }) => place))];
  const more = places.length > MOST_PLACES ? ` and ${places.length - MOST_PLACES} more` : '';
  const at = `${places.slice(0, MOST_PLACES).join(', ')}${more}`;
  const lines = [
    `${WORDS[outcome]}: ${entries.length} × ${kind}: ${at}`,
    ...reasons.map((reason) => `  ${reason}`),
  ];
  return lines.map(visible).join('\n');
}

function entryText({ place, source, outcome, reasons }: ImportEntry): string {
  const lines = [`${place}: ${WORDS[outcome]}: ${source}`, ...reasons.map((reason) => `  ${reason}`)];
  return lines.map(visible).join('\n');
}

function countsText({
  exact,
  differs,
  closed,
  not_carried,
  not_needed,
}: ReturnType<typeof countOutcomes>): string {
  const refused = closed === 0 ? '' : ` ${closed} stricter,`;
  return `${exact} carried over, ${differs} with a difference,${refused} ${not_carried} not carried over, ${not_needed} not needed`;
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
  const { name, files, summary, description, options = [] } = importer;
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
  for (const option of options) command.addOption(option);
  return command;
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  'import zone': [
    'edgeplan import zone example.com --zone example.com.zone --dry-run',
    'dig @ns1.old.example AXFR example.com | edgeplan import zone example.com --zone - --json',
  ],
  'import nginx': [
    'edgeplan import nginx /etc/nginx/nginx.conf -o edge.yaml',
    'edgeplan import nginx /etc/nginx/sites-enabled/shop --domain example.com --json',
  ],
  'import cloudflare': [
    'edgeplan import cloudflare rulesets.json dns-records.json -o edge.yaml',
    'edgeplan import cloudflare rulesets.json --domain example.com --origin origin.example.net --json',
  ],
  'import bunny': [
    'edgeplan import bunny pull-zone.json -o edge.yaml',
    'edgeplan import bunny edge-rules.json --domain example.com --json',
  ],
  'import fastly': [
    'edgeplan import fastly service-details.json -o edge.yaml',
    'edgeplan import fastly version.json --domain example.com --json',
  ],
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
