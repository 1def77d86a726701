/** The decision log of a domain over the API: pages of entries, one decision, its explanation, and an entry as one line. */
import { countedMistake, decisionMistake } from '../../control/logs/entry-schema.ts';
import { COUNTED_FORMAT, type CountedLine } from '../../edge/following/counted-requests.ts';
import { type DecisionLine, GAP_FORMAT, type GapLine } from '../../edge/proxy/log/line.ts';
import type { TraceDocument } from '../../workbench/simulation/document.ts';
import {
  columns,
  quantity,
  type RenderedLine,
  span,
  type Tone,
} from '../../workbench/simulation/render-text.ts';
import { CommandFault, EXIT, inputFault, usageFault } from '../exit.ts';
import { callApi, type ServerAccess, ServerRefusal } from './call-api.ts';
import { callDomainApi, domainPath } from './remote-domain.ts';

/** A page of entries, newest first. */
export interface LogPageAnswer {
  readonly entries: readonly RemoteEntry[];
  /** `null`: there is nothing more in the time of the search. */
  readonly next: string | null;
  readonly complete: boolean;
}

/** Filters as the API has them. */
export type LogFilters = Readonly<Partial<Record<'from' | 'to' | 'action' | 'rule' | 'ip' | 'path', string>>>;

/** Which page to read. */
export interface LogPageRequest {
  readonly filters: LogFilters;
  readonly limit: number;
  /** `next` of the page before; `null`: the first page. */
  readonly cursor: string | null;
}

/** Reads one page. @throws CommandFault */
export async function readLogPage(
  domain: string,
  access: ServerAccess,
  { filters, limit, cursor }: LogPageRequest,
): Promise<LogPageAnswer> {
  const query = new URLSearchParams({
    ...filters,
    limit: String(limit),
    ...(cursor === null ? {} : { cursor }),
  });
  const path = `${domainPath(domain, '/logs/')}?${query}`;
  return (await callDomainApi(domain, access, { method: 'GET', path })).body as LogPageAnswer;
}

/** Reads one entry. @throws CommandFault with exit code 1 when the server has none with this id */
export async function readDecision(
  id: string,
  domain: string,
  access: ServerAccess,
): Promise<DecisionLine | CountedLine> {
  const path = domainPath(domain, `/logs/${encodeURIComponent(id)}`);
  try {
    return readable((await callDomainApi(domain, access, { method: 'GET', path })).body);
  } catch (error) {
    if (!(error instanceof ServerRefusal) || error.status !== 404) throw error;
    throw new CommandFault(EXIT.no, `there is no decision \`${id}\` in the log of \`${domain}\``, {
      remedy: WHY_MISSING,
      cause: error,
    });
  }
}

/** An entry that a server of an earlier release stored without a check of every field ends here. @throws CommandFault */
function readable(entry: unknown): DecisionLine | CountedLine {
  const isCounted = (entry as { readonly format?: unknown }).format === COUNTED_FORMAT;
  const mistake = isCounted ? countedMistake(entry) : decisionMistake(entry, 'store');
  if (mistake === null) return entry as DecisionLine | CountedLine;
  throw inputFault(`the entry of the decision cannot be read: ${mistake}`, {
    remedy: 'its node sent it so; `edgeplan logs --json` prints it as it is',
  });
}

/** Why a decision may be missing. */
const WHY_MISSING =
  'of plain answers only a sample is logged (--log-rate of the node), entries come some seconds later, and old ones are removed (--decision-log-days)';

/** Domains that are asked for a decision one by one: a fifth of a key's requests of a minute. */
const MOST_ASKED = 60;

/**
 * Reads one decision, of whichever domain of the key has it.
 * @throws CommandFault with exit code 1 when none has, 2 when the key has access to too many
 */
export async function findDecision(
  id: string,
  access: ServerAccess,
): Promise<{ readonly line: DecisionLine | CountedLine; readonly domain: string }> {
  const { body } = await callApi(access, { method: 'GET', path: '/domains/' });
  const domains = (body as readonly { readonly name: string }[]).map(({ name }) => name);
  if (domains.length > MOST_ASKED) {
    throw usageFault(`the key has access to ${domains.length} domains`, 'name one of them with --domain');
  }
  let refusal: ServerRefusal | null = null;
  for (const domain of domains) {
    const path = domainPath(domain, `/logs/${encodeURIComponent(id)}`);
    try {
      return { line: readable((await callApi(access, { method: 'GET', path })).body), domain };
    } catch (error) {
      if (!(error instanceof ServerRefusal) || error.status >= 500) throw error;
      // A subscription without logs answers 403, and a domain that is deleted meanwhile 404.
      if (error.status === 403) refusal = error;
    }
  }
  const [only] = domains;
  if (only !== undefined && domains.length === 1 && refusal !== null) throw refusal;
  const where = domains.length === 1 ? `\`${only}\`` : `the ${domains.length} domains of the key`;
  throw new CommandFault(EXIT.no, `there is no decision \`${id}\` in the logs of ${where}`, {
    remedy: refusal === null ? WHY_MISSING : `some were not searched: ${refusal.sentence}`,
  });
}

/** An explanation of the server, or why it has none. */
export type RemoteTrace =
  | { readonly trace: TraceDocument /** Rules that the page lacks. */; readonly more: number }
  | { readonly trace: null; readonly reason: string };

