/** Executes planned changes over the API one after another, and stops at the first refusal. */
import { DROP_STATUSES, REDIRECT_TARGET_MODES } from '../../base/vocabulary/vocabulary.ts';
import { same } from '../../rules/files/print-edge.ts';
import { isMapping } from '../../rules/files/yaml.ts';
import { showEntry } from '../../rules/model/lists.ts';
import type { Rule } from '../../rules/model/types.ts';
import { CommandFault } from '../exit.ts';
import { type ApiResponse, callApi, type ServerAccess } from '../remote/call-api.ts';
import { domainPath, listPath, readRecord, readRule, recordPath, rulePath } from '../remote/remote-domain.ts';
import { executeRegistry } from './execute-registry.ts';
import { contentOf } from './pair-rules.ts';
import type { ChangePlan, PlannedChange } from './plan-changes.ts';
import { changedMeanwhile, matching, send } from './send.ts';
import { withMadeTags } from './server-tags.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Options of `executeChanges`. */
export interface ExecuteOptions extends ServerAccess {
  readonly domain: string;
  /** Called after each change; `id` is that of a created object, `null` if the server did not answer it. */
  readonly onDone?: (change: PlannedChange, id: number | null) => Promise<void>;
  /** Receives a sentence for what the server did besides a change. */
  readonly onNote?: (sentence: string) => void;
}

/**
 * The outcome: the revision of the last change (`null`: unknown), or the number of changes made before the fault.
 */
export type ApplyOutcome =
  | {
      readonly ok: true;
      readonly revision: string | null;
      /** The numbers of the draft that changes of rules were answered with; none: nothing waits in a draft. */
      readonly edits: ReadonlySet<number>;
    }
  | {
      readonly ok: false;
      readonly made: number;
      readonly fault: CommandFault;
      /** The change that failed; `null`: it was made, and `onDone` failed. */
      readonly failed: PlannedChange | null;
    };

/** Executes all changes; the last request waits until a plan with all of them is published. */
export async function executeChanges(plan: ChangePlan, options: ExecuteOptions): Promise<ApplyOutcome> {
  const running: Running = {
    options,
    recordIds: new Map(plan.recordIds),
    unmadeTags: plan.unmadeTags,
    made: new Map(),
    gone: new Set(plan.changes.flatMap((change) => (isRecordDeletion(change) ? [change.before.id] : []))),
  };
  let revision: string | null = null;
  const edits = new Set<number>();
  let made = 0;
  for (const [index, change] of plan.changes.entries()) {
    try {
      const last = index === plan.changes.length - 1;
      const { headers, body } = await execute(change, running, last ? '?wait=published' : '');
      revision = headers.get('x-revision');
      const waiting = headers.get('x-draft');
      if (waiting !== null) edits.add(Number(waiting));
      made = index + 1;
      await options.onDone?.(change, createdId(change, body));
    } catch (error) {
      if (error instanceof CommandFault)
        return { ok: false, made, fault: error, failed: made > index ? null : change };
      throw error;
    }
  }
  return { ok: true, revision, edits };
}

/** The id of the object that a change has created. */
function createdId({ verb }: PlannedChange, body: unknown): number | null {
  const id = verb === 'create' && isMapping(body) ? body['id'] : null;
  return typeof id === 'number' ? id : null;
}

/** The state of one execution. */
interface Running {
  readonly options: ExecuteOptions;
  /** Record ids of the server by those of the file; each created record is added. */
  readonly recordIds: Map<number, number>;
  /** The tags of rules that this plan creates, with their ids in the file. */
  readonly unmadeTags: ReadonlyMap<string, number>;
  /** Rule ids of the server by those of the file; each created rule is added. */
  readonly made: Map<number, number>;
  /** Server ids of the records that this plan deletes; deleting a record changes the rules that refer to it. */
  readonly gone: ReadonlySet<number>;
}

/** Whether a change deletes a record. */
function isRecordDeletion(
  change: PlannedChange,
): change is Extract<PlannedChange, { noun: 'record'; verb: 'delete' }> {
  return change.noun === 'record' && change.verb === 'delete';
}

