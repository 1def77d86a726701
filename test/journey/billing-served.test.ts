/**
 * Billing as its people meet it: an operator imports with the command beside `edgeplan serve`, a real node refuses and serves
 * visitors, a customer asks with the command, and imports are killed.
 */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LINES_AT_ONCE } from '../../src/control/billing/limits.ts';
import { openStore } from '../../src/control/store/database/open.ts';
import type { Store } from '../../src/control/store/store.ts';
import { billedAt, billingFile, importLines, invoiceLine, walletLine } from '../support/billing.ts';
import { builtCli, type Run, startEdgeplan } from '../support/built.ts';
import { testDatabases } from '../support/databases.ts';
import { type Served, serve } from '../support/served.ts';
import { FULL } from '../support/size.ts';
import { until } from '../support/until.ts';
import { startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const SHOP = 'shop.test';
/** Times that a wallet goes below zero and back. */
const ROUNDS = FULL ? 20 : 3;

describe.each(testDatabases())('billing on $kind', (database) => {
  let served: Served;
  let drop: () => Promise<void>;
  let node: WorkerNode;
  let origin: Server;
  let store: Store;
  /** Milliseconds of the next line: each is later than all before. */
  let after = 0;

  beforeAll(async () => {
    await builtCli();
    origin = createServer((_, response) => response.end('shop')).listen(0, '127.0.0.1');
    await once(origin, 'listening');
    const made = await database.make();
    drop = made.drop;
    served = await serve({ database: made.database });
    store = await openStore({ database: served.data[1]!, role: 'tool' });
    await served.domain(SHOP);
    const { port } = origin.address() as AddressInfo;
    const record = { name: '@', type: 'A', destination: '127.0.0.1', scheme: 'Http', port, proxied: true };
    const answer = await served.call('POST', `/domains/${SHOP}/records/?wait=published`, record);
    expect(answer.status, answer.text).toBe(200);
    const { EDGEPLAN_NODE_TOKEN = '' } = await served.node('node-1');
    const args = ['--control', served.url, '--data', join(served.folder, 'node')];
    node = await startWorkerNode(args, { cwd: served.folder, env: { EDGEPLAN_NODE_TOKEN } });
    await visited(200);
  }, 120_000);
  afterAll(async () => {
    node.signal('SIGTERM');
    await node.ended;
    await store.close();
    await served.stop();
    await drop();
    origin.closeAllConnections();
    origin.close();
  });

  /** The status that a visitor of the node gets. */
  function visit(): Promise<number> {
    return new Promise((resolve) => {
      const place = { host: '127.0.0.1', port: node.port, agent: false, headers: { host: SHOP } };
      const sent = request(place, (response) => {
        response.resume().on('end', () => resolve(response.statusCode!));
      });
      sent.on('error', () => resolve(0)).end();
    });
  }

  const visited = (status: number): Promise<true> =>
    until(async () => (await visit()) === status || null, `a visitor to get ${status}`);

  const wallet = (balance: number, change: object = {}): object =>
    walletLine('owner', balance, { at: billedAt(++after), ...change });

  /** Runs `edgeplan billing import` on a file of these lines. */
  function importFile(lines: readonly object[], ...flags: readonly string[]): Promise<Run> {
    const file = join(served.folder, 'billing.jsonl');
    writeFileSync(file, billingFile(lines));
    return served.run(['billing', 'import', file, ...served.data, ...flags]);
  }

  describe('a wallet', () => {
    test('below zero makes the edge refuse visitors, and zero makes it serve them again', async () => {
      const refused = await importFile([wallet(-1_250)]);
      expect(refused).toEqual({
        code: 0,
        out: '1 line: 1 written, 0 unchanged, 0 older than what is stored, 0 refused\n1 domain suspended, 0 domains resumed\n',
        err: '',
      });
      await visited(421);
      const again = await importFile([wallet(0)]);
      expect(again.out).toContain('0 domains suspended, 1 domain resumed');
      await visited(200);
    });

    test('reaches the edge each time', async () => {
      const took: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        for (const [balance, status] of [
          [-1, 421],
          [5, 200],
        ] as const) {
          await importLines(store, [wallet(balance)]);
          const committed = performance.now();
          await visited(status);
          took.push(performance.now() - committed);
        }
      }
      took.sort((left, right) => left - right);
      const at = (part: number) => Math.round(took[Math.floor((took.length - 1) * part)]!);
      console.info(
        `${database.kind}: commit to edge in ms, ${took.length} changes: p50 ${at(0.5)}, max ${at(1)}`,
      );
    }, 120_000);

    test('that stays below zero is not overruled by --state active, which says what is left and what ends it', async () => {
      await importFile([wallet(-7)]);
      const set = (...args: readonly string[]) =>
        served.run(['subscription', 'set', SHOP, ...args, ...served.data]);
      const suspended = await set('--state', 'suspended');
      expect([suspended.code, suspended.err]).toEqual([0, '']);
      expect(suspended.out).toMatch(
        /because {4}the operator has suspended it\nbecause {4}the wallet of its owner/,
      );
      const active = await set('--state', 'active');
      expect([active.code, active.err]).toEqual([
        1,
        "edgeplan: `shop.test` stays suspended: the wallet of its owner's account is below zero\n" +
          '  import a wallet of zero or more for the account (`edgeplan billing import`)\n',
      ]);
      expect(active.out).not.toContain('the operator has suspended it');
      const shown = await served.run(['subscription', 'show', SHOP, '--json', ...served.data]);
      expect(JSON.parse(shown.out)).toMatchObject({ state: 'suspended', suspended_for: ['wallet'] });
      await importFile([wallet(7)]);
      const fine = await set('--state', 'active');
      expect([fine.code, fine.err]).toEqual([0, '']);
      await visited(200);
    });
  });

  describe('edgeplan billing', () => {
    const ask = (...args: readonly string[]): Promise<Run> => served.run(['billing', ...args]);
    const json = async (...args: readonly string[]) => JSON.parse((await ask(...args, '--json')).out);

    test('wallet prints the balance in major units, and the domains that it suspends', async () => {
      await importFile([wallet(-123_405, { currency: 'JPY' })]);
      expect((await ask('wallet')).out).toBe(
        `balance    -123405 JPY\nas of      ${billedAt(after)}\nsuspended  shop.test\n`,
      );
      await importFile([wallet(5)]);
      expect((await ask('wallet')).out).toBe(`balance    0.05 EUR\nas of      ${billedAt(after)}\n`);
      expect(await json('wallet')).toEqual({
        format: 'edgeplan.wallet/v1',
        balance: 5,
        currency: 'EUR',
        updated_at: billedAt(after),
        suspended_domains: [],
      });
    });

    test('invoices prints a table, newest first, by status, and none as none', async () => {
      const none = await ask('invoices');
      expect([none.code, none.out, none.err]).toEqual([0, '', 'no invoices\n']);
      await importFile([
        invoiceLine('owner', 'i1', { number: 'R-1', total: 4_900, due_at: billedAt(86_400_000) }),
        invoiceLine('owner', 'i2', {
          ...{ number: 'R-2\u001b[31m', status: 'paid', total: -5, issued_at: billedAt(86_400_000) },
          ...{ paid_at: billedAt(0), domain: SHOP },
        }),
      ]);
      expect((await ask('invoices')).out).toBe(
        'number         status  total      issued      due         domain\n' +
          'R-2\\u{1b}[31m  paid    -0.05 EUR  2026-01-02  none        shop.test\n' +
          'R-1            open    49.00 EUR  2026-01-01  2026-01-02\n',
      );
      const open = await json('invoices', '--status', 'open');
      expect(open).toMatchObject({ format: 'edgeplan.invoices/v1', invoices: [{ reference: 'i1' }] });
      expect(open.invoices).toHaveLength(1);
    });

    test('subscriptions prints each domain with its tier, traffic and state', async () => {
      await importFile([wallet(-1)]);
      expect((await ask('subscriptions')).out).toMatch(
        /^domain +tier +ends +traffic +used +state\nshop\.test +enterprise +none +0\.0 of unlimited GB +suspended: wallet\n$/,
      );
      await importFile([wallet(1)]);
      expect(await json('subscriptions')).toMatchObject({
        format: 'edgeplan.subscriptions/v1',
        subscriptions: [{ domain: SHOP, suspended: false, suspended_for: [], traffic_percent: null }],
      });
    });

    test('import reports each refused line on stderr, applies the others and exits with 1', async () => {
      const lines = [{ ...wallet(1), balance: '1' }, wallet(2), walletLine('nobody', 1), { kind: 'purse' }];
      const { code, out, err } = await importFile(lines);
      expect([code, out]).toEqual([
        1,
        '4 lines: 1 written, 0 unchanged, 0 older than what is stored, 3 refused\n0 domains suspended, 0 domains resumed\n',
      ]);
      const [first, second, third, ...more] = err.trimEnd().split('\n');
      expect(first).toMatch(/billing\.jsonl:1: balance: must be a whole number/);
      expect(second).toMatch(/billing\.jsonl:3: account: must be the name of an account/);
      expect(third).toMatch(/billing\.jsonl:4: kind: /);
      expect(more).toEqual([]);
      const document = JSON.parse((await importFile(lines, '--json', '--dry-run')).out);
      expect(document).toMatchObject({
        ...{ format: 'edgeplan.billing-import/v1', dry_run: true, lines: 4, unchanged: 1, refused: 3 },
        problems: [
          { line: 1, code: 'invalid_type', path: 'balance' },
          { line: 3, code: 'unknown_account', path: 'account' },
          { line: 4, path: 'kind' },
        ],
      });
    });

    test('import of stdin, of blank lines, of no line and of a last line without an end', async () => {
      const run = (input: string) => served.run(['billing', 'import', '-', ...served.data], input);
      expect((await run('')).out).toMatch(/^0 lines: /);
      expect((await run('\n \r\n\n')).out).toMatch(/^0 lines: /);
      const text = JSON.stringify(wallet(3));
      expect((await run(`\r\n${text}\r\n`)).out).toMatch(/^1 line: 1 written/);
      expect((await run(text)).out).toMatch(/^1 line: 0 written, 1 unchanged/);
      const long = await run(`{"kind":"${'x'.repeat(9 * 1024 * 1024)}"}\n${text}`);
      expect([long.code, long.err]).toEqual([1, 'stdin:1: the line has more than 524288 octets\n']);
    });

    test('a dry run says so and leaves the wallet', async () => {
      const dry = await importFile([wallet(-9)], '--dry-run');
      expect(dry.out).toBe(
        '1 line: 1 written, 0 unchanged, 0 older than what is stored, 0 refused (nothing was changed)\n1 domain suspended, 0 domains resumed\n',
      );
      expect((await json('wallet')).balance).toBe(3);
      expect(await visit()).toBe(200);
    });

    test.each([
      [['billing', 'import'], 2, /missing required argument 'file'/],
      [['billing', 'import', 'no-such-file.jsonl', 'DATA'], 3, /no-such-file\.jsonl/],
      [['billing', 'import', '.', 'DATA'], 3, /directory|folder/],
      [['billing', 'import', '-', '--data', 'no-such-folder'], 3, /no-such-folder/],
      [['billing', 'imports'], 2, /import/],
      [['billing', 'wallet', 'owner'], 2, /too many arguments/],
      [['billing', 'wallet', '--key', 'svc_wrong'], 4, /./],
      [['billing', 'invoices', '--status', 'late'], 2, /open, paid, void/],
      [['billing', 'invoices', '--server', 'http://127.0.0.1:9'], 4, /127\.0\.0\.1:9/],
      [['billing', 'subscriptions', SHOP], 2, /too many arguments/],
      [['subscription', 'set', SHOP, '--state', 'paused', 'DATA'], 2, /active, suspended/],
      [['serve', '--over-quota', 'stop'], 2, /serve, refuse/],
    ])('%j exits with %i', async (args, code, message) => {
      const run = await served.run(args.flatMap((arg) => (arg === 'DATA' ? served.data : [arg])));
      expect([run.code, run.out]).toEqual([code, '']);
      expect(run.err).toMatch(message);
      expect(run.err).not.toMatch(/ at .*\.js:\d+/);
    });
  });

  describe('an import that is killed and run again', () => {
    const size = 2 * LINES_AT_ONCE + 300;
    /** Invoices, with wallets that go below zero and back between them. */
    const linesOf = (from: number): readonly object[] =>
      Array.from({ length: size }, (_, index) =>
        index % 100 === 99
          ? walletLine('owner', index === size - 1 ? -1 : 1, { at: billedAt(from + index) })
          : invoiceLine('owner', `killed ${from} ${index}`, { total: index }),
      );

    /** Every stored fact of the import, and that what the domain's people were notified of alternates. */
    async function check(lines: readonly object[], from: number): Promise<void> {
      const refs = [...lines.keys()].filter((index) => index % 100 !== 99);
      const found = await store.latest.invoices.byRefs(refs.map((index) => `killed ${from} ${index}`));
      expect(found.map(({ total }) => total).sort((a, b) => a - b)).toEqual(refs);
      const owner = (await store.latest.accounts.byName('owner'))!;
      expect(await store.latest.wallets.get(owner.id)).toMatchObject({ balance: -1 });
      const page = { before: Number.MAX_SAFE_INTEGER, limit: 1_000, unread: false };
      const kinds = (await store.latest.notifications.list(owner.id, page))
        .map(({ kind }) => kind)
        .filter((kind) => kind === 'domain.suspended' || kind === 'domain.resumed');
      expect(kinds[0]).toBe('domain.suspended');
      expect(kinds.filter((kind, at) => kind === kinds[at + 1])).toEqual([]);
    }

    test('after its second transaction has the state of one whole import', async () => {
      after += size;
      const from = after;
      after += size;
      const lines = linesOf(from);
      const child = startEdgeplan(['billing', 'import', '-', ...served.data], { cwd: served.folder });
      child.stdin.on('error', () => undefined);
      child.stdin.write(billingFile(lines));
      const last = `killed ${from} ${2 * LINES_AT_ONCE - 2}`;
      await until(
        async () => (await store.latest.invoices.byRefs([last])).length > 0,
        'the second transaction',
      );
      child.kill('SIGKILL');
      expect(await once(child, 'close')).toEqual([null, 'SIGKILL']);
      const again = await importFile(lines);
      expect(again.out).toMatch(
        /^1300 lines: 30[0-3] written, \d+ unchanged, \d+ older than what is stored, 0 refused\n/,
      );
      await check(lines, from);
      expect((await importFile(lines)).out).toMatch(/^1300 lines: 0 written/);
      await visited(421);
    });

    test('at any moment has it too', async () => {
      for (let round = 0; round < (FULL ? 12 : 4); round++) {
        after += size;
        const from = after;
        after += size;
        const lines = linesOf(from);
        const file = join(served.folder, 'killed.jsonl');
        writeFileSync(file, billingFile(lines));
        const child = startEdgeplan(['billing', 'import', file, ...served.data], { cwd: served.folder });
        const first = `killed ${from} 0`;
        await until(
          async () => child.exitCode !== null || (await store.latest.invoices.byRefs([first])).length > 0,
          'the first transaction',
        );
        await new Promise((resolve) => setTimeout(resolve, 3 * round));
        child.kill('SIGKILL');
        if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
        expect((await importFile(lines)).code).toBe(0);
        await check(lines, from);
      }
    }, 120_000);
  });
});
