/**
 * Changes of rules, records and plans over the API. Each write names the version that the page shows (`If-Match`), so that nobody's
 * change is lost, and waits until a revision that covers it is out. Out: `null`, or the version on the server where it has changed.
 */
import type { RuleType } from '../../../../base/vocabulary/vocabulary.ts';
import { CallFault, callJson } from './call.ts';
import { domainPath, type RecordShown, type RuleShown, rulesPath } from './documents.ts';
import { readMarks, readRecords, readRevisions, readRules, report } from './session.ts';
import { getApi, setApi } from './state.ts';

/** An object with the entity tag of its version. */
export interface Tagged<Value> {
  readonly value: Value;
  readonly tag: string;
}

/** The sentence for a write that the server refused since its object has changed. */
export const CHANGED = 'somebody else has changed it since this page read it';

/** The name of the domain that is shown. @throws CallFault */
export function domainName(): string {
  const { domain } = getApi();
  if (domain === null) throw new CallFault(409, 'no domain is chosen');
  return domain.name;
}

/** The path of a rule. */
export function rulePath({ type, id }: Pick<RuleShown, 'type' | 'id'>): string {
  return `${rulesPath(domainName(), type)}${id}`;
}

/** The path of records, or of one. */
export function recordPath(id: number | null): string {
  return `${domainPath(domainName())}/records/${id ?? ''}`;
}

/** Reads an object with its tag. @throws CallFault */
export async function readTagged<Value>(path: string): Promise<Tagged<Value>> {
  const { body, headers } = await callJson<Value>(path);
  return { value: body, tag: headers.get('etag') ?? '"none"' };
}

/** Reads an object whose version the page shows. @throws CallFault 412 where the server has another */
async function readShown<Value>(path: string, shown: unknown): Promise<Tagged<Value>> {
  const now = await readTagged<Value>(path);
  if (JSON.stringify(now.value) !== JSON.stringify(shown)) throw new CallFault(412, CHANGED);
  return now;
}

/** Sends a write, reads the domain again and returns the answer. @param done the sentence that is shown then. @throws CallFault */
export async function commit(
  path: string,
  {
    done,
    ...call
  }: {
    readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    readonly body?: unknown;
    readonly ifMatch?: string;
    readonly done: string;
  },
): Promise<unknown> {
  const { body, headers } = await callJson<unknown>(
    `${path}${path.includes('?') ? '&' : '?'}wait=published`,
    call,
  );
  const revision = headers.get('x-revision');
  const out = revision === null ? '' : ` Published as revision ${revision}.`;
  const waits = headers.has('x-draft') ? ' It waits in the draft.' : '';
  await Promise.all([readRevisions(), readRules(), readRecords()]);
  // Once the page shows what was written: the next change is compared with that.
  setApi({ notice: { tone: 'good', text: `${done}${out}${waits}` } });
  void readMarks();
  return body;
}

/** Publishes the draft whose tag the page has read, so that what was reviewed is what is published. */
export function publishDraft(tag: string): Promise<void> {
  const path = `${domainPath(domainName())}/draft/publish`;
  const done = 'The draft is published.';
  return attempt(() => commit(path, { method: 'POST', ifMatch: tag, done }));
}

/** Throws the draft away whose tag the page has read. */
export function discardDraft(tag: string): Promise<void> {
  const path = `${domainPath(domainName())}/draft`;
  const done = 'The draft is thrown away: the rules are those that are published.';
  return attempt(() => commit(path, { method: 'DELETE', ifMatch: tag, done }));
}

/** Sets whether changes of rules wait in a draft. */
export function setPublishMode(publish_mode: 'automatic' | 'manual'): Promise<void> {
  const path = `${domainPath(domainName())}/publishing`;
  const done =
    publish_mode === 'manual'
      ? 'Changes of rules wait in a draft from now on.'
      : 'Every change of a rule is published at once from now on.';
  return attempt(async () => {
    await callJson(path, { method: 'PUT', body: { publish_mode } });
    setApi({ notice: { tone: 'good', text: done } });
  });
}

let running: Promise<void> = Promise.resolve();

/**
 * Runs a change that a button asks for; a refusal is shown, and what the server has is read again. One at a time: a change that is
 * asked for meanwhile begins once the page shows the one before, which is no change by somebody else. Paths are of the domain at the
 * click: another may be shown by then.
 */
