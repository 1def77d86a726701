/** `edgeplan try`: runs a server with a sample shop until it is stopped. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import type { AllowedOrigins } from '../../base/addresses/special-addresses.ts';
import { createAccount, createKey, revokeKey } from '../../control/accounts/keys.ts';
import { REQUESTS_PER_MINUTE } from '../../control/accounts/request-budget.ts';
import { DEFAULT_TIER } from '../../control/accounts/tiers.ts';
import type { Store } from '../../control/store/store.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT } from '../exit.ts';
import { listenFault, stopOnSignals } from '../long-runs.ts';
import { openData } from '../open-data.ts';
import { openServerKey } from '../open-secrets-key.ts';
import { readPort } from '../options.ts';
import { write } from '../output.ts';
import type { RunningServer } from '../start-server.ts';
import { greeting } from '../try/greeting.ts';

/** The options of the command, as commander parses them. */
interface Flags {
  /** The address that the API listens on. */
  readonly host: string;
  /** The port of the API. */
  readonly port?: number;
  /** The port of the health and metrics listener. */
  readonly opsPort?: number;
  /** The folder to keep the data in; absent: a temporary folder. */
  readonly keep?: string;
}

/** The ports that are tried first. */
const USUAL_PORTS = { port: 8787, operationsPort: 8788 };
/**
 * Special addresses that origins may have: this machine, for a node beside the server, and the documentation
 * addresses of the sample shop.
 */
const TRIED_ORIGINS: AllowedOrigins = {
  prefixes: ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32'],
  local: true,
};
/** The name of the account that owns the shop. */
const ACCOUNT = 'try';
/** The domain of `fixtures/shop/edge.yaml`. */
const SHOP_DOMAIN = 'example.com';

/** Starts the server, fills it and prints the greeting. */
async function run(flags: Flags): Promise<void> {
  const kept = flags.keep !== undefined;
  const folder = kept ? resolve(flags.keep) : mkdtempSync(join(tmpdir(), 'edgeplan-try-'));
  // Removes the temporary folder at every exit except kill -9.
  if (!kept) process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const running: { server: RunningServer | null; ending: boolean } = { server: null, ending: false };
  stopOnSignals(async () => {
    running.ending = true;
    if (running.server === null) process.exit();
    await running.server.stop();
  });
  const { server, store } = await start(folder, flags);
  running.server = server;
  try {
    await write(await fill(server, store, { folder, kept }));
  } catch (error) {
    // An error after the user stopped the command is not reported.
    if (running.ending) return;
    await server.stop();
    throw error;
  }
}

/** A server with its store. */
interface Started {
  readonly server: RunningServer;
  readonly store: Store;
}

/**
 * Starts the server on the usual ports, or on free ones if they are taken. A port that was given must be free.
 */
async function start(folder: string, { host, port, opsPort }: Flags): Promise<Started> {
  const { createLog } = await import('../../base/telemetry/redacting-log.ts');
  const { startServer } = await import('../start-server.ts');
  const ports = { port: port ?? USUAL_PORTS.port, operationsPort: opsPort ?? USUAL_PORTS.operationsPort };
  for (;;) {
    const store = await openData({ data: folder }, 'server');
    try {
      const server = await startServer({
        store,
        host,
        ...ports,
        tier: DEFAULT_TIER,
        overQuota: 'serve',
        nameserverSets: [],
        resolvers: [],
        trustNames: true,
        privateNames: true,
        allowedOrigins: TRIED_ORIGINS,
        requestsPerMinute: REQUESTS_PER_MINUTE,
        secretsKey: await openServerKey({ data: folder }),
        log: createLog('error', (line) => void process.stderr.write(line)),
      });
      return { server, store };
    } catch (error) {
      await store.close();
      const taken = takenPort(error);
      if (taken !== null && port === undefined && taken === ports.port) ports.port = 0;
      else if (taken !== null && opsPort === undefined && taken === ports.operationsPort) {
        ports.operationsPort = 0;
      } else {
        const given = { '--port': ports.port, '--ops-port': ports.operationsPort };
        throw listenFault(error, { host, ports: given }) ?? error;
      }
    }
  }
}

