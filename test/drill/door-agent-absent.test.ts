/**
 * `edgeplan agent check` where the agent of a proxy is stopped or away: HAProxy, nginx and Caddy as `fixtures/proxies` has them refuse
 * every request in time, and the check finds those that do not. Agent and check are processes.
 */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { builtCli, edgeplan, startEdgeplan } from '../support/built.ts';
import { freePort } from '../support/free-ports.ts';
import {
  DOOR_SECRET,
  type RunningProxy,
  type SeenOrigin,
  startCaddy,
  startNginx,
  startSeenOrigin,
} from '../support/http-door.ts';
import { missingProgram, requires } from '../support/requires.ts';
import { DOOR_SECRET as HAPROXY_SECRET, replaced, startHaproxy } from '../support/spop-door.ts';
import { until } from '../support/until.ts';

const HOST = 'shop.localhost';
const CLOSED = 'http-request deny deny_status 503 if { var(txn.edgeplan.err) -m found }';
/** The comment of the shipped file that stands in for that line. */
const OPENED = /^ +# {6}(http-request set-var\(txn\.edgeplan\.action\) .*)$/m;

interface Doors {
  readonly socket: string;
  readonly spop: number;
  readonly pages: number;
}

interface Started {
  readonly pid: number;
  /** Ends the process. */
  end(): Promise<void>;
}

type Change = (text: string) => string;
type Start = (doors: Doors, origin: number, change?: Change) => Promise<Pick<RunningProxy, 'port' | 'close'>>;

interface Proxy {
  readonly start: Start;
  /** The agent's doors for it. */
  readonly flags: (doors: Doors) => readonly string[];
  /** The one line that opens it. */
  readonly open: Change;
}

/** The twin of a comment: without its mark. */
const uncommented = (line: string): Change => replaced(line, line.slice(2));
const onSocket = ({ socket }: Doors): readonly string[] => ['--forward-auth', `unix:${socket}`];

const PROXIES: Readonly<Record<string, Proxy>> = {
  haproxy: {
    start: ({ spop, pages }, servers, change) =>
      startHaproxy({ door: spop, pages, servers, ...(change === undefined ? {} : { change }) }),
    flags: ({ spop, pages }) => [
      ...['--spop', `127.0.0.1:${spop}`],
      ...['--forward-auth', `127.0.0.1:${pages}`],
    ],
    open: (text) => replaced(CLOSED, OPENED.exec(text)?.[1] ?? '')(text),
  },
  nginx: {
    start: ({ socket }, origin, change) =>
      startNginx({ path: socket, origin, ...(change === undefined ? {} : { change }) }),
    flags: onSocket,
    open: uncommented('# error_page 500'),
  },
  caddy: {
    start: ({ socket }, origin, change) =>
      startCaddy({ path: socket, origin, ...(change === undefined ? {} : { change }) }),
    flags: onSocket,
    open: uncommented('# import fail_open'),
  },
};