export function attempt(what: () => Promise<unknown>): Promise<void> {
  running = running.then(() => attemptNow(what));
  return running;
}

async function attemptNow(what: () => Promise<unknown>): Promise<void> {
  setApi({ notice: null });
  try {
    await what();
  } catch (error) {
    if (error instanceof CallFault && error.status === 412) {
      const text = `Nothing was changed: ${CHANGED}. Now you see the newest version; look at it and try again.`;
      setApi({ notice: { tone: 'bad', text } });
    } else report(error);
    // A refusal that comes late, as a 503 may, does not say whether the change was made.
    await Promise.all([readRules(), readRecords()]).catch(report);
  }
}

/** How a rule is called. */
export function ruleName({ type, id }: Pick<RuleShown, 'type' | 'id'>): string {
  return `${type} #${id}`;
}

/** The rule as lists show it; pages are only in the answer for one rule. */
function listed(rule: RuleShown): unknown {
  const { content: _, ...others } = rule;
  return others;
}

/** Reads a rule for a write. @throws CallFault 412 where the server has another version than the page shows */
async function tagOfRule(path: string, rule: RuleShown): Promise<string> {
  const { value, tag } = await readTagged<RuleShown>(path);
  const shown = getApi().rules?.find(({ type, id }) => type === rule.type && id === rule.id) ?? rule;
  if (JSON.stringify(listed(value)) !== JSON.stringify(listed(shown))) throw new CallFault(412, CHANGED);
  return tag;
}

/** Turns a rule on or off. */
export function toggleRule(rule: RuleShown): Promise<void> {
  const path = rulePath(rule);
  const done = `Rule ${ruleName(rule)} is ${rule.enabled ? 'off' : 'on'}.`;
  return attempt(async () => {
    const ifMatch = await tagOfRule(path, rule);
    await commit(`${path}/toggle`, { method: 'PATCH', ifMatch, done });
  });
}

/** Switches a rule between `enforce` and `dry_run`. */
export function switchMode(rule: RuleShown): Promise<void> {
  const path = rulePath(rule);
  const action_mode = rule.action_mode === 'dry_run' ? 'enforce' : 'dry_run';
  const done = action_mode === 'enforce' ? 'acts again' : 'only records what it would do';
  return attempt(async () => {
    const ifMatch = await tagOfRule(path, rule);
    const call = { method: 'PUT', body: { action_mode }, ifMatch } as const;
    await commit(path, { ...call, done: `Rule ${ruleName(rule)} ${done}.` });
  });
}

/** Deletes a rule. */
export function deleteRule(rule: RuleShown): Promise<void> {
  const path = rulePath(rule);
  return attempt(async () => {
    const ifMatch = await tagOfRule(path, rule);
    await commit(path, { method: 'DELETE', ifMatch, done: `Rule ${ruleName(rule)} is deleted.` });
  });
}

/** Gives the rules of a type another order. @param ids all of them */
export function reorderRules(type: RuleType, ids: readonly number[]): Promise<void> {
  const path = rulesPath(domainName(), type);
  return attempt(async () => {
    const shown = getApi().rules?.filter((rule) => rule.type === type);
    const { tag } = await readShown(path, shown);
    const call = { method: 'PUT', body: { ids }, ifMatch: tag } as const;
    await commit(`${path}reorder`, { ...call, done: `The rules of type ${type} have a new order.` });
  });
}

/** Deletes a record. */
export function deleteRecord(record: RecordShown): Promise<void> {
  const path = recordPath(record.id);
  return attempt(async () => {
    const shown = getApi().records?.find(({ id }) => id === record.id) ?? record;
    const { tag } = await readShown(path, shown);
    await commit(path, {
      method: 'DELETE',
      ifMatch: tag,
      done: `Record ${record.name} ${record.type} is deleted.`,
    });
  });
}

/** Publishes the content of an older revision. */
export function rollBack(revision: number): Promise<void> {
  const path = `${domainPath(domainName())}/plans/${revision}/rollback`;
  const done = `The content of revision ${revision} is published again. The stored rules are as they were, and the next change publishes them.`;
  return attempt(() => commit(path, { method: 'POST', done }));
}