/** Executes one change; `query` is added to the writing request. */
async function execute(change: PlannedChange, running: Running, query: string): Promise<ApiResponse> {
  const { options } = running;
  const { domain } = options;
  if (change.noun === 'domain') {
    const path = domainPath(domain);
    const { headers } = await callApi(options, { method: 'GET', path });
    return send(options, { method: 'PUT', path: path + query, body: change.after, ...matching(headers) });
  }
  if (change.noun === 'record') return executeRecord(change, running, query);
  if (change.noun === 'list') return executeList(change, running, query);
  if (change.noun === 'rule') return executeRule(change, running, query);
  return executeRegistry(change, options, query);
}

/** Creates, updates or deletes a record. @throws CommandFault when it has changed since it was read */
async function executeRecord(
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

/** Creates, updates or deletes a list. @throws CommandFault when it has changed since it was read */
async function executeList(
  change: Extract<PlannedChange, { noun: 'list' }>,
  { options }: Running,
  query: string,
): Promise<ApiResponse> {
  const { domain } = options;
  if (change.verb === 'create') {
    const { name, kind, entries } = change.after;
    const body = { name, kind, entries: entries.map((entry) => showEntry(kind, entry)) };
    return send(options, { method: 'POST', path: listPath(domain) + query, body });
  }
  const { name, kind, tag } = change.before;
  const ifMatch = tag === null ? {} : { ifMatch: tag };
  const path = listPath(domain, name);
  if (change.verb === 'delete') return send(options, { method: 'DELETE', path: path + query, ...ifMatch });
  const body = { entries: change.after.entries.map((entry) => showEntry(kind, entry)) };
  return send(options, { method: 'PUT', path: `${path}/entries${query}`, body, ...ifMatch });
}

/** Creates, updates or deletes a rule. @throws CommandFault when it has changed since it was read */
async function executeRule(
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
    const id = createdId(change, answer.body);
    if (id !== null) running.made.set(change.after.id, id);
    noteWwwRecord(answer, options);
    return answer;
  }
  const { before } = change;
  const path = rulePath(domain, before.type, before.id);
  const { body: shown, headers } = await callApi(options, { method: 'GET', path });
  if (!isStill(readRule(before.type, shown as Fields), before, running.gone)) throw changedMeanwhile(change);
  if (change.verb === 'delete')
    return send(options, { method: 'DELETE', path: path + query, ...matching(headers) });
  const body = { ...withoutOptional(before, change.after), ...bodyOf(change.after, running) };
  return send(options, { method: 'PUT', path: path + query, body, ...matching(headers) });
}

/** The value that removes each optional field of a stored rule. */
const REMOVED: Fields = {
  conditions: {},
  status: DROP_STATUSES[0],
  target_mode: REDIRECT_TARGET_MODES[0],
  targets: '',
  key_parts: [],
  count_statuses: [],
  headers: false,
  request: {},
  response: {},
  default_plan: null,
  cors: null,
  upstream_headers: null,
};

/** What removes the optional fields that a stored rule has and the desired one lacks: an update leaves fields that it does not name. */
function withoutOptional(before: Rule, after: Rule): Fields {
  return Object.fromEntries(
    Object.entries(REMOVED).filter(([name]) => Object.hasOwn(before, name) && !Object.hasOwn(after, name)),
  );
}

/**
 * The complete body of a rule, with the server's ids of records and tags. A complete body replaces the rule; a partial one would
 * be merged.
 */
function bodyOf(rule: Rule, { recordIds, unmadeTags, made }: Running): Fields {
  const record_ids = rule.record_ids.map((id) => recordIds.get(id));
  return { ...contentOf(withMadeTags(rule, unmadeTags, made)), record_ids };
}

/** Whether a rule is unchanged since planning, apart from the effect of deleting its records. */
function isStill(found: Rule, planned: Rule, gone: ReadonlySet<number>): boolean {
  if (!planned.record_ids.some((id) => gone.has(id))) return same(found, planned);
  const { enabled: _, ...rest } = contentOf(found);
  const { enabled: __, ...plannedRest } = contentOf(planned);
  return same(rest, plannedRest);
}

/**
 * Reports that the server created the record that a redirect between a domain and its www name needs (API document,
 * "redirect").
 */
function noteWwwRecord({ body }: ApiResponse, { onNote }: ExecuteOptions): void {
  const made = (body as Fields)['www_record'];
  if (made === 'created' || made === 'created_external')
    onNote?.('the server made a proxied record `www` for a redirect; add it to the file');
}
