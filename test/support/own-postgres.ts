/** A PostgreSQL server of a test's own, which asks for passwords, and may be killed, stopped and started again. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-ports.ts';
import { asAdmin } from './postgres.ts';
import { until } from './until.ts';

/** Where distributions install the programs of a server. */
const INSTALLED = '/usr/lib/postgresql';
const version = existsSync(INSTALLED) ? readdirSync(INSTALLED).sort().at(-1) : undefined;
const BIN = version === undefined ? null : join(INSTALLED, version, 'bin');
/** PostgreSQL does not run as root. */
const USER = process.getuid?.() === 0 ? ownerOf('postgres') : {};

function ownerOf(name: string): { readonly uid: number; readonly gid: number } | null {
  try {
    const id = (flag: string): number => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }));
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return null;
  }
}

/** Why no server can be started here, or `null`. */
export function missingOwnPostgres(): string | null {
  if (BIN === null || !existsSync(join(BIN, 'initdb')))
    return `no PostgreSQL server is installed in ${INSTALLED}`;
  return USER === null ? 'tests run as root and there is no user `postgres`' : null;
}

export interface OwnPostgres {
  /** For files of the test, beside the data. */
  readonly folder: string;
  readonly port: number;
  /** The file with a password, first that of the owner. */
  readonly passwordFile: string;
  /** The id of the first process. */
  pid(): number;
  /** Runs SQL as the owner. */
  admin(sql: string): Promise<void>;
  /** As an operator does: whole or not at all. */
  writePassword(password: string): void;
  /** Starts it, again after `kill`, and waits until it answers. */
  start(): Promise<void>;
  /** kill -9 of the first process; the others end by themselves. */
  kill(): Promise<void>;
  /** Ends it and removes its folder. */
  close(): Promise<void>;
}

/** Makes the server and starts it. */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-postgres-'));
  const passwordFile = join(folder, 'password');
  const data = join(folder, 'data');
  const writePassword = (password: string): void => {
    writeFileSync(`${passwordFile}.new`, `${password}\n`, { mode: 0o600 });
    renameSync(`${passwordFile}.new`, passwordFile);
  };
  writePassword('first');
  const owner = USER as { readonly uid?: number; readonly gid?: number };
  if (owner.uid !== undefined)
    for (const one of [folder, passwordFile]) chownSync(one, owner.uid, owner.gid!);
  const made = [
    '-D',
    data,
    '-U',
    'postgres',
    '-A',
    'scram-sha-256',
    `--pwfile=${passwordFile}`,
    '-E',
    'UTF8',
    '-N',
  ];
  execFileSync(join(BIN!, 'initdb'), made, { ...owner, cwd: folder, stdio: 'ignore' });
  const port = await freePort();
  const settings = ['-p', String(port), '-k', folder, '-c', 'listen_addresses=127.0.0.1'];
  let server: ChildProcess;
  const admin = async (sql: string): Promise<void> => {
    await asAdmin(sql, `postgres://postgres:first@127.0.0.1:${port}/postgres`);
  };
  async function start(): Promise<void> {
    const answers = (): Promise<true | null> =>
      admin('SELECT 1').then(
        () => true,
        () => null,
      );
    await until(
      async () => {
        // After a kill it refuses to start until the last process of the one before has ended.
        if (server === undefined || server.exitCode !== null || server.signalCode !== null)
          server = spawn(join(BIN!, 'postgres'), ['-D', data, ...settings], {
            ...owner,
            cwd: folder,
            stdio: 'ignore',
          });
        return answers();
      },
      'PostgreSQL',
      60_000,
    );
  }
  async function end(signal: NodeJS.Signals): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  }
  await start();
  return {
    folder,
    port,
    passwordFile,
    pid: () => server.pid!,
    admin,
    writePassword,
    start,
    kill: () => end('SIGKILL'),
    async close() {
      await end('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
