/** `edgeplan audit`: prints the audit log of a domain: who changed what, and when. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { terminalJson } from '../../base/text/json-object.ts';
import { same } from '../../rules/files/print-edge.ts';
import { isMapping } from '../../rules/files/yaml.ts';
import { paint } from '../../workbench/simulation/paint.ts';
import { type RenderedLine, span } from '../../workbench/simulation/render-text.ts';
import { fieldLines } from '../apply/print-changes.ts';
import { type Examples, withExamples } from '../examples.ts';
import { colourOption, readTime, timeAt } from '../options.ts';
import { type ColourChoice, colourFor, note, write } from '../output.ts';
import { keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';
import { callDomainApi, domainPath } from '../remote/remote-domain.ts';

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

/** Examples of the help. */
const EXAMPLES: Examples = {
  audit: ['edgeplan audit example.com --since 24h', 'edgeplan audit example.com --limit 10 --json'],
};

/** Creates the command. */
export function auditCommand(): Command {
  const command = new Command('audit')
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
  return withExamples(command, EXAMPLES);
}

// Prints an entry of the audit log: who did what and when, then each changed field.

/** An entry of the audit log, as the API returns it. */
export interface AuditLogEntry {
  readonly id: number;
  readonly at: string;
  readonly user_id: number | null;
  readonly user: string | null;
  readonly key_id: number | null;
  readonly action: string;
  readonly subject: string;
  /** The object before the action, or the fields of it that the action concerns; `null`: none. */
  readonly before: unknown;
  /** The same after the action; it may have fields that `before` lacks, and the reverse. */
  readonly after: unknown;
}

/** The lines of one entry: time, author, action and subject, then each changed field. */
export function auditLines(entry: AuditLogEntry): readonly RenderedLine[] {
  const { at, action, subject, before, after } = entry;
  const heading = [
    span(at, 'dim'),
    span(`  ${whoOf(entry)}`),
    span(`  ${action}`, 'strong'),
    span(`  ${subject}`),
  ];
  return [heading, ...changedFields(before, after).flatMap(fieldLines)];
}

/** The author of an entry. */
function whoOf({ user, user_id, key_id }: AuditLogEntry): string {
  if (user_id === null) return 'operator or service';
  const name = user ?? `account ${user_id}`;
  return key_id === null ? name : `${name} (key ${key_id})`;
}

/** Fields that every object has and that the server sets. */
const OWN = ['id', 'domain_id', 'created_at', 'updated_at', 'record_id'];

/** The fields that differ. A list, such as imported records, is one field. */
function changedFields(before: unknown, after: unknown): readonly Parameters<typeof fieldLines>[0][] {
  if (!isMapping(before) && !isMapping(after)) {
    if (before === null && after === null) return [];
    return [{ name: 'entries', before: listOf(before), after: listOf(after) }];
  }
  const [had, has] = [ownFields(before), ownFields(after)];
  const names = [...new Set([...Object.keys(had), ...Object.keys(has)])].filter(
    (name) => !OWN.includes(name),
  );
  const both = isMapping(before) && isMapping(after);
  return (
    names
      .filter((name) => !same(had[name], has[name]))
      // Empty fields of a created or deleted object are left out.
      .filter((name) => both || !isEmpty(had[name] ?? has[name]))
      .map((name) => ({
        name,
        ...(had[name] === undefined ? {} : { before: had[name] }),
        ...(has[name] === undefined ? {} : { after: has[name] }),
      }))
  );
}

/** The fields of an object without those that every object inherits, such as `valueOf`. */
function ownFields(value: unknown): Readonly<Record<string, unknown>> {
  return Object.assign(Object.create(null), isMapping(value) ? value : {});
}

/** The entries of a list, such as imported records, without empty and generated fields. */
function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) return value === null ? [] : [value];
  return value.map((entry) => {
    if (!isMapping(entry)) return entry;
    const shown = Object.entries(entry).filter(([name, own]) => !DATED.includes(name) && !isEmpty(own));
    return shown
      .map(([name, own]) => `${name} ${typeof own === 'string' ? own : JSON.stringify(own)}`)
      .join(', ');
  });
}

/** Generated fields of list entries. */
const DATED = ['domain_id', 'created_at', 'updated_at'];

/** Whether a value carries no information. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || ['""', '[]', '{}'].includes(JSON.stringify(value));
}
