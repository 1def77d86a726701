/** Writing: an authenticated, durable update of one rule beside the store's own transactions of the same rows. */
import { openStore } from '../src/control/store/database/open.ts';
import type { AuditRow } from '../src/control/store/tables/accounts.ts';
import type { OutboxRow } from '../src/control/store/tables/plans.ts';
import type { RuleRow } from '../src/control/store/tables/rules.ts';
import { type Installation, makeInstallation } from './data/installation.ts';
import { smallDomain } from './data/small-domains.ts';
import { openLoad, requestOctets } from './harness/load.ts';
import { startHelper, startServe } from './harness/process.ts';
import { type RaceResult, race, SERVERS, type Side } from './harness/race.ts';
import type { BenchOptions, Row } from './row.ts';

const CLIENTS = [8, 32, 200] as const;
const QUICK_CLIENTS = [8] as const;

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const clients of options.quick ? QUICK_CLIENTS : CLIENTS) rows.push(await compare(clients, options));
  return rows;
}

async function compare(clients: number, options: BenchOptions): Promise<Row> {
  const served = await makeInstallation({ ruleSets: [smallDomain(1).ruleSet] });
  const alone = await makeInstallation({ ruleSets: [smallDomain(1).ruleSet] });
  const server = await startServe(served.folder);
  const store = startHelper(writeOnly);
  try {
    const load = await openLoad({ port: server.port, connections: clients, sleepless: false });
    const next = updates(served);
    await load.ask(next());
    const template = await lastWrite(served);
    await store.ask({ folder: alone.folder, module: STORE, template, clients });
    await store.ask({ count: 1 });
    holdTogether(template, await lastWrite(alone));
    const ours: Side = { name: 'edgeplan serve', run: (_, count) => load.run(count, next) };
    const theirs: Side = { name: 'store', run: async (_, count) => void (await store.ask({ count })) };
    const result = await race(ours, theirs, { ...options, pace: SERVERS });
    load.close();
    return rowOf(clients, result);
  } finally {
    await Promise.all([server.stop(), store.stop()]);
    served.remove();
    alone.remove();
  }
}

/** Requests that each change a rule once more, by turns. */
function updates({ domains, key }: Installation): () => Buffer {
  const [{ domain, rules }] = domains as [Installation['domains'][number]];
  const redirects = rules.filter(({ type }) => type === 'redirect');
  let number = 100_000;
  return () => {
    number += 1;
    const { id } = redirects[number % redirects.length]!;
    const path = `/domains/${domain.name}/rules/redirect/${id}`;
    const body = { target: `https://new.example/${number}` };
    return requestOctets({ method: 'PUT', path, token: key, body });
  };
}

/** The rows one update leaves in the store. */
interface Written {
  readonly rule: RuleRow;
  readonly audit: AuditRow;
  readonly reason: string;
}

async function lastWrite({ folder, domains }: Installation): Promise<Written> {
  const { domain } = domains[0]!;
  const store = await openStore({ database: folder, role: 'tool' });
  try {
    const [audit] = await store.latest.audit.list(domain.id, { limit: 1 });
    const id = Number(audit!.subject.split('/')[1]);
    const rule = await store.latest.rules.get({ domain_id: domain.id, type: 'redirect', id });
    return { rule: rule!, audit: audit!, reason: `rule redirect/${id} changed` };
  } finally {
    await store.close();
  }
}

const STORE = new URL('../control/store/database/open.js', import.meta.url).href;

/** Both sides must have written the same rows, but for when. */
function holdTogether(ours: Written, theirs: Written): void {
  const told = ({ rule, audit, reason }: Written): string =>
    JSON.stringify([
      rule.body.length,
      rule.priority,
      audit.action,
      audit.subject,
      audit.after_json?.length,
      reason,
    ]);
  if (told(ours) !== told(theirs)) throw new Error(`the sides wrote ${told(ours)} and ${told(theirs)}`);
}

interface Asked {
  readonly folder: string;
  readonly module: string;
  readonly template: Written;
  readonly clients: number;
}

/** The whole of the other side: as many writers as there are clients, each with its next transaction at once. */
function writeOnly(): void {
  type Open = { write(work: (tx: WriteTx) => Promise<void>): Promise<void> };
  type WriteTx = {
    domains: { get(id: number): Promise<unknown> };
    rules: { update(key: object, change: object): Promise<unknown> };
    audit: { append(row: Omit<AuditRow, 'id'>): Promise<number> };
    outbox: { append(row: Omit<OutboxRow, 'id' | 'lists_only'>): Promise<number> };
  };
  const state: { store?: Open; asked?: Asked; number: number } = { number: 200_000 };
  const writeOne = async ({ rule, audit, reason }: Written): Promise<void> => {
    state.number += 1;
    const body = rule.body.replace(/example\/\d+/, `example/${state.number}`);
    const at = Date.now();
    const { id: _, ...entry } = audit;
    const { domain_id, domain, account_id, key_id } = audit;
    // Sent together, as the API sends them: one message to the thread that writes.
    await state.store!.write(async (tx) => {
      await Promise.all([
        tx.rules.update(
          { domain_id, type: rule.type, id: rule.id },
          { priority: rule.priority, body, record_ids: [], updated_at: at },
        ),
        tx.audit.append({ ...entry, at }),
        tx.outbox.append({ domain_id, domain, account_id, key_id, at, reason }),
      ]);
    });
  };
  process.on('message', async (message: Asked | { readonly count: number }) => {
    if ('folder' in message) {
      const { openStore: open } = await import(message.module);
      state.store = await open({ database: message.folder });
      state.asked = message;
      process.send!('ready');
      return;
    }
    let left = message.count;
    const work = async (): Promise<void> => {
      for (; left > 0; ) {
        left -= 1;
        await writeOne(state.asked!.template);
      }
    };
    await Promise.all(Array.from({ length: state.asked!.clients }, work));
    process.send!('done');
  });
}

function rowOf(clients: number, { a, b }: RaceResult): Row {
  const rate = (nanoseconds: number): string => Math.round(1e9 / nanoseconds).toLocaleString('en-US');
  return {
    name: `update of one rule ÷ bare transaction, ${clients} clients`,
    value: b / a,
    goal: { atLeast: 0.5 },
    unit: '×',
    note: `SQLite, durable, publisher running; edgeplan serve ${rate(a)}/s, the store alone ${rate(b)}/s`,
  };
}
