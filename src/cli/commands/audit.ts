/** `edgeplan audit`: prints the audit log of a domain: who changed what, and when. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { terminalJson } from '../../base/text/json-object.ts';
import { paint } from '../../workbench/simulation/paint.ts';
import { colourOption } from '../options.ts';
import { type ColourChoice, colourFor, note, write } from '../output.ts';
import { type AuditLogEntry, auditLines } from '../print/audit-entry.ts';
import { keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';
import { callDomainApi, domainPath } from '../remote/remote-domain.ts';
import { readTime, timeAt } from '../time-option.ts';

/** The options of the command, as commander parses them. */
interface Flags extends ServerAccess {
  /** Prints entries from this time on, in milliseconds since the epoch. */
  readonly since?: number;
  /** The largest number of entries. */
  readonly limit: number;
  /** Prints one JSON object per line. */
  readonly json?: boolean;
  /** When to colour the output. */
  readonly color: ColourChoice;
}

/** The format of a line of JSON. */
const AUDIT_FORMAT = 'edgeplan.audit/v1';
/** Entries per request: the API's maximum. */
const PAGE = 1_000;
/** The default of `--limit`. */
const USUAL_LIMIT = 50;

/** Reads pages of the log, newest first, and prints their entries. */
async function run(domain: string, flags: Flags): Promise<void> {
  const colour = colourFor(process.stdout, flags.color);
  let left = flags.limit;
  let before: number | null = null;
  let printed = 0;
  while (left > 0) {
    const pageSize = Math.min(PAGE, left);
    const from = before === null ? '' : `&before=${before}`;
    const path = `${domainPath(domain, '/audit/')}?limit=${pageSize}${from}`;
    const page = (await callDomainApi(domain, flags, { method: 'GET', path }))
      .body as readonly AuditLogEntry[];
    // The API has no such filter, so entries are filtered here.
    const since = flags.since ?? Number.NEGATIVE_INFINITY;
    const matching = page.filter(({ at }) => Date.parse(at) >= since);
    for (const entry of matching) {
      await write(
        flags.json === true
          ? `${terminalJson({ format: AUDIT_FORMAT, ...entry })}\n`
          : paint(auditLines(entry), colour),
      );
    }
    printed += matching.length;
    left -= page.length;
    // Newest first: all further entries are older.
    if (page.length < pageSize || matching.length < page.length) break;
    before = page.at(-1)!.id;
  }
  if (printed === 0) note('nothing in the audit log');
}

/** Parses `--limit`. */
function readLimit(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('write a whole number from 1 to 999999.');
  return Number(text);
}

/** Creates the command. */
export function auditCommand(): Command {
  return new Command('audit')
    .summary('who changed what on a domain, newest first')
    .description('Reads the audit log of a domain: when, who, what, and each field before and after.')
    .argument('<domain>', 'its name')
    .addOption(
      new Option('--since <time>', 'only what happened since then: 2026-11-20, or 24h, 7d ago').argParser(
        (text) => timeAt(readTime(text), Date.now()),
      ),
    )
    .addOption(new Option('--limit <count>', 'entries, at most').argParser(readLimit).default(USUAL_LIMIT))
    .option('--json', 'one entry as JSON on each line (edgeplan.audit/v1)')
    .addOption(serverOption())
    .addOption(keyOption())
    .addOption(colourOption())
    .action(run);
}
