/** Writes the client's types anew: starts the built server, reads its document, stops it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clientSchema, SCHEMA_FILE } from './client-schema.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-client-'));
const args = [
  'dist/cli/main.js',
  'serve',
  '--data',
  folder,
  '--port',
  '0',
  '--ops-port',
  '0',
  '--trust-names',
];
const server = spawn(process.execPath, [...args, '--log-level', 'silent'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [said] = (await once(server.stdout, 'data')) as [Buffer];
const url = /^listening on (\S+)$/m.exec(said.toString())?.[1];
const answer = await fetch(`${url}/docs/openapi.yaml`);
if (!answer.ok) throw new Error(`the document is not served: ${answer.status}`);
writeFileSync(SCHEMA_FILE, await clientSchema(await answer.text()));
const ended = once(server, 'close');
server.kill('SIGTERM');
await ended;
rmSync(folder, { recursive: true, force: true });