/** The port of an EADDRINUSE error; `null` for any other error. */
function takenPort(error: unknown): number | null {
  const { code, port } = error as { readonly code?: unknown; readonly port?: unknown };
  return code === 'EADDRINUSE' && typeof port === 'number' ? port : null;
}

/** Creates account, key and shop, unless the folder has them, and returns the greeting. */
async function fill(
  { url, operationsUrl }: RunningServer,
  store: Store,
  { folder, kept }: { readonly folder: string; readonly kept: boolean },
): Promise<string> {
  const accounts = await store.latest.accounts.list();
  if (accounts.length === 0) granted(await createAccount(store, { name: ACCOUNT, now: Date.now() }));
  else if (!accounts.some(({ name }) => name === ACCOUNT)) throw notOwnData(folder);
  await revokeOld(store);
  const [there] = await store.latest.domains.page(0, 1);
  const content = there === undefined ? await fillShop(store, url) : 'the data is as it was left';
  const { key } = await makeKey(store, 'try');
  const domain = there?.name ?? SHOP_DOMAIN;
  const reference = await referenceOf(url);
  return greeting({ url, operationsUrl, key, domain, content, folder, keptFolder: kept, reference });
}

/**
 * The fault for data of another origin: `try` treats every domain as verified, which must not happen to real data.
 */
function notOwnData(folder: string): CommandFault {
  const remedy = 'name another folder, or serve this one with edgeplan serve --data';
  return new CommandFault(EXIT.no, `\`${folder}\` has data that edgeplan try did not create`, { remedy });
}

/** Creates the shop through the API; returns a clause about the content. */
async function fillShop(store: Store, server: string): Promise<string> {
  const { applyShop } = await import('../try/sample-shop.ts');
  // A separate key, so that setting up does not use the request budget of the printed key.
  const { key, id } = await makeKey(store, 'setup');
  const { records, rules } = await applyShop({ server, key });
  await revokeKey(store, { id, now: Date.now() });
  return `a sample shop, ${SHOP_DOMAIN}, with ${records} records and ${rules} rules, active and published`;
}

/** Revokes the keys of earlier runs, which were printed only once. */
async function revokeOld(store: Store): Promise<void> {
  const account = await store.latest.accounts.byName(ACCOUNT);
  const keys = account === null ? [] : await store.latest.keys.list(account.id);
  for (const { id, revoked_at } of keys)
    if (revoked_at === null) await revokeKey(store, { id, now: Date.now() });
}

/** Creates a key of the account. */
async function makeKey(store: Store, name: string): Promise<{ readonly key: string; readonly id: number }> {
  const made = { account: ACCOUNT, name, expiry: null, readOnly: false, now: Date.now() };
  const { key, row } = granted(await createKey(store, made));
  return { key, id: row.id };
}

/** The value of a successful operation. @throws CommandFault with the reason */
function granted<T>(outcome: { ok: true; value: T } | { ok: false; reason: string }): T {
  if (outcome.ok) return outcome.value;
  throw new CommandFault(EXIT.server, outcome.reason);
}

/** The path of the reference page, or of the OpenAPI document when the page was not built. */
async function referenceOf(url: string): Promise<string> {
  const page = await fetch(`${url}/docs/`);
  await page.body?.cancel();
  return page.ok ? '/docs/' : '/docs/openapi.yaml';
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  try: ['edgeplan try', 'edgeplan try --keep ./try-data --port 9000'],
};

/** Creates the command. */
export function tryCommand(): Command {
  const command = new Command('try')
    .summary('start everything with a sample shop, to try it out')
    .description(
      'Starts the API over a temporary folder, fills it with a sample shop and prints commands to paste. No DNS is queried: ' +
        'every domain counts as proven. When it ends, the folder is removed.',
    )
    .addOption(new Option('--host <address>', 'the address to listen on').default('127.0.0.1'))
    .addOption(
      new Option('--port <number>', 'the port of the API (default: 8787, or a free one)').argParser(readPort),
    )
    .addOption(
      new Option(
        '--ops-port <number>',
        'the port of /healthz, /readyz and /metrics, on 127.0.0.1 (default: 8788, or a free one)',
      ).argParser(readPort),
    )
    .option('--keep <folder>', 'keep the data there, and go on with it the next time')
    .action(run);
  return withExamples(command, EXAMPLES);
}
