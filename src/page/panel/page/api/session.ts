/**
 * The session: sign-in by API key, the domain that is shown, and what is read of it. In: a key, the name of a domain. Out: the page's
 * state over the API, read again when another revision comes out.
 */
import type { FieldDocument, FindingDocument } from '../../documents.ts';
import { getState, setState } from '../state.ts';
import { CallFault, callJson, callPages, useKey } from './call.ts';
import {
  type DomainEntry,
  type DomainShown,
  domainPath,
  type HitsShown,
  type LintEntry,
  type NodeEntry,
  type RecordShown,
  type RevisionEntry,
  type RuleShown,
} from './documents.ts';
import { getApi, SIGNED_OUT, setApi } from './state.ts';

/** Milliseconds between two questions for new revisions. */
const POLL_MS = 2_500;
/** Revisions that are listed. */
const LISTED_REVISIONS = 50;

/** Raised when another domain is chosen, so that answers about the one before are not shown. */
let chosen = 0;

/** Signs in. */
export async function signIn(key: string): Promise<void> {
  setApi({ ...SIGNED_OUT, session: 'opening', fields: getApi().fields });
  useKey({ key, refused: keyRefused });
  try {
    const [{ body: domains }, fields] = await Promise.all([
      callJson<readonly DomainEntry[]>('/domains/'),
      getApi().fields ?? readFields(),
    ]);
    setApi({ session: 'in', domains, fields });
    const wanted = getState().domain;
    const first = domains.find(({ name }) => name === wanted) ?? domains[0];
    if (first !== undefined) await chooseDomain(first.name);
  } catch (error) {
    if (getApi().session === 'opening') signOut(sentence(error));
    else report(error);
  }
}

/** Signs out and forgets all that was read. @param refused why; `null`: the user asked for it */
export function signOut(refused: string | null): void {
  useKey(null);
  chosen++;
  const { fields } = getApi();
  setState({
    api: { ...SIGNED_OUT, refused, fields },
    answer: null,
    olderAnswer: null,
    source: null,
    subject: null,
    conditions: null,
  });
}

/** What a refused key means: before the first answer it is wrong, later it has ended. */
function keyRefused(): void {
  const wrong = getApi().session === 'opening';
  signOut(
    wrong
      ? 'The server does not know this key. It may be mistyped, revoked or expired.'
      : 'The server does not accept this key any more: it was revoked or has expired. What you see on this page was not lost on the server; sign in with another key.',
  );
}

async function readFields(): Promise<FieldDocument> {
  const answer = await fetch('fields.json');
  if (!answer.ok)
    throw new CallFault(answer.status, `the server answers ${answer.status} for the fields of forms`);
  return (await answer.json()) as FieldDocument;
}

/** Shows a domain. */
export async function chooseDomain(name: string): Promise<void> {
  const mine = ++chosen;
  const { session, domains, fields } = getApi();
  const sameDomain = getState().domain === name;
  setState({ api: { ...SIGNED_OUT, session, domains, fields }, domain: name });
  if (!sameDomain)
    setState({
      revision: null,
      older: null,
      place: '',
      form: { ...getState().form, url: `https://${name}/` },
    });
  try {
    const path = domainPath(name);
    const [{ body: domain }, revisions] = await Promise.all([
      callJson<DomainShown>(path),
      callJson<readonly RevisionEntry[]>(`${path}/plans/?limit=${LISTED_REVISIONS}`),
    ]);
    if (mine !== chosen) return;
    setApi({ domain, revisions: revisions.body, live: true });
    if (domain.permissions.includes('rules.edit') && (await isReadOnly(path))) setApi({ readOnlyKey: true });
    await Promise.all([readRules(), readRecords()]);
    void readMarks();
  } catch (error) {
    if (mine === chosen) report(error);
  }
}

/** Whether the key may only read: the server refuses a write that would change nothing. */
async function isReadOnly(path: string): Promise<boolean> {
  try {
    await callJson(`${path}/plans/?validate_only=true`, { method: 'POST' });
    return false;
  } catch (error) {
    if (error instanceof CallFault && error.status === 403) return true;
    // A disabled domain refuses each write, and says so then.
    if (error instanceof CallFault && error.status === 409) return false;
    throw error;
  }
}

/** Reads the domain itself: its status, which a revision may have followed, and what the key may do. */
async function readDomain(): Promise<void> {
  const mine = chosen;
  const { domain } = getApi();
  if (domain === null) return;
  const { body } = await callJson<DomainShown>(domainPath(domain.name));
  if (mine !== chosen) return;
  const { status } = body;
  const domains = getApi().domains.map((one) => (one.name === body.name ? { ...one, status } : one));
  setApi({ domain: body, domains });
}

/** Shows another domain in place of one that the server does not find any more. */
async function leaveDomain(name: string): Promise<void> {
  const mine = ++chosen;
  const { body: domains } = await callJson<readonly DomainEntry[]>('/domains/');
  if (mine !== chosen) return;
  const { session, fields } = getApi();
  const text = `The domain ${name} was deleted, or this account may not see it any more.`;
  setState({ api: { ...SIGNED_OUT, session, fields, domains, notice: { tone: 'bad', text } } });
  const [first] = domains;
  if (first === undefined) return;
  await chooseDomain(first.name);
  setApi({ notice: { tone: 'bad', text } });
}

