/**
 * A node that follows an edge file, while rules and records are inserted above others: what visitors have earned and used
 * up stays theirs (semantics §7, Identity).
 */
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, ask, hand, type Sent, solve } from '../support/ask.ts';
import { builtCli } from '../support/built.ts';
import { startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const HOST = 'shop.test';
const folder = mkdtempSync(join(tmpdir(), 'edgeplan-node-file-rules-'));

const RULES = `  - { type: captcha, key: members, path_includes: ['/members/*'] }
  - { type: captcha, path_includes: ['/area/*'] }
  - { type: captcha, id: 70, path_includes: ['/club/*'] }
  - { type: captcha, path_includes: ['/scoped'], records: [asks] }
  - { type: rate_limit, key: search, path_includes: [/search], limit: 3, window_sec: 86400 }
  - { type: rate_limit, path_includes: [/export], limit: 3, window_sec: 86400 }
  - { type: rate_limit, id: 71, path_includes: [/feed], limit: 3, window_sec: 86400, key_by: ip_path }
`;
/** Of the same types, so that each one shifts the place of those below. */
const INSERTED = `  - { type: drop, path_includes: [/inserted] }
  - { type: captcha, path_includes: ['/else/*'] }
  - { type: rate_limit, path_includes: [/other], limit: 3, window_sec: 86400 }
`;
const MORE = `  - { type: captcha, key: more, path_includes: ['/more/*'] }
  - { type: rate_limit, key: more-often, path_includes: [/often], limit: 3, window_sec: 86400 }
`;
const OLD_RECORD = `  - { name: old, type: A, destination: 127.0.0.1, proxied: true, captcha: true }\n`;

/** Each with what is above at that time. */
const EDITS: readonly (readonly [string, string, string])[] = [
  ['rules are inserted at the top', INSERTED, ''],
  ['more are inserted above them', MORE + INSERTED, ''],
  ['a record is inserted at the top', MORE + INSERTED, OLD_RECORD],
  ['all that was inserted is removed', '', ''],
];

const CLEARED = [
  ['a rule with a key', HOST, '/members/a', 'captcha/members'],
  ['a rule without one', HOST, '/area/a', 'captcha/~'],
  ['a rule with an id', HOST, '/club/a', 'captcha/70'],
  ['a record', `asks.${HOST}`, '/', 'record/~'],
] as const;
const COUNTED = ['/search', '/export', '/feed'] as const;
/** Two of these meet different workers, but for one run in a thousand. */
const ADDRESSES = Array.from({ length: 10 }, (_, at) => `127.0.3.${at + 1}`);

let origin: Server;
beforeAll(async () => {
  await builtCli();
  origin = createServer((_request, response) => response.end('origin'));
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
}, 180_000);
afterAll(() => {
  origin.closeAllConnections();
  origin.close();
  rmSync(folder, { recursive: true, force: true });
});

function save(file: string, above: string, record: string): void {
  const { port } = origin.address() as AddressInfo;
  const place = `type: A, destination: 127.0.0.1, scheme: Http, port: ${port}, proxied: true`;
  const records = `${record}  - { name: '@', ${place} }\n  - { name: asks, ${place}, captcha: true }\n`;
  writeFileSync(`${file}.new`, `domain: ${HOST}\nrecords:\n${records}rules:\n${above}${RULES}`);
  renameSync(`${file}.new`, file);
}

describe.each([1, 2])('with %i workers', (workers) => {
  const file = join(folder, `edge-${workers}.yaml`);
  let node: WorkerNode;
  /** The Cookie header of a visitor who has solved all challenges, at 127.0.3.0/24. */
  let cookie = '';
  /** Requests that each address has sent under each rate limit. */
  let sent = 0;

  const visit = (path: string, how: Sent = {}): Promise<Answer> =>
    ask(node.port, path, { host: HOST, from: null, localAddress: ADDRESSES[0]!, ...how });

  /** What all addresses get, each once. */
  async function statuses(path: string, how: Sent = {}): Promise<readonly number[]> {
    const answers = await Promise.all(ADDRESSES.map((localAddress) => visit(path, { ...how, localAddress })));
    return [...new Set(answers.map(({ status }) => status))];
  }

  beforeAll(async () => {
    save(file, '', '');
    const args = ['--file', file, '--data', join(folder, `data-${workers}`), '--workers', String(workers)];
    node = await startWorkerNode(args, { cwd: folder });
  }, 90_000);
  afterAll(async () => {
    node.signal('SIGTERM');
    expect(await node.ended).toBe(0);
  }, 60_000);

  test.each(CLEARED)('a visitor solves the challenge of %s', async (_name, host, path, asker) => {
    const page = await visit(path, { host, headers: { accept: 'text/html' } });
    expect(page.status).toBe(403);
    const solved = await hand(node.port, await solve(page), {
      ...{ host, from: null, localAddress: ADDRESSES[0]!, back: path },
    });
    expect(solved.status).toBe(303);
    const given = solved.headers['set-cookie']?.[0]?.split(';', 1)[0] ?? '';
    const [type, id] = asker.split('/') as [string, string];
    expect(given).toMatch(new RegExp(`^edgeplan_clear_${type}_${id}`));
    cookie += cookie === '' ? given : `; ${given}`;
    expect(await statuses(path, { host })).toEqual([403]);
    expect(await statuses(path, { host, headers: { cookie } })).toEqual([200]);
  });

  test('rate limits count before the file changes', async () => {
    for (const path of COUNTED) expect([path, await statuses(path)]).toEqual([path, [200]]);
    sent++;
  });

  describe.each(EDITS.map((edit, at) => [...edit, at + 2] as const))(
    'when %s',
    (_name, above, record, revision) => {
      beforeAll(async () => {
        save(file, above, record);
        await node.said(new RegExp(`shop\\.test: revision ${revision} is served`));
        expect(await statuses('/inserted')).toEqual([above === '' ? 200 : 403]);
      });

      test.each(CLEARED)('the clearance of %s stays', async (_name, host, path) => {
        expect(await statuses(path, { host, headers: { cookie } })).toEqual([200]);
        expect(await statuses(path, { host })).toEqual([403]);
      });

      test('no rule inherits the clearance of another', async () => {
        expect(await statuses('/else/a', { headers: { cookie } })).toEqual([
          above.includes('/else') ? 403 : 200,
        ]);
        expect(await statuses('/more/a', { headers: { cookie } })).toEqual([
          above.includes('/more') ? 403 : 200,
        ]);
        const scoped = await statuses('/scoped', { host: `asks.${HOST}`, headers: { cookie } });
        expect(scoped).toEqual([403]);
      });

      test('the counters of rate limits go on, and no rule inherits them', async () => {
        sent++;
        for (const path of COUNTED)
          expect([path, await statuses(path)]).toEqual([path, [sent > 3 ? 429 : 200]]);
        expect(await statuses(`/other?${revision}`)).toEqual([200]);
      });
    },
  );
});
