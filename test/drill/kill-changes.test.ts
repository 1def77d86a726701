/** kill -9 while a draft is published and a certificate is uploaded: whole or not at all, and a second try makes it whole. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { newKeyText } from '../../src/control/certificates/key-ring.ts';
import { type Answer, send } from '../support/api.ts';
import { builtCli } from '../support/built.ts';
import { everyDatabase } from '../support/databases.ts';
import { makeAuthority } from '../support/make-chain.ts';
import { type Served, serve } from '../support/served.ts';
import { sizeOf } from '../support/size.ts';

const DOMAIN = '/domains/shop.test';
const DRAFT_RULES = 20;
const ROUNDS = sizeOf('EDGEPLAN_KILL_ROUNDS', { usual: 8, full: 24 });

/** A request with the key of the first server: an account has ten keys at most. */
type Ask = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** Kills the server `ms` after the request was sent. @returns whether it was acknowledged */
async function killDuring({ pid }: Served, ms: number, send: () => Promise<Answer>): Promise<boolean> {
  const asked = send().then(
    ({ status }) => status === 200,
    () => false,
  );
  await wait(ms);
  process.kill(pid, 'SIGKILL');
  return asked;
}

/** The paths of the drop rules that nodes get. */
async function published(ask: Ask): Promise<readonly string[]> {
  const [{ revision }] = (await ask('GET', '/plans/')).body;
  const { text } = await ask('GET', `/plans/${revision}`);
  return [...new Set(text.match(/\/p\d+-\d+/g) ?? [])];
}

test.each(everyDatabase())(
  'changes that kill -9 interrupts on $kind',
  { timeout: 120_000 + ROUNDS * 60_000 },
  async (kind) => {
    await builtCli();
    const folder = mkdtempSync(join(tmpdir(), 'edgeplan-kill-changes-'));
    const { database, drop } = await kind.make();
    const ca = makeAuthority(join(folder, 'ca'));
    const secrets = join(folder, 'secrets.key');
    writeFileSync(secrets, `${newKeyText()}\n`, { mode: 0o600 });
    const args = ['--requests-per-minute', '1000000', '--secrets-key', secrets];
    const start = () => serve({ database, args });
    let server = await start();
    const headers = { authorization: `Bearer ${server.key}` };
    const ask: Ask = (method, path, body) =>
      send(server.port, { method, path: `${DOMAIN}${path}`, body, headers });
    const ok = async (method: string, path: string, body?: unknown) => {
      const answer = await ask(method, path, body);
      expect(answer.status, `${method} ${path} ${answer.text}`).toBe(200);
      return answer.body;
    };
    const outcomes = new Set<string>();
    try {
      await server.domain('shop.test');
      await ok('POST', '/records/?wait=published', {
        name: '@',
        type: 'A',
        destination: '192.0.2.1',
        proxied: true,
      });
      await ok('PUT', '/publishing', { publish_mode: 'manual' });
      /** How long each change takes when nothing ends it. */
      const usual = { publish: 0, upload: 0 };
      const timed = async (what: keyof typeof usual, work: () => Promise<unknown>): Promise<void> => {
        const began = performance.now();
        await work();
        usual[what] = performance.now() - began;
      };
      const listed = async () =>
        (await ok('GET', '/ssl/')).certificates as readonly { readonly status: string }[];
      for (let round = 0; round < ROUNDS; round++) {
        for (let n = 0; n < DRAFT_RULES; n++)
          await ok('POST', '/rules/drop/', { path_includes: [`/p${round}-${n}`] });
        const leaf = ca.leaf({ names: ['shop.test', `r${round}.shop.test`] });
        const upload = { certificate: leaf.chain, key: leaf.key };
        const [publishing, uploading] = [
          () => ask('POST', '/draft/publish'),
          () => ask('POST', '/ssl/', upload),
        ];
        const isUpload = round % 2 === 0;
        // The first of each has its whole time, so that the next are killed in the middle of it.
        const share = (Math.floor(round / 2) % 4) / 3;
        const late = usual[isUpload ? 'upload' : 'publish'] * share;
        const isDone = await killDuring(server, late, isUpload ? uploading : publishing);
        await server.stop();
        server = await start();

        const { changed } = await ok('GET', '/draft');
        expect([0, DRAFT_RULES]).toContain(changed);
        if (isDone && !isUpload) expect(changed).toBe(0);
        const found = await listed();
        expect([round, round + 1]).toContain(found.length);
        if (isDone && isUpload) expect(found).toHaveLength(round + 1);

        await timed('publish', () => ok('POST', '/draft/publish'));
        await expect.poll(() => published(ask)).toHaveLength((round + 1) * DRAFT_RULES);
        await timed('upload', () => ok('POST', '/ssl/', upload));
        expect((await listed()).map(({ status }) => status)).toEqual(Array(round + 1).fill('active'));
        outcomes.add(`${isUpload ? 'upload' : 'publish'} ${isUpload ? found.length > round : changed === 0}`);
      }
      expect(outcomes.size).toBeGreaterThan(1);
      expect(server.logged()).toBe('');
    } finally {
      await server.stop();
      await drop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
