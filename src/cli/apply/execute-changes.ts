/** Makes planned changes over the API, one after another, and stops at the first that is refused. */
import { same } from '../../files/print-edge.ts';
import type { Rule } from '../../model/types.ts';
import { CommandFault, EXIT } from '../exit.ts';
import { type ApiResponse, callApi, type ServerAccess, ServerRefusal } from '../remote/call-api.ts';
import { domainPath, readRecord, readRule, recordPath, rulePath } from '../remote/remote-domain.ts';
import { contentOf } from './pair-rules.ts';
import type { ChangePlan, PlannedChange } from './plan-changes.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface ExecuteOptions extends ServerAccess {
  readonly domain: string;
  /** Told after each change. */
  readonly onDone?: (change: PlannedChange) => void;
  /** Told what the server did beside a change. */
  readonly onNote?: (sentence: string) => void;
}

export type ApplyOutcome =
  | { readonly ok: true; readonly revision: string | null }
  | { readonly ok: false; readonly made: number; readonly fault: CommandFault };

/** Makes all changes of a plan; the last one waits until a plan with all of them is published. */
export async function executeChanges(plan: ChangePlan, options: ExecuteOptions): Promise<ApplyOutcome> {
  const running: Running = {
    options,
    recordIds: new Map(plan.recordIds),
    gone: new Set(plan.changes.flatMap((change) => (isGoneRecord(change) ? [change.before.id] : []))),
  };
  let revision: string | null = null;
  for (const [index, change] of plan.changes.entries()) {
    try {
      const last = index === plan.changes.length - 1;
      const { headers } = await make(change, running, last ? '?wait=published' : '');
      revision = headers.get('x-revision');
      options.onDone?.(change);
    } catch (error) {
      if (error instanceof CommandFault) return { ok: false, made: index, fault: error };
      throw error;
    }
  }
  return { ok: true, revision };
}

interface Running {
  readonly options: ExecuteOptions;
  /** The server's ids by the file's; grows with every record that is made. */
  readonly recordIds: Map<number, number>;
  /** Server ids of records this plan deletes: deleting one changes the rules that name it. */
  readonly gone: ReadonlySet<number>;
}

function isGoneRecord(
  change: PlannedChange,
): change is Extract<PlannedChange, { noun: 'record'; verb: 'delete' }> {
  return change.noun === 'record' && change.verb === 'delete';
}

async function make(change: PlannedChange, running: Running, query: string): Promise<ApiResponse> {
  const { options } = running;
  const { domain } = options;
  if (change.noun === 'domain') {
    const path = domainPath(domain);
    const { headers } = await callApi(options, { method: 'GET', path });
    return send(options, { method: 'PUT', path: path + query, body: change.after, ...matching(headers) });
  }
  if (change.noun === 'record') return makeRecord(change, running, query);
  return makeRule(change, running, query);
}

async function makeRecord(
  change: Extract<PlannedChange, { noun: 'record' }>,
  running: Running,
  query: string,
): Promise<ApiResponse> {
  const { options } = running;
  const { domain } = options;
  if (change.verb === 'create') {
    const { id, ...body } = change.after;
    const answer = await send(options, { method: 'POST', path: recordPath(domain) + query, body });
    running.recordIds.set(id, Number((answer.body as Fields)['id']));
    return answer;
  }
  const path = recordPath(domain, change.before.id);
  const { body: shown, headers } = await callApi(options, { method: 'GET', path });
  if (!same(readRecord(shown, domain), change.before)) throw changedMeanwhile(change);
  if (change.verb === 'delete')
    return send(options, { method: 'DELETE', path: path + query, ...matching(headers) });
  const { id: _, ...body } = change.after;
  return send(options, { method: 'PUT', path: path + query, body, ...matching(headers) });
}

async function makeRule(
  change: Extract<PlannedChange, { noun: 'rule' }>,
  running: Running,
  query: string,
): Promise<ApiResponse> {
  const { options } = running;
  const { domain } = options;
  if (change.verb === 'create') {
    const { type } = change.after;
    const path = rulePath(domain, type);
    const answer = await send(options, {
      method: 'POST',
      path: path + query,
      body: bodyOf(change.after, running),
    });
    tellWww(answer, options);
    return answer;
  }
  const { before } = change;
  const path = rulePath(domain, before.type, before.id);
  const { body: shown, headers } = await callApi(options, { method: 'GET', path });
  if (!isStill(readRule(before.type, shown as Fields), before, running.gone)) throw changedMeanwhile(change);
  if (change.verb === 'delete')
    return send(options, { method: 'DELETE', path: path + query, ...matching(headers) });
  const body = bodyOf(change.after, running);
  return send(options, { method: 'PUT', path: path + query, body, ...matching(headers) });
}

/** A rule as the API takes it, whole: what a partial update would merge is what the file means. */
function bodyOf(rule: Rule, { recordIds }: Running): Fields {
  const record_ids = rule.record_ids.map((id) => recordIds.get(id));
  return { ...contentOf(rule), record_ids };
}

/** Whether a rule is as it was planned with, but for what deleting its records did to it. */
function isStill(found: Rule, planned: Rule, gone: ReadonlySet<number>): boolean {
  if (!planned.record_ids.some((id) => gone.has(id))) return same(found, planned);
  const { enabled: _, ...rest } = contentOf(found);
  const { enabled: __, ...wanted } = contentOf(planned);
  return same(rest, wanted);
}

function changedMeanwhile({ title }: PlannedChange): CommandFault {
  return new CommandFault(EXIT.server, `${title} has been changed by somebody else meanwhile`, {
    remedy: 'look at what apply --dry-run says now',
  });
}

function matching(headers: Headers): { readonly ifMatch?: string } {
  const tag = headers.get('etag');
  return tag === null ? {} : { ifMatch: tag };
}

/** As `callApi`; a publication that is late is not a change that was refused. */
async function send(options: ExecuteOptions, question: Parameters<typeof callApi>[1]): Promise<ApiResponse> {
  try {
    return await callApi(options, question);
  } catch (error) {
    if (!(error instanceof ServerRefusal) || error.status !== 504) throw error;
    options.onNote?.(error.sentence);
    return { body: {}, headers: new Headers() };
  }
}

/** The redirect between a domain and its www name gets the record it needs from the server (API document, "redirect"). */
function tellWww({ body }: ApiResponse, { onNote }: ExecuteOptions): void {
  const made = (body as Fields)['www_record'];
  if (made === 'created' || made === 'created_external')
    onNote?.('the server made a proxied record `www` for a redirect; add it to the file');
}
