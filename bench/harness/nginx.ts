/** nginx from Debian's packages, started on a free port with a configuration of the bench's own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-ports.ts';
import { endWithUs, stop } from './process.ts';

export const NGINX = '/usr/sbin/nginx';
export const MODSECURITY_MODULE = '/usr/lib/nginx/modules/ngx_http_modsecurity_module.so';

export interface RunningNginx {
  readonly port: number;
  readonly process: ChildProcess;
  stop(): Promise<void>;
}

export interface NginxParts {
  /** What stands before `events`, such as `load_module`. */
  readonly main?: string;
  /** What stands in `http`. */
  readonly http?: string;
  /** What stands in the one `server`, beside `listen`. */
  readonly server: string;
  /** Files the configuration names, by their name in its folder, which `{folder}` stands for. */
  readonly files?: Readonly<Record<string, string>>;
}

export function hasNginx(): boolean {
  return existsSync(NGINX);
}

/** Starts one nginx process, without workers of its own: all it does is charged to one process id. */
export async function startNginx({
  main = '',
  http = '',
  server,
  files = {},
}: NginxParts): Promise<RunningNginx> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-nginx-'));
  const port = await freePort();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const text = `${main}
daemon off; master_process off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log crit;
events { worker_connections 1024; }
http {
  access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi; uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  keepalive_requests 100000000; client_body_buffer_size 128k;
  ${http}
  server { listen 127.0.0.1:${port}; ${server} }
}
`.replaceAll('{folder}', folder);
  writeFileSync(join(folder, 'nginx.conf'), text);
  const child = spawn(NGINX, ['-p', folder, '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  endWithUs(child);
  let told = '';
  child.stderr!.on('data', (chunk: Buffer) => {
    told += chunk.toString();
  });
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    await answering(port, child);
  } catch (error) {
    remove();
    throw new Error(`nginx did not start: ${told || String(error)}`);
  }
  return {
    port,
    process: child,
    async stop() {
      await stop(child);
      remove();
    },
  };
}

/** A rule set takes nginx some seconds to read. */
const START_MS = 60_000;

async function answering(port: number, child: ChildProcess): Promise<void> {
  const end = Date.now() + START_MS;
  while (Date.now() < end) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    const socket = connect(port, '127.0.0.1');
    const open = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('it does not answer');
}