describe.each(Object.entries(PROXIES))(
  '%s',
  requires(missingProgram('haproxy'), missingProgram('nginx'), missingProgram('caddy')),
  (name, { start, flags, open }) => {
    const folder = mkdtempSync(join(tmpdir(), 'edgeplan-absent-'));
    const file = join(folder, 'edge.yaml');
    const secret = join(folder, 'door.secret');
    let origin: SeenOrigin;
    let doors: Doors;

    beforeAll(async () => {
      await builtCli();
      origin = await startSeenOrigin();
      writeFileSync(secret, `${DOOR_SECRET}\n${HAPROXY_SECRET}\n`);
      writeFileSync(
        file,
        [
          `domain: ${HOST}`,
          'records:',
          `  - { name: '@', type: A, destination: 127.0.0.1, port: ${origin.port}, scheme: Http, proxied: true }`,
          'rules:',
          '  - { key: closed, type: drop, path_includes: [/admin, /admin/*] }',
        ].join('\n'),
      );
      doors = { socket: join(folder, 'door.sock'), spop: await freePort(), pages: await freePort() };
    }, 600_000);
    afterAll(async () => {
      await origin?.close();
      rmSync(folder, { recursive: true, force: true });
    });
    beforeEach(() => {
      origin.seen.length = 0;
    });

    async function startAgent(): Promise<Started> {
      const data = mkdtempSync(join(folder, 'data-'));
      const args = ['agent', '--file', file, '--data', data, '--secret-file', secret, ...flags(doors)];
      const child = startEdgeplan(args, { cwd: folder });
      let text = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
      }
      const ended = once(child, 'close');
      await until(() => {
        if (child.exitCode !== null) throw new Error(`the agent ended: ${text}`);
        return /^process \d+$/m.test(text);
      }, 'the start of the agent');
      return {
        pid: Number(/^process (\d+)$/m.exec(text)![1]),
        async end() {
          child.kill('SIGKILL');
          await ended;
        },
      };
    }

    const argsOf = (port: number, ...more: readonly string[]): string[] => [
      ...['agent', 'check', '--through', `http://${HOST}/admin`, '--connect-to', `127.0.0.1:${port}`],
      ...more,
    ];

    /** A check. Until the proxy has found the agent, or on a busy machine, the open path may be refused: it starts again then. */
    async function check(port: number, ...more: readonly string[]): ReturnType<typeof edgeplan> {
      let run = await edgeplan(argsOf(port, ...more), { cwd: folder });
      await until(async () => {
        if (!run.err.includes('is not open')) return true;
        run = await edgeplan(argsOf(port, ...more), { cwd: folder });
        return false;
      }, 'the open path to pass');
      return run;
    }

    test('the agent stopped, then ended: every request is refused, and none reaches the application', async () => {
      const agent = await startAgent();
      const proxy = await start(doors, origin.port);
      try {
        const stopped = await check(proxy.port, '--agent-pid', String(agent.pid), '--within', '60', '--json');
        const { attacks } = JSON.parse(stopped.out) as {
          attacks: { agent: string; holds: boolean; outcome: string }[];
        };
        expect(attacks.filter(({ holds }) => !holds)).toEqual([]);
        expect(stopped.code).toBe(0);
        const states = (state: string): number => attacks.filter(({ agent: at }) => at === state).length;
        expect(states('stopped')).toBeGreaterThan(10);
        expect([states('continued'), states('away')]).toEqual([1, 0]);
        expect(attacks.at(-1)?.outcome).toMatch(/^decided after \d+ ms$/);
        await agent.end();
        origin.seen.length = 0;
        const away = await check(proxy.port, '--agent-away', '--within', '60');
        expect(away.out).not.toMatch(/PASSED|HANGS/);
        expect(away.out).toMatch(/^holds +\d{3} +the agent away: the open path$/m);
        expect(away.code).toBe(0);
        expect(origin.seen).toEqual([]);
      } finally {
        await proxy.close();
        await agent.end();
      }
    });

    test('with the line that opens, the check names what passes, and exits with 1', async () => {
      const agent = await startAgent();
      const proxy = await start(doors, origin.port, open);
      try {
        const stopped = await check(proxy.port, '--agent-pid', String(agent.pid), '--within', '60');
        expect(stopped.out).toMatch(/^PASSED +200 +the agent stopped: the open path$/m);
        expect(stopped.code).toBe(1);
        await agent.end();
        const away = await check(proxy.port, '--agent-away', '--within', '60');
        expect(away.out).toMatch(/^PASSED +200 +the agent away: the blocked path$/m);
        expect(away.code).toBe(1);
      } finally {
        await proxy.close();
        await agent.end();
      }
    });

    // Of one proxy: the case is the check's own.
    if (name === 'caddy')
      test('a proxy without time-outs hangs, which the check reports', async () => {
        const agent = await startAgent();
        const proxy = await start(doors, origin.port, replaced('response_header_timeout 5s', ''));
        try {
          const run = await check(proxy.port, '--agent-pid', String(agent.pid), '--within', '3');
          expect(run.out).toMatch(
            /^HANGS +no response: none within 3000 ms +the agent stopped: the open path$/m,
          );
          expect(run.code).toBe(1);
        } finally {
          await proxy.close();
          await agent.end();
        }
      });

    // Of one proxy: the case is the check's own.
    if (name === 'nginx')
      test('a check that is interrupted lets the agent continue', async () => {
        const agent = await startAgent();
        const proxy = await start(doors, origin.port);
        try {
          await until(async () => (await statusOf(proxy.port)) === 200, 'the open path to pass');
          const running = startEdgeplan(argsOf(proxy.port, '--agent-pid', String(agent.pid)), {
            cwd: folder,
          });
          const ended = once(running, 'close');
          await until(() => running.exitCode !== null || isStopped(agent.pid), 'the agent to be stopped');
          expect(running.exitCode).toBe(null);
          running.kill('SIGINT');
          expect((await ended)[1]).toBe('SIGINT');
          await until(() => !isStopped(agent.pid), 'the agent to continue');
        } finally {
          await proxy.close();
          await agent.end();
        }
      });
  },
);

/** The status of the open path. */
function statusOf(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: '/', headers: { host: HOST } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject).end();
  });
}

/** Whether a process is stopped by a signal: its state in proc(5) is `T`. */
function isStopped(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
}
