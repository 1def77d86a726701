/**
 * In a network and a mount namespace of its own: a resolver on port 53, a `resolv.conf` that names it and completes names,
 * and what of the names given was found there, as a line of JSON.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createResolve } from '../../src/edge/proxy/origin/names.ts';
import { a, fromTable, startDnsServer } from './dns-server.ts';

const [file, ...names] = process.argv.slice(2) as [string, ...string[]];
execFileSync('ip', ['link', 'set', 'lo', 'up']);
writeFileSync(file, 'nameserver 127.0.0.1\nsearch svc.cluster.test\noptions ndots:5\n');
execFileSync('mount', ['--bind', file, '/etc/resolv.conf']);
const found = 'api.default.svc.cluster.test';
const dns = await startDnsServer('127.0.0.1', 53, fromTable({ [`${found} A`]: a(found, '192.0.2.7') }));
const resolve = createResolve({ servers: [] });
const answers = await Promise.all(names.map(resolve));
console.log(JSON.stringify(answers));
await dns.stop();
