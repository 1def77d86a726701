/** Runs Apache httpd with an `.htaccess` file on loopback ports: one with TLS and one without. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from '../free-ports.ts';
import { makeCertificate } from '../make-certificate.ts';
import { findProgram } from '../requires.ts';

/** What a visitor asks Apache. */
export interface ApacheRequest {
  readonly scheme: 'http' | 'https';
  readonly method: string;
  readonly host: string;
  readonly target: string;
  readonly ip: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What Apache answers. */
export interface ApacheAnswer {
  readonly status: number;
  readonly location: string | null;
  /** The path of the file that is served. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A running Apache. */
export interface RunningApache {
  ask(request: ApacheRequest): Promise<ApacheAnswer>;
  /** Replaces the `.htaccess` file, which Apache reads for each request. */
  replace(htaccess: string): void;
  stop(): Promise<void>;
}

/** Where the modules of Debian are. */
const MODULES = '/usr/lib/apache2/modules';
const LOADED = [
  ...[
    'mpm_event',
    'authz_core',
    'authz_host',
    'authz_user',
    'authn_core',
    'authn_file',
    'auth_basic',
    'access_compat',
  ],
  ...[
    'alias',
    'rewrite',
    'setenvif',
    'headers',
    'expires',
    'mime',
    'dir',
    'remoteip',
    'socache_shmcb',
    'ssl',
    'env',
  ],
];

/** Starts Apache. `files`: paths of files below the document root, which are created. */
export async function runApache(htaccess: string, files: readonly string[]): Promise<RunningApache> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-apache-'));
  const root = join(folder, 'root');
  mkdirSync(root);
  chmodSync(folder, 0o755);
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), file);
  }
  writeFileSync(join(root, '.htaccess'), htaccess);
  const certificate = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  await makeCertificate({ names: ['example.com'], ...certificate });
  const ports = { http: await freePort(), https: await freePort() };
  writeFileSync(join(folder, 'httpd.conf'), configuration({ folder, root, ports, ...certificate }));
  const child = spawn(findProgram('apache2')!, ['-f', join(folder, 'httpd.conf'), '-D', 'FOREGROUND'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr!.on('data', (chunk) => {
    errors += String(chunk);
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode === null) {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    for (const port of Object.values(ports)) await untilListening(child, port);
  } catch (cause) {
    const log = readFileSync(join(folder, 'error.log'), { encoding: 'utf8', flag: 'a+' });
    await stop();
    throw new Error(`apache2 does not start: ${errors}${log}`, { cause });
  }
  return {
    ask: (request) => ask(request, ports[request.scheme]),
    replace: (text) => writeFileSync(join(root, '.htaccess'), text),
    stop,
  };
}

function configuration(parts: {
  readonly folder: string;
  readonly root: string;
  readonly ports: { readonly http: number; readonly https: number };
  readonly cert: string;
  readonly key: string;
}): string {
  const { folder, root, ports, cert, key } = parts;
  const user = process.getuid?.() === 0 ? 'User www-data\nGroup www-data' : '';
  return `ServerRoot ${folder}
${LOADED.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`).join('\n')}
${user}
PidFile ${folder}/pid
ErrorLog ${folder}/error.log
DefaultRuntimeDir ${folder}
TypesConfig /dev/null
Mutex pthread
StartServers 1
ServerLimit 2
ThreadsPerChild 8
MinSpareThreads 1
MaxSpareThreads 16
MaxRequestWorkers 16
Listen 127.0.0.1:${ports.http}
Listen 127.0.0.1:${ports.https}
RemoteIPHeader X-Test-Ip
RemoteIPInternalProxy 127.0.0.1
DocumentRoot ${root}
TraceEnable On
<Directory />
  Require all denied
</Directory>
<Directory ${root}>
  AllowOverride All
  Require all granted
</Directory>
<VirtualHost *:${ports.http}>
  ServerName http://example.com:80
  DocumentRoot ${root}
</VirtualHost>
<VirtualHost *:${ports.https}>
  ServerName https://example.com:443
  DocumentRoot ${root}
  SSLEngine on
  SSLCertificateFile ${cert}
  SSLCertificateKeyFile ${key}
</VirtualHost>
`;
}

/** @throws when Apache ends before it listens */
async function untilListening(child: ChildProcess, port: number): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    const socket = connect(port, '127.0.0.1');
    const isOpen = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function ask(request: ApacheRequest, port: number): Promise<ApacheAnswer> {
  const { scheme, method, host, target, ip, headers } = request;
  const send = scheme === 'https' ? requestHttps : requestHttp;
  const sent = { ...headers, Host: host, 'X-Test-Ip': ip, Connection: 'close' };
  const tls = scheme === 'https' ? { rejectUnauthorized: false, servername: host } : {};
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = send({ host: '127.0.0.1', port, method, path: target, headers: sent, ...tls }, resolve);
    outgoing.on('error', reject);
    outgoing.end();
  });
  let body = '';
  for await (const chunk of response.setEncoding('utf8')) body += chunk;
  const named = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
  return {
    status: response.statusCode!,
    location: response.headers.location ?? null,
    body,
    headers: Object.fromEntries(named) as Record<string, string>,
  };
}
