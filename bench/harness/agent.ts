/** What the doors' bench sets beside each other: `edgeplan agent` alone, and HAProxy that asks it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/free-ports.ts';
import { findProgram } from '../../test/support/requires.ts';
import { DOOR_SECRET, replaced, shipped } from '../../test/support/spop-door.ts';
import { HOST, type Server, waitFor } from './edge-servers.ts';
import { endWithUs, stop } from './process.ts';

const CLI = fileURLToPath(new URL('../cli/main.js', import.meta.url));

/** An agent with a SPOP and an HTTP door. */
export interface BenchAgent {
  readonly spop: number;
  readonly http: number;
  readonly process: ChildProcess;
  stop(): Promise<void>;
}

export interface BenchAgentOptions {
  readonly folder: string;
  /** The port of the origin that the domain's record has. */
  readonly origin: number;
  readonly rules: readonly object[];
  readonly flags?: readonly string[];
}

export async function startAgent({
  folder,
  origin,
  rules,
  flags = [],
}: BenchAgentOptions): Promise<BenchAgent> {
  const own = mkdtempSync(join(folder, 'agent-'));
  const file = join(own, 'edge.yaml');
  const record = {
    name: '@',
    type: 'A',
    destination: '127.0.0.1',
    proxied: true,
    scheme: 'Http',
    port: origin,
  };
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ domain: { name: HOST }, records: [record], rules }));
  const doors = ['--spop', '127.0.0.1:0', '--forward-auth', '127.0.0.1:0'];
  const child = spawn(
    process.execPath,
    [CLI, 'agent', '--file', file, '--data', join(own, 'data'), ...doors, ...flags],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, EDGEPLAN_DOOR: DOOR_SECRET },
    },
  );
  endWithUs(child);
  const ports: number[] = [];
  for await (const line of createInterface(child.stdout!)) {
    const port = /^(?:SPOP|HTTP) at tcp:\/\/[^/]*:(\d+)/.exec(line)?.[1];
    if (port !== undefined) ports.push(Number(port));
    if (ports.length === 2) break;
  }
  const [spop, http] = ports;
  if (spop === undefined || http === undefined) throw new Error('`edgeplan agent` did not start');
  child.stdout!.resume();
  return { spop, http, process: child, stop: () => stop(child) };
}

/**
 * HAProxy on one thread with the shipped configuration and an agent of its own; `null`: HAProxy asks nobody and forwards. Nothing is
 * logged, as the node of the bench logs nothing.
 */
export async function startHaproxyWith(
  agent: BenchAgent | null,
  { folder, origin }: { readonly folder: string; readonly origin: number },
): Promise<Server> {
  const own = mkdtempSync(join(folder, 'haproxy-'));
  const [port, tlsPort] = [await freePort(), await freePort()];
  const spoe = join(own, 'spoe.cfg');
  // A machine that is busy otherwise must not turn a slow decision into a refused request.
  const asks = [
    replaced('timeout processing 500ms', 'timeout processing 60s'),
    replaced('timeout hello 2s', 'timeout hello 60s'),
  ];
  writeFileSync(
    spoe,
    asks.reduce((text, one) => one(text), shipped('spoe.cfg')),
  );
  const secure = `bind 127.0.0.1:${tlsPort} ssl crt ${folder}/shop.pem alpn h2,http/1.1`;
  const common = [
    replaced('    log stdout format raw local0\n', '    nbthread 1\n'),
    replaced('bind :80\n', `bind 127.0.0.1:${port}\n    ${secure}\n`),
    replaced('server one 127.0.0.1:8080', `server one 127.0.0.1:${origin}`),
  ];
  const asking = [
    replaced('/etc/haproxy/spoe.cfg', spoe),
    replaced('127.0.0.1:9000 ', `127.0.0.1:${agent?.spop} `),
    replaced('server agent 127.0.0.1:9001', `server agent 127.0.0.1:${agent?.http}`),
    replaced('timeout connect 1s', 'timeout connect 60s'),
    replaced('check inter 1s fall 3 rise 1', 'check inter 1s fall 1000 rise 1'),
  ];
  const changes = agent === null ? [...common, withoutAgent] : [...common, ...asking];
  const file = join(own, 'haproxy.cfg');
  writeFileSync(
    file,
    changes.reduce((text, one) => one(text), shipped('haproxy-2.6.cfg')),
  );
  const child = spawn(findProgram('haproxy')!, ['-db', '-f', file], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, EDGEPLAN_DOOR: DOOR_SECRET },
  });
  endWithUs(child);
  await waitFor(port);
  const helpers = agent === null ? [] : [agent.process];
  return {
    name: agent === null ? 'HAProxy' : 'HAProxy and agent',
    port,
    tlsPort,
    process: child,
    helpers,
    stop: () => stop(child),
  };
}

/** The shipped frontend without what asks the agent and what follows from its answers. */
function withoutAgent(text: string): string {
  const [before, rest] = text.split(/^ {4}filter spoe .*$/m) as [string, string];
  const after = rest.slice(rest.indexOf('# Your own servers'));
  return `${before}    default_backend servers\n\n${after.slice(0, after.indexOf('# Origins of the plan'))}`;
}
