/** Computations of the API in threads: a large domain costs its own account, never the others or the process. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { processorClock } from '../../src/base/platform/tasks.ts';
import { createCompute, MAX_WAITING_JOBS, MAX_WAITING_OF_ACCOUNT } from '../../src/control/compute/pool.ts';
import { createPublisher } from '../../src/control/publishing/publisher.ts';
import { type Answer, startApi, type TestApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { builtCli } from '../support/built.ts';
import { testDatabases } from '../support/databases.ts';
import { requires } from '../support/requires.ts';
import { until } from '../support/until.ts';

const THREAD = new URL('../../dist/control/compute/thread.js', import.meta.url);
const TASKS = String(new URL('../../dist/base/platform/tasks.js', import.meta.url));
const RULES = 10_000;
/** Against hangs: threads that compute get a tenth of a processor on a machine that is busy with something else. */
const PATIENCE_MS = 900_000;
const [database] = testDatabases();
/** Only Linux counts the processor time of a thread. */
const NO_CLOCK = processorClock() === null ? 'the system counts no processor time of threads' : null;
const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

beforeAll(() => builtCli(), 240_000);

/** A domain with `RULES` drop rules, put into the store directly. */
async function fill({ api, domain }: Subject): Promise<void> {
  const now = api.now();
  // A transaction has a time limit: a few hundred rows each, however busy the machine.
  for (let from = 0; from < RULES; from += 500) {
    await api.store.write(async (tx) => {
      for (let index = from; index < from + 500; index++) {
        await tx.rules.insert({
          domain_id: domain.id,
          type: 'drop',
          priority: 100,
          record_ids: [],
          body: JSON.stringify({ path_includes: [`/p${index}`, `/q${index}/*`], ips: ['192.0.2.0/24'] }),
          created_at: now,
          updated_at: now,
        });
      }
    });
  }
}

