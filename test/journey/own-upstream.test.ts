/** An edge file in front of a developer's own server on this machine, as the starter file and the fixture describe it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtCli, edgeplan, startEdgeplan } from '../support/built.ts';
import { until } from '../support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-upstream-'));
let upstream: Server;
let port: number;

beforeAll(async () => {
  await builtCli();
  upstream = createServer((asked, response) => response.end(`${asked.url} for ${asked.headers.host}`));
  upstream.listen(0, '127.0.0.1');
  await new Promise((resolve) => upstream.once('listening', resolve));
  port = (upstream.address() as AddressInfo).port;
}, 120_000);
afterAll(() => {
  upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number | undefined;
  readonly body: string;
}

function ask(edge: URL, host: string, path: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: edge.hostname, port: edge.port, path, headers: { host } }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode, body }));
    });
    asked.on('error', reject).end();
  });
}

/** Serves an edge file, whose port 3000 becomes that of the upstream, and calls `use` with its address. */
async function served(text: string, use: (edge: URL) => Promise<void>): Promise<void> {
  const file = join(folder, 'edge.yaml');
  writeFileSync(file, text.replaceAll('port: 3000', `port: ${port}`));
  const data = join(folder, 'node');
  const node = startEdgeplan(['node', '--file', file, '--port', '0', '--data', data], { cwd: folder });
  let out = '';
  node.stdout.setEncoding('utf8').on('data', (part: string) => {
    out += part;
  });
  const ended = new Promise((resolve) => node.on('close', resolve));
  try {
    const [, url] = await until(() => /listening on (\S+)/.exec(out), 'the node');
    await use(new URL(url!));
  } finally {
    node.kill('SIGTERM');
    await ended;
  }
}

describe('an upstream of your own', () => {
  test('the file of fixtures/upstream is in front of it, by a name below localhost', async () => {
    const text = readFileSync(new URL('../../fixtures/upstream/edge.yaml', import.meta.url), 'utf8');
    await served(text, async (edge) => {
      const host = `app.localhost:${edge.port}`;
      expect(await ask(edge, host, '/hello')).toEqual({ status: 200, body: `/hello for ${host}` });
      expect((await ask(edge, host, '/private/x')).status).toBe(403);
    });
  });

  test('the domain of a file may be `localhost` itself', async () => {
    const record = "{ name: '@', type: A, destination: 127.0.0.1, port: 3000, scheme: Http, proxied: true }";
    await served(`domain: localhost\nrecords:\n  - ${record}\n`, async (edge) => {
      const host = `localhost:${edge.port}`;
      expect(await ask(edge, host, '/')).toEqual({ status: 200, body: `/ for ${host}` });
    });
  });

  test('the record that the starter file has in a comment works without the #', async () => {
    await edgeplan(['init', 'starter'], { cwd: folder });
    const text = readFileSync(join(folder, 'starter/edge.yaml'), 'utf8');
    const uncommented = text.replace('  # - { name: dev,', '  - { name: dev,');
    expect(uncommented).not.toBe(text);
    await served(uncommented, async (edge) => {
      const answer = await ask(edge, 'dev.example.com', '/page');
      expect(answer).toEqual({ status: 200, body: `/page for dev.example.com:${edge.port}` });
    });
  });

  test('the error page of the starter file is a whole document', async () => {
    const text = readFileSync(join(folder, 'starter/edge.yaml'), 'utf8');
    const dead = `${text}`.replace('  # - { name: dev,', '  - { name: dev,').replace('port: 3000', 'port: 1');
    await served(dead, async (edge) => {
      const { status, body } = await ask(edge, 'dev.example.com', '/page');
      expect(status).toBe(502);
      expect(body).toMatch(/^<!doctype html>\n<html lang="en">[\s\S]*<title>We will be right back<\/title>/);
      expect(body).toContain('name="viewport"');
    });
  });
});
