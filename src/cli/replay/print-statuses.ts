/** Prints the report of a replay that compares statuses. */
import type { LogFormat } from '../../workbench/access-logs/format.ts';
import {
  ANSWER_REASONS,
  type AnswerReason,
  type AnswerVerdict,
} from '../../workbench/replay/compare-answer.ts';
import type { LackedFact } from '../../workbench/replay/dependencies.ts';
import type { StatusGroup, StatusReport } from '../../workbench/replay/status-replay.ts';
import { quantity, visible } from '../../workbench/simulation/render-text.ts';
import { inputFault } from '../exit.ts';
import { grouped, tableText } from '../print/table.ts';
import type { OpenedLog } from './open-logs.ts';
import { lacksText, logDocument } from './print-requests.ts';
import { printedGroups } from './replay.ts';
import type { ReadLogs } from './replay-logs.ts';

/** What is printed. */
export interface PrintedStatuses {
  readonly report: StatusReport;
  readonly read: ReadLogs;
  readonly lacks: readonly LackedFact[];
  readonly logs: readonly OpenedLog[];
  /** The file of the rules. */
  readonly name: string;
}

/** Groups without examples that are printed; the JSON contains all. */
const ROWS_PRINTED = 30;

/** Verdicts in words. */
const VERDICTS: Readonly<Record<AnswerVerdict, string>> = {
  different: 'different',
  open: 'open: look at the examples',
  incomparable: 'not comparable',
  same: 'the same',
};

/** The report as text, ending in a newline. */
export function statusesText({ report, lacks, logs, name }: PrintedStatuses): string {
  const { compared, changed, groups } = report;
  const differing = changed === 0 ? 'none differs' : quantity(changed, 'differs', 'differ');
  const head = `${grouped(compared)} ${compared === 1 ? 'request' : 'requests'} compared with ${name}: ${differing}`;
  const text = [
    `${visible(head)}\n\n`,
    verdictsText(report),
    examplesText(groups),
    isSourceOpen(groups) ? sourceHint(logs) : '',
    rowsText(
      'not comparable',
      groups.filter(({ verdict }) => verdict === 'incomparable'),
    ),
    rowsText(
      'the same',
      groups.filter(({ verdict }) => verdict === 'same'),
    ),
    lacksText(lacks),
  ];
  return text.join('');
}

/** How many requests have each verdict. */
function verdictsText({ verdicts, compared }: StatusReport): string {
  const found = (Object.keys(VERDICTS) as AnswerVerdict[]).filter((one) => verdicts[one] > 0);
  const width = Math.max('requests'.length, grouped(compared).length);
  const rows = found.map((one) => [grouped(verdicts[one]).padStart(width), VERDICTS[one]]);
  return tableText(['requests', 'verdict'], rows);
}

/** What differs and what is open, by reason, with examples. */
function examplesText(groups: readonly StatusGroup[]): string {
  const shown = groups.filter(({ verdict }) => verdict === 'different' || verdict === 'open');
  const reasons = [...new Set(shown.map(({ reason }) => reason))];
  const lines = reasons.flatMap((reason) => {
    const { verdict, text } = ANSWER_REASONS[reason];
    const own = shown.filter((group) => group.reason === reason);
    return ['', `${verdict}: ${text}`, ...printedGroups({ groups: own }, { timed: true })];
  });
  return lines.map((line) => `${visible(line)}\n`).join('');
}

/** Groups as a table without examples; empty without groups. */
function rowsText(heading: string, groups: readonly StatusGroup[]): string {
  if (groups.length === 0) return '';
  const width = Math.max('requests'.length, ...groups.map(({ lines }) => grouped(lines).length));
  const shown = groups.slice(0, ROWS_PRINTED);
  const rows = shown.map(({ lines, was, now, reason }) => [
    grouped(lines).padStart(width),
    was,
    now,
    ANSWER_REASONS[reason].text,
  ]);
  const left = groups.length - shown.length;
  const more = left > 0 ? `${quantity(left, 'more kind', 'more kinds')}; --json lists all\n` : '';
  return `\n${heading}:\n${tableText(['requests', 'was', 'now', 'why'], rows)}${more}`;
}

/** Reasons that a log with the source of its answers does not have. */
const UNKNOWN_SOURCE: ReadonlySet<AnswerReason> = new Set([
  'refused_by_either',
  'redirected_by_either',
  'answered_by_either',
]);

function isSourceOpen(groups: readonly StatusGroup[]): boolean {
  return groups.some(({ reason }) => UNKNOWN_SOURCE.has(reason));
}

/** What a format needs so that its log says who answered; absent: it always says so, or cannot. */
const SOURCE_FIELDS: Readonly<Partial<Record<LogFormat, string>>> = {
  combined: 'a JSON log of nginx (`log_format … escape=json`) with `$upstream_status` says who answered',
  'nginx-json': '`$upstream_status` in the `log_format` says who answered',
  cloudflare: '`OriginResponseStatus` in the Logpush job says who answered',
  traefik: '`OriginStatus` says who answered',
};

/** How later logs can say what these do not; empty: their formats cannot. */
function sourceHint(logs: readonly OpenedLog[]): string {
  const hints = logs.flatMap(({ format }) => (format === null ? [] : (SOURCE_FIELDS[format] ?? [])));
  return [...new Set(hints)].map((hint) => `\n${hint}\n`).join('');
}

/** The field of a format with the status; absent: all of its lines have one. */
const STATUS_FIELDS: Readonly<Partial<Record<LogFormat, string>>> = {
  'nginx-json': 'add `"status":"$status"` to the `log_format`',
  caddy: 'keep the field `status` of the access log',
  cloudflare: 'add `EdgeResponseStatus` to the fields of the Logpush job',
  cloudfront: 'add `sc-status` to the fields of the log',
  traefik: 'keep the field `DownstreamStatus` of the access log',
};

/** The fault for logs without any status: a comparison with nothing would say that all is equal. */
export function noStatus(logs: readonly OpenedLog[]): Error {
  const remedies = logs.flatMap(({ format }) => (format === null ? [] : (STATUS_FIELDS[format] ?? [])));
  const named =
    remedies.length === 0 ? 'name a log with the status of each answer' : [...new Set(remedies)].join('; ');
  const remedy = `${named}; without --compare-status, replay reports what the rules decide`;
  return inputFault('no line of the log has the status of its answer', { remedy });
}

/** The fields of the JSON document. */
export function statusesDocument({ report, read, lacks }: PrintedStatuses): object {
  const { otherHosts, ...rest } = report;
  return { ...rest, other_hosts: otherHosts, ...logDocument(read, lacks) };
}