/** Rules of a trace, at most: the API's maximum. */
const TRACE_RULES = 1_000;

/** Explains a decision by the plan that made it, at the server. @throws CommandFault */
export async function readTrace(id: string, domain: string, access: ServerAccess): Promise<RemoteTrace> {
  const path = `${domainPath(domain, `/logs/${encodeURIComponent(id)}/trace`)}?limit=${TRACE_RULES}`;
  try {
    const { body } = await callDomainApi(domain, access, { method: 'GET', path });
    const {
      page,
      shortened: _,
      ...trace
    } = body as TraceDocument & {
      readonly page: { readonly rules: number; readonly of: number };
      readonly shortened: unknown;
    };
    return { trace: trace as TraceDocument, more: page.of - page.rules };
  } catch (error) {
    if (!(error instanceof ServerRefusal) || error.status !== 409) throw error;
    return { trace: null, reason: error.sentence };
  }
}

// Prints an entry of a domain's decision log as one line, its columns aligned with those of other lines.

/** A decision as the API returns it. */
export type RemoteDecision = DecisionLine & { readonly node: string | null };

/** A number of requests as the API returns it. */
export type RemoteCounted = CountedLine & { readonly node: string | null };

/** A gap as the API returns it. */
export type RemoteGap = GapLine & { readonly id: string; readonly node: string | null };

/** An entry as the API returns it. */
export type RemoteEntry = RemoteDecision | RemoteCounted | RemoteGap;

/** The tone of each action. */
const TONES: Readonly<Record<NonNullable<DecisionLine['decision']>['action'], Tone>> = {
  forward: 'good',
  block: 'bad',
  challenge: 'warn',
  redirect: 'accent',
  respond: 'accent',
  refuse: 'bad',
};

/** Columns of an action with its status: `challenge 403`. */
const OUTCOME_COLUMNS = 13;
/** Columns of a rule and of an address; longer ones move the rest of their line. */
const RULE_COLUMNS = 20;
/** See `RULE_COLUMNS`: an IPv4 address. */
const IP_COLUMNS = 15;
/** Ids of signatures that a line lists. */
const MOST_IDS = 4;

/** Time, outcome, rule, address, request; then signatures, the shadow and a fault, where there are any. */
export function logLine(entry: RemoteEntry): RenderedLine {
  const time = span(`${entry.time}  `, 'dim');
  if (entry.format === COUNTED_FORMAT) return [time, ...countedSpans(entry)];
  if (entry.format === GAP_FORMAT)
    return [time, span(`${quantity(entry.dropped, 'entry', 'entries')} dropped`, 'warn')];
  // A server of an earlier release has stored entries without a check of every field.
  const mistake = decisionMistake(entry, 'store');
  if (mistake !== null) return [time, span(`not readable: ${mistake}`, 'warn'), span(`  ${entry.id}`, 'dim')];
  const { request, decision, shadow, status, fault } = entry;
  const action = decision?.action ?? 'refuse';
  const asked = request === null ? '' : `${request.method} ${String(request.host)}${request.target}`;
  return [
    time,
    span(`${padded(`${action} ${status}`, OUTCOME_COLUMNS)}  `, TONES[action] ?? 'plain'),
    span(
      `${padded(decision?.rule ?? '-', RULE_COLUMNS)}  ${padded(request?.ip ?? '-', IP_COLUMNS)}  ${asked}`,
    ),
    ...inspected(entry),
    ...(shadow === null || shadow === undefined
      ? []
      : [span(`  would ${shadow.action}${by(shadow.rule)}`, 'warn')]),
    ...(fault === null ? [] : [span(`  fault ${fault}`, 'bad')]),
    span(`  ${entry.id}`, 'dim'),
  ];
}

/** Outcome, rule, network and number of counted requests. */
function countedSpans({ action, rule, network, requests, until, id }: RemoteCounted): RenderedLine {
  const tone = TONES[action as keyof typeof TONES] ?? (action === 'fault' ? 'bad' : 'warn');
  return [
    span(`${padded(action.replace('-', ' '), OUTCOME_COLUMNS)}  `, tone),
    span(`${padded(rule ?? '-', RULE_COLUMNS)}  ${padded(network ?? '-', IP_COLUMNS)}  `),
    span(`${quantity(requests, 'request')} until ${until}`, 'accent'),
    span(`  ${id}`, 'dim'),
  ];
}

/** The verdicts of waf rules, enforced or under dry_run. */
function inspected({ waf, matches }: RemoteDecision): RenderedLine {
  const verdicts = [waf, ...matches.map((match) => match.waf)].filter(
    (one) => one !== null && one !== undefined,
  );
  return verdicts.map(({ score, ids }) => {
    const more = ids.length > MOST_IDS ? ` and ${ids.length - MOST_IDS} more` : '';
    const listed = ids.length === 0 ? '' : ` (${ids.slice(0, MOST_IDS).join(' ')}${more})`;
    return span(`  waf ${score}${listed}`, 'accent');
  });
}

function by(rule: string | null): string {
  return rule === null ? '' : ` by ${rule}`;
}

function padded(text: string, wanted: number): string {
  return text + ' '.repeat(Math.max(0, wanted - columns(text)));
}