describe('with 10,000 rules on a domain', { timeout: PATIENCE_MS }, () => {
  let api: TestApi;
  let large: Subject;
  let other: Subject;

  beforeAll(async () => {
    api = await startApi(database!, {
      compute: { file: THREAD, budgetMs: PATIENCE_MS, runMs: PATIENCE_MS, waitMs: PATIENCE_MS },
    });
    large = await addSubject(api);
    other = await addSubject(api);
    const record = { name: '@', type: 'A', destination: '192.0.2.1', proxied: true };
    expect((await large.ask('POST', '/records/', record)).status).toBe(200);
    await fill(large);
    const publisher = createPublisher({ store: api.store, log: SILENT });
    await publisher.publishNow();
    await publisher.stop();
  }, PATIENCE_MS);
  afterAll(() => api.close());

  test('the analysis answers page by page, and another account is answered meanwhile', async () => {
    const ended: string[] = [];
    const analysis = large.ask('GET', '/analysis').finally(() => ended.push('analysis'));
    await other.owner.call('GET', other.at('')).finally(() => ended.push('read'));
    const own = await other.ask('GET', '/analysis').finally(() => ended.push('own'));
    expect(own.status).toBe(200);
    const first = await analysis;
    expect(first.status, first.text).toBe(200);
    expect(ended).toEqual(['read', 'own', 'analysis']);
    expect(first.text.length).toBeLessThanOrEqual(1_000_000);
    const total = Number(first.headers['x-total-count']);
    expect(total).toBeGreaterThan(RULES);
    const next = /^<([^>]+)>; rel="next"$/.exec(first.headers['link'] ?? '')?.[1] ?? '';
    const second = await large.owner.call('GET', next);
    expect(second.status).toBe(200);
    expect(second.body[0]).not.toEqual(first.body[0]);
  });

  test('eight simulations of a path of 15,000 octets at once answer a page each, or name the limit', async () => {
    const target = `/${'a'.repeat(15_000)}`;
    const asked = Array.from({ length: 8 }, () => large.ask('POST', '/simulate', { request: { target } }));
    const answers = await Promise.all(asked);
    for (const { status, text, headers } of answers) {
      expect([200, 503], text.slice(0, 200)).toContain(status);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_000_000);
      if (status === 503) expect(headers['retry-after']).toMatch(/^\d+$/);
    }
    const answered = answers.filter(({ status }) => status === 200);
    expect(answered.length).toBeGreaterThan(0);
    expect(answered[0]?.body.page).toMatchObject({ rules: 100, of: RULES });
    expect(answered[0]?.body.counts.considered).toBe(RULES);
  });

  test('pages of a trace have every rule once, the matched and conditional ones first', async () => {
    const question = { request: { target: '/p7777', ip: '192.0.2.9' } };
    const seen: number[] = [];
    let cursor = '';
    do {
      const answer = await large.ask('POST', `/simulate?limit=1000${cursor}`, question);
      expect(answer.status, answer.text.slice(0, 200)).toBe(200);
      expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(1_000_000);
      const rules = answer.body.phases.flatMap((phase: { rules: { id: number }[] }) => phase.rules);
      if (seen.length === 0) expect(rules[0]).toMatchObject({ outcome: 'matched' });
      seen.push(...rules.map(({ id }: { id: number }) => id));
      cursor = answer.body.page.next === null ? '' : `&cursor=${answer.body.page.next}`;
    } while (cursor !== '');
    expect(new Set(seen).size).toBe(RULES);
    expect(seen.length).toBe(RULES);
  });

  test('pages of the printed plan, the diff and its text are complete together, and at most 1 MB each', async () => {
    const domain_id = large.domain.id;
    const rules = await api.store.latest.rules.list(domain_id, 'drop');
    for (let from = 0; from < RULES; from += 500) {
      await api.store.write(async (tx) => {
        for (const { id, body: before, priority } of rules.slice(from, from + 500)) {
          const body = before.replace('"/p', '"/r');
          const change = { body, priority, record_ids: [], updated_at: api.now() };
          await tx.rules.update({ domain_id, type: 'drop', id }, change);
        }
      });
    }
    await large.ask('POST', '/plans/');
    const publisher = createPublisher({ store: api.store, log: SILENT });
    await publisher.publishNow();
    await publisher.stop();
    const [{ revision }] = (await large.ask('GET', '/plans/?limit=1')).body;

    /** The first page and the one after it. */
    const pagesOf = async (path: string): Promise<readonly Answer['body'][]> => {
      const first = await large.ask('GET', path);
      const second = await large.ask('GET', `${path}?cursor=${first.body.page.next}`);
      for (const { status, text } of [first, second]) {
        expect(status, text.slice(0, 200)).toBe(200);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_000_000);
      }
      return [first.body, second.body];
    };
    const diff = await pagesOf('/diff');
    const changed = diff.flatMap(({ counts, rules }) => {
      expect(counts).toEqual({ hosts: 0, added: 0, removed: 0, changed: RULES, moved: 0 });
      return rules.map(({ rule }: { rule: string }) => rule);
    });
    const shown: number = diff[0].page.shown + diff[1].page.shown;
    expect([changed.length, new Set(changed).size]).toEqual([shown, shown]);

    const printed = await pagesOf(`/plans/${revision}`);
    expect(printed.map(({ page }) => page)).toEqual([
      { limit: 1_000, shown: 1_000, of: 3 * RULES + 1, next: 1_000 },
      { limit: 1_000, shown: 1_000, of: 3 * RULES + 1, next: 2_000 },
    ]);
    const ids = printed.flatMap(({ plan }) => plan.rules.map(({ id }: { id: number }) => id));
    expect([ids.length, new Set(ids).size]).toEqual([1_999, 1_999]);
    const last = await large.ask('GET', `/plans/${revision}?cursor=${3 * RULES - 9}`);
    expect(Object.keys(last.body.plan.indexes.path)).toHaveLength(10);
    expect(last.body.page).toMatchObject({ shown: 10, next: null });

    const text = await large.ask('GET', `/plans/${revision - 1}/diff/${revision}`);
    expect(Buffer.byteLength(text.text)).toBeLessThanOrEqual(1_000_000);
    const lines = text.text.split('\n').length - 1;
    expect(Number(text.headers['x-total-count'])).toBeGreaterThan(lines);
    const next = /^<([^>]+)>; rel="next"$/.exec(text.headers['link'] ?? '')?.[1] ?? '';
    expect(next).toBe(large.at(`/plans/${revision - 1}/diff/${revision}?cursor=${lines}`));
    expect((await large.owner.call('GET', next)).text.slice(0, 3)).not.toBe('---');
  });

  test('a diff cursor names its revisions, and a malformed one is 400', async () => {
    expect((await large.ask('GET', '/diff?cursor=1-2-0&from=1')).status).toBe(400);
    expect((await large.ask('GET', '/diff?cursor=1-2')).body.error).toContain('page.next');
    expect((await large.ask('GET', '/diff?cursor=98-99-0')).status).toBe(404);
  });

  test('a cursor of another revision is 409, and a malformed one 400', async () => {
    expect((await large.ask('POST', '/simulate?cursor=99-1', { request: {} })).status).toBe(409);
    expect((await large.ask('POST', '/simulate?cursor=x', { request: {} })).status).toBe(400);
  });
});