/** What is read of a domain. */
type ReadName = 'rules' | 'records' | 'nodes' | 'hits' | 'findings';

/** The reads so far, and of each name the last one that is in the state. */
const reads = { begun: 0, shown: new Map<ReadName, number>() };

/** Reads something of the domain and puts it into the state, unless another domain was chosen or a later read has answered. */
async function readInto<Name extends ReadName>(
  name: Name,
  read: (path: string) => Promise<ReturnType<typeof getApi>[Name]>,
): Promise<void> {
  const mine = chosen;
  const { domain } = getApi();
  if (domain === null) return;
  reads.begun += 1;
  const number = reads.begun;
  const value = await read(domainPath(domain.name));
  if (mine !== chosen || number < (reads.shown.get(name) ?? 0)) return;
  reads.shown.set(name, number);
  setApi({ [name]: value });
}

/** Reads the rules. */
export function readRules(): Promise<void> {
  return readInto('rules', (path) => callPages<RuleShown>(`${path}/rules/`));
}

/** Reads the records. */
export function readRecords(): Promise<void> {
  return readInto(
    'records',
    async (path) => (await callJson<readonly RecordShown[]>(`${path}/records/`)).body,
  );
}

/** Reads what nodes have reported. */
export function readNodes(): Promise<void> {
  return readInto('nodes', async (path) => (await callJson<readonly NodeEntry[]>(`${path}/nodes/`)).body);
}

/** Reads hits and lint findings; a domain without them has no marks. */
export function readMarks(): Promise<void> {
  marks.isStale = true;
  marks.reading ??= readMarksInTurn().finally(() => {
    marks.reading = null;
  });
  return marks.reading;
}

/** An analysis takes the one thread that an account may use at a time: one is read, and another after it if that has become old. */
const marks = { isStale: false, reading: null as Promise<void> | null };

/** Reads the lint findings with the rules that they name by their places. */
async function readFindings(path: string): Promise<readonly FindingDocument[]> {
  const { rules } = getApi();
  const findings = await callPages<LintEntry>(`${path}/analysis`);
  // The places may be those of other rules.
  if (getApi().rules !== rules) marks.isStale = true;
  return findings.map((one) => findingDocument(one, rules ?? []));
}

/** A finding with the id of its rule: findings name rules by their place in the list of all rules. */
function findingDocument(finding: LintEntry, rules: readonly RuleShown[]): FindingDocument {
  const place = /^rules\[(\d+)\]/.exec(finding.path)?.[1];
  const rule = place === undefined ? null : (rules[Number(place)]?.id ?? null);
  return { ...finding, at: null, rule };
}

async function readMarksInTurn(): Promise<void> {
  while (marks.isStale) {
    marks.isStale = false;
    const results = await Promise.allSettled([
      readInto('hits', async (path) => (await callJson<HitsShown>(`${path}/rules/hits/`)).body),
      readInto('findings', readFindings),
    ]);
    for (const result of results) if (result.status === 'rejected') report(result.reason);
  }
}

/** Asks whether another revision is out; returns whether one is. */
export async function readRevisions(): Promise<boolean> {
  const mine = chosen;
  const { domain } = getApi();
  if (domain === null) return false;
  try {
    const path = `${domainPath(domain.name)}/plans/`;
    const [newest] = (await callJson<readonly RevisionEntry[]>(`${path}?limit=1`)).body;
    if (mine !== chosen) return false;
    if (!getApi().live) setApi({ live: true });
    if (newest?.revision === getApi().revisions[0]?.revision) return false;
    const { body } = await callJson<readonly RevisionEntry[]>(`${path}?limit=${LISTED_REVISIONS}`);
    if (mine !== chosen) return false;
    setApi({ revisions: body });
    return true;
  } catch (error) {
    if (mine !== chosen) return false;
    if (error instanceof CallFault && error.status === 404) await leaveDomain(domain.name);
    else report(error);
    return false;
  }
}

/** Follows the revisions of the domain, and what nodes report while that is shown, as long as the page is visible. */
export function followServer(): void {
  setInterval(() => void refresh(), POLL_MS);
  document.addEventListener('visibilitychange', () => void refresh());
}

let refreshing = false;

async function refresh(): Promise<void> {
  const { session, domain, waiting } = getApi();
  if (refreshing || session !== 'in' || domain === null || waiting !== null || document.hidden) return;
  refreshing = true;
  try {
    if (await readRevisions()) {
      await Promise.all([readDomain(), readRules(), readRecords()]);
      await readMarks();
    }
    if (getState().section === 'nodes') await readNodes();
  } catch (error) {
    report(error);
  } finally {
    refreshing = false;
  }
}

/** The sentence of an error, as a sentence of the page. */
export function sentence(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

/** Shows an error at the top of the page. */
export function report(error: unknown): void {
  // The sign-in shows why the session ended; a call of that session is nothing to the next one.
  if (getApi().session === 'out' || (error instanceof CallFault && error.status === 401)) return;
  if (error instanceof CallFault && error.status === 0) setApi({ live: false });
  else setApi({ notice: { tone: 'bad', text: sentence(error) } });
}
