/** `edgeplan try`: a server with a sample shop, for as long as it runs. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { createAccount, createKey, revokeKey } from '../../access/keys.ts';
import { REQUESTS_PER_MINUTE } from '../../access/request-budget.ts';
import { DEFAULT_TIER } from '../../access/tiers.ts';
import type { AllowedOrigins } from '../../base/special-addresses.ts';
import type { Store } from '../../store/store.ts';
import { CommandFault, EXIT } from '../exit.ts';
import { openData } from '../open-data.ts';
import { readPort } from '../options.ts';
import { write } from '../output.ts';
import type { RunningServer } from '../start-server.ts';
import { stopOnSignals } from '../stop-on-signals.ts';
import { greeting } from '../try/greeting.ts';

interface Flags {
  readonly port?: number;
  readonly keep?: string;
}

const USUAL_PORTS = { port: 8787, operationsPort: 8788 };
/** What a node beside it is started with to reach this machine, and the documentation addresses of the sample shop. */
const TRIED_ORIGINS: AllowedOrigins = {
  prefixes: ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32'],
  local: true,
};
const ACCOUNT = 'try';
/** The domain of `fixtures/shop/edge.yaml`. */
const SHOP_DOMAIN = 'example.com';

async function run(flags: Flags): Promise<void> {
  const kept = flags.keep !== undefined;
  const folder = kept ? resolve(flags.keep) : mkdtempSync(join(tmpdir(), 'edgeplan-try-'));
  // However it ends, but for kill -9: nothing may be left of what was said to be temporary.
  if (!kept) process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const running: { server: RunningServer | null; ending: boolean } = { server: null, ending: false };
  stopOnSignals(async () => {
    running.ending = true;
    if (running.server === null) process.exit();
    await running.server.stop();
  });
  const { server, store } = await start(folder, flags.port);
  running.server = server;
  try {
    await write(await fill(server, store, { folder, kept }));
  } catch (error) {
    // Whoever ends it before it is full wants no reasons.
    if (running.ending) return;
    await server.stop();
    throw error;
  }
}

interface Started {
  readonly server: RunningServer;
  readonly store: Store;
}

/** Starts the server on the usual ports, on free ones where they are taken; a port that was asked for must be free. */
async function start(folder: string, asked: number | undefined): Promise<Started> {
  const { createLog } = await import('../../access/redacting-log.ts');
  const { startServer } = await import('../start-server.ts');
  const ports = { ...USUAL_PORTS, ...(asked === undefined ? {} : { port: asked }) };
  for (;;) {
    const store = await openData({ data: folder }, 'server');
    try {
      const server = await startServer({
        store,
        host: '127.0.0.1',
        ...ports,
        tier: DEFAULT_TIER,
        nameserverSets: [],
        resolvers: [],
        trustNames: true,
        privateNames: true,
        allowedOrigins: TRIED_ORIGINS,
        requestsPerMinute: REQUESTS_PER_MINUTE,
        log: createLog('error', (line) => void process.stderr.write(line)),
      });
      return { server, store };
    } catch (error) {
      await store.close();
      const taken = takenPort(error);
      if (taken === null) throw error;
      if (taken === asked) throw new CommandFault(EXIT.server, `port ${taken} is taken`, { cause: error });
      if (taken === ports.port) ports.port = 0;
      else if (taken === ports.operationsPort) ports.operationsPort = 0;
      else throw error;
    }
  }
}

function takenPort(error: unknown): number | null {
  const { code, port } = error as { readonly code?: unknown; readonly port?: unknown };
  return code === 'EADDRINUSE' && typeof port === 'number' ? port : null;
}

/** Makes account, key and shop, unless a kept folder has them, and answers the greeting. */
async function fill(
  { url, operationsUrl }: RunningServer,
  store: Store,
  { folder, kept }: { readonly folder: string; readonly kept: boolean },
): Promise<string> {
  const accounts = await store.latest.accounts.list();
  if (accounts.length === 0) granted(await createAccount(store, { name: ACCOUNT, now: Date.now() }));
  else if (!accounts.some(({ name }) => name === ACCOUNT)) throw foreign(folder);
  await revokeOld(store);
  const [there] = await store.latest.domains.page(0, 1);
  const content = there === undefined ? await fillShop(store, url) : 'the data is as it was left';
  const { key } = await makeKey(store, 'try');
  const domain = there?.name ?? SHOP_DOMAIN;
  const reference = await referenceOf(url);
  return greeting({ url, operationsUrl, key, domain, content, folder, keptFolder: kept, reference });
}

/** Trying out takes every name for proven, which data that is in earnest must not meet. */
function foreign(folder: string): CommandFault {
  const remedy = 'name another folder, or serve this one with edgeplan serve --data';
  return new CommandFault(EXIT.no, `\`${folder}\` holds data that edgeplan try did not make`, { remedy });
}

/** Fills the store through the API; answers what is there then. */
async function fillShop(store: Store, server: string): Promise<string> {
  const { applyShop } = await import('../try/sample-shop.ts');
  // With a key of its own, so that it takes nothing from the requests of the one that is printed.
  const { key, id } = await makeKey(store, 'setup');
  const { records, rules } = await applyShop({ server, key });
  await revokeKey(store, { id, now: Date.now() });
  return `a sample shop, ${SHOP_DOMAIN}, with ${records} records and ${rules} rules, active and published`;
}

/** Keys of earlier runs in a kept folder: their text is gone from the screen. */
async function revokeOld(store: Store): Promise<void> {
  const account = await store.latest.accounts.byName(ACCOUNT);
  const keys = account === null ? [] : await store.latest.keys.list(account.id);
  for (const { id, revoked_at } of keys)
    if (revoked_at === null) await revokeKey(store, { id, now: Date.now() });
}

async function makeKey(store: Store, name: string): Promise<{ readonly key: string; readonly id: number }> {
  const made = { account: ACCOUNT, name, expiry: null, readOnly: false, now: Date.now() };
  const { key, row } = granted(await createKey(store, made));
  return { key, id: row.id };
}

function granted<T>(outcome: { ok: true; value: T } | { ok: false; reason: string }): T {
  if (outcome.ok) return outcome.value;
  throw new CommandFault(EXIT.server, outcome.reason);
}

/** The page where this server has one, else the document it is made from. */
async function referenceOf(url: string): Promise<string> {
  const page = await fetch(`${url}/docs/`);
  await page.body?.cancel();
  return page.ok ? '/docs/' : '/docs/openapi.yaml';
}

/** The command, to be added to a program. */
export function tryCommand(): Command {
  return new Command('try')
    .summary('start everything with a sample shop, to try it out')
    .description(
      'Starts the API on 127.0.0.1 over a temporary folder, fills it with a sample shop and prints commands to paste. No ' +
        'DNS is asked: every domain counts as proven. When it ends, the folder is removed.',
    )
    .addOption(
      new Option('--port <number>', 'the port of the API (default: 8787, or a free one)').argParser(readPort),
    )
    .option('--keep <folder>', 'keep the data there, and go on with it the next time')
    .action(run);
}