describe('a computation', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(database!);
  });
  afterAll(() => api.close());
  /** A thread of this code; `clock`: the expression of its processor clock. */
  const code = (text: string, clock = 'null'): URL => {
    const started = `parentPort.postMessage({ kind: 'started', clock: ${clock} });`;
    const imports = `import { parentPort } from 'node:worker_threads';
      import { processorClock } from ${JSON.stringify(TASKS)};`;
    return new URL(`data:text/javascript,${encodeURIComponent(`${imports} ${started} ${text}`)}`);
  };
  const SILENT_THREAD = code(`parentPort.on('message', () => undefined)`);
  /** Answers jobs whose text is `go`, and no others. */
  const PICKY = code(
    `parentPort.on('message', (job) => job.text === 'go' && parentPort.postMessage({ kind: 'done', result: job.domain }))`,
  );
  /** Answers after the milliseconds that are its text. */
  const TIMED = code(
    `parentPort.on('message', (job) => setTimeout(() => parentPort.postMessage({ kind: 'done', result: job.domain }), Number(job.text)))`,
  );
  const zone = (text: string) => async () => ({ kind: 'zone', text, domain: 'a.test' }) as const;

  test('past its time is ended, and the fault names the limit', async () => {
    const compute = createCompute({ store: api.store, file: SILENT_THREAD, budgetMs: 200 });
    await expect(compute.run({ account: 1, kind: 'zone' }, zone(''))).rejects.toMatchObject({
      code: 'unavailable',
      message: 'this computation took longer than 0.2 s, which is the limit',
    });
    await compute.close();
  });

  test('that waits uses no processor time, one that computes does', requires(NO_CLOCK), async () => {
    const text = `parentPort.on('message', (job) => {
      if (job.text === 'compute') for (;;);
      setTimeout(() => parentPort.postMessage({ kind: 'done', result: 'waited' }), 1_500);
    })`;
    const file = code(text, 'processorClock()');
    const compute = createCompute({ store: api.store, file, budgetMs: 1_000, runMs: PATIENCE_MS });
    expect(await compute.run({ account: 1, kind: 'zone' }, zone('wait'))).toBe('waited');
    await expect(compute.run({ account: 1, kind: 'zone' }, zone('compute'))).rejects.toMatchObject({
      message: 'this computation took longer than 1 s, which is the limit',
    });
    await compute.close();
  });

  test('that does not end on a busy machine is ended in the end', async () => {
    const file = code(`parentPort.on('message', () => undefined)`, 'processorClock()');
    const compute = createCompute({ store: api.store, file, runMs: 200 });
    await expect(compute.run({ account: 1, kind: 'zone' }, zone(''))).rejects.toMatchObject({
      code: 'unavailable',
      message: 'this computation did not end within 0.2 s, for the machine is busy',
    });
    await compute.close();
  });

  test('does not pay for the start of its thread', async () => {
    const slow = `const until = Date.now() + 600; while (Date.now() < until);`;
    const file = new URL(
      `data:text/javascript,${encodeURIComponent(`import { parentPort } from 'node:worker_threads';
        ${slow}
        parentPort.postMessage({ kind: 'started', clock: null });
        parentPort.on('message', () => parentPort.postMessage({ kind: 'done', result: 'done' }));`)}`,
    );
    const compute = createCompute({ store: api.store, file, budgetMs: 500 });
    expect(await compute.run({ account: 1, kind: 'zone' }, zone(''))).toBe('done');
    await compute.close();
  });

  test('past its time is a 503 with Retry-After, and the next request is answered', async () => {
    const endless = code(`parentPort.on('message', () => { for (;;); })`);
    const own = await startApi(database!, { compute: { file: endless, budgetMs: 300 } });
    const subject = await addSubject(own);
    const answer = await subject.ask('GET', '/analysis');
    expect(answer.status).toBe(503);
    expect(answer.body.error).toContain('longer than 0.3 s');
    expect(answer.headers['retry-after']).toMatch(/^\d+$/);
    expect((await subject.ask('GET', '')).status).toBe(200);
    await own.close();
  });

  test.each([
    ['throws', `parentPort.on('message', () => { throw new Error('boom'); })`, /failed/],
    ['ends', `parentPort.on('message', () => process.exit(3))`, /ended/],
    [
      'runs out of memory',
      `parentPort.on('message', () => { const all = []; for (;;) all.push(new Array(1e5).fill({}).map(() => ({}))); })`,
      /more memory than 32 MiB/,
    ],
  ])('in a thread that %s is a 503, and a new thread serves the next', async (_, text, said) => {
    const compute = createCompute({ store: api.store, file: code(text), heapMb: 32 });
    for (const account of [1, 1]) {
      await expect(compute.run({ account: account, kind: 'zone' }, zone(''))).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(said),
      });
    }
    await compute.close();
  });

  test('of one account does not delay another, whose others wait up to a limit', async () => {
    const compute = createCompute({ store: api.store, file: PICKY });
    const stuck = compute.run({ account: 1, kind: 'zone' }, zone('stay'));
    const waiting = Array.from({ length: MAX_WAITING_OF_ACCOUNT }, () =>
      compute.run({ account: 1, kind: 'zone' }, zone('go')),
    );
    const all = Promise.allSettled([stuck, ...waiting]);
    await expect(compute.run({ account: 1, kind: 'zone' }, zone('go'))).rejects.toMatchObject({
      code: 'unavailable',
      message: `${MAX_WAITING_OF_ACCOUNT} computations of this account are waiting, which is the limit`,
    });
    expect(await compute.run({ account: 2, kind: 'zone' }, zone('go'))).toBe('a.test');
    expect(await compute.run({ account: 3, kind: 'zone' }, zone('go'))).toBe('a.test');
    await compute.close();
    for (const settled of await all) {
      expect(settled).toMatchObject({ status: 'rejected', reason: { message: 'the server is stopping' } });
    }
  });

  test('that waits ends with its client, and leaves its place to others', async () => {
    const compute = createCompute({ store: api.store, file: PICKY });
    const stuck = compute.run({ account: 1, kind: 'zone' }, zone('stay'));
    const client = new AbortController();
    const of = { account: 1, kind: 'zone', gone: client.signal } as const;
    const all = Array.from({ length: MAX_WAITING_OF_ACCOUNT }, () => compute.run(of, zone('go')));
    const waiting = Promise.allSettled(all);
    client.abort('gone');
    for (const one of await waiting) expect(one).toEqual({ status: 'rejected', reason: 'gone' });
    await expect(compute.run(of, zone('go'))).rejects.toBe('gone');
    const others = Promise.allSettled([
      stuck,
      ...all.map(() => compute.run({ account: 1, kind: 'zone' }, zone('go'))),
    ]);
    await compute.close();
    for (const one of await others)
      expect(one).toMatchObject({ reason: { message: 'the server is stopping' } });
  });

  test('of a request whose connection has closed is never run', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'edgeplan-compute-'));
    const open = join(folder, 'open');
    // Answers once the file is there.
    const gate = new URL(
      `data:text/javascript,${encodeURIComponent(`import { existsSync } from 'node:fs';
        import { parentPort } from 'node:worker_threads';
        parentPort.postMessage({ kind: 'started', clock: null });
        const done = { kind: 'done', result: { text: '[]', of: 0, shown: 0 } };
        parentPort.on('message', function look() {
          if (existsSync(${JSON.stringify(open)})) parentPort.postMessage(done);
          else setTimeout(look, 5);
        });`)}`,
    );
    const kinds: string[] = [];
    const times = { budgetMs: PATIENCE_MS, runMs: PATIENCE_MS, waitMs: PATIENCE_MS };
    const own = await startApi(database!, {
      compute: { file: gate, ...times, onJob: ({ kind }) => kinds.push(kind) },
    });
    const subject = await addSubject(own);
    const ask = (signal: AbortSignal) =>
      fetch(`${own.url}${subject.at('/analysis')}`, {
        headers: { authorization: `Bearer ${subject.owner.key}` },
        signal,
      });
    const client = new AbortController();
    const left = Array.from({ length: 2 + MAX_WAITING_OF_ACCOUNT }, () =>
      ask(client.signal).then(
        ({ status }) => status,
        ({ name }: Error) => name,
      ),
    );
    // The queue is full; the others are not answered before the file is there.
    expect(await Promise.race(left)).toBe(503);
    client.abort();
    expect((await Promise.all(left)).filter((one) => one === 'AbortError')).toHaveLength(
      1 + MAX_WAITING_OF_ACCOUNT,
    );
    // A refusal comes at once, until the server has seen that the connections are closed.
    let next: Promise<Answer>;
    do next = subject.ask('GET', '/analysis');
    while ((await Promise.race([next, wait(1_000, null)])) !== null);
    writeFileSync(open, '');
    expect((await next).status).toBe(200);
    // That of the first client ran when it left.
    expect(kinds).toEqual(['analysis', 'analysis']);
    await own.close();
    rmSync(folder, { recursive: true });
  });

  test('that is short is answered while proofs of ten accounts take every thread of long ones', async () => {
    const compute = createCompute({
      store: api.store,
      file: PICKY,
      waitMs: PATIENCE_MS,
      budgetMs: PATIENCE_MS,
      runMs: PATIENCE_MS,
    });
    const proofs = Array.from({ length: 10 }, (_, account) =>
      compute.run({ account, kind: 'zone' }, zone('stay')),
    );
    const ended = Promise.allSettled(proofs);
    const simulate = async () => ({ kind: 'simulate', text: 'go', domain: 'a.test' }) as never;
    for (const account of [1, 99]) {
      expect(await compute.run({ account, kind: 'simulate' }, simulate)).toBe('a.test');
    }
    await compute.close();
    await ended;
  });

  test('of the account that used most goes last, however early it came', async () => {
    const compute = createCompute({ store: api.store, file: TIMED, waitMs: PATIENCE_MS });
    // A job is prepared when it has a thread; which of two ends first depends on the machine.
    const order: string[] = [];
    const run = (account: number, ms: number) =>
      compute.run({ account, kind: 'zone' }, async () => {
        order.push(`account ${account}`);
        return zone(String(ms))();
      });
    await Promise.all([run(1, 200), run(2, 200)]);
    // Both threads are taken while the others come: the two that have used much first.
    const taken = [run(3, 400), run(4, 400)];
    await Promise.all([...taken, run(1, 0), run(2, 0), run(5, 100), run(6, 100)]);
    expect(order.slice(4, 6).sort()).toEqual(['account 5', 'account 6']);
    await compute.close();
  });

  test('in a full queue takes the place of one whose account has used more', async () => {
    const compute = createCompute({
      store: api.store,
      file: PICKY,
      waitMs: PATIENCE_MS,
      budgetMs: PATIENCE_MS,
      runMs: PATIENCE_MS,
    });
    const hostile = Array.from({ length: MAX_WAITING_JOBS + 2 }, (_, at) =>
      compute.run(
        { account: at < 2 ? at : 2 + Math.floor((at - 2) / MAX_WAITING_OF_ACCOUNT), kind: 'zone' },
        zone('stay'),
      ),
    );
    let refused: unknown = null;
    for (const one of hostile) one.catch((error: unknown) => (refused ??= error));
    const honest = compute.run({ account: 999, kind: 'zone' }, zone('go'));
    await until(() => refused !== null, 'a job of another account to be refused');
    expect(refused).toMatchObject({ message: expect.stringContaining('computations of all accounts') });
    const ended = Promise.allSettled([honest, ...hostile]);
    await compute.close();
    expect((await ended)[0]).toMatchObject({ reason: { message: 'the server is stopping' } });
  });

  test('that finds no free thread in time reports its waiting time', async () => {
    const compute = createCompute({ store: api.store, file: SILENT_THREAD, waitMs: 100 });
    const busy = [
      compute.run({ account: 1, kind: 'zone' }, zone('')),
      compute.run({ account: 2, kind: 'zone' }, zone('')),
    ];
    const ended = Promise.allSettled(busy);
    await expect(compute.run({ account: 3, kind: 'zone' }, zone(''))).rejects.toMatchObject({
      code: 'unavailable',
      message: 'no thread for this computation was free within 0.1 s',
    });
    await compute.close();
    await ended;
  });
});
