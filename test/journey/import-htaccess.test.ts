/**
 * The importer of `.htaccess` beside Apache httpd: each file of `fixtures/import/htaccess` is that of the document root of an Apache,
 * and the edge file that the importer writes runs in the evaluator. Both answer alike; nothing that Apache refuses is forwarded.
 */
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Decision } from '../../src/engine/evaluator/decision.ts';
import { importHtaccess } from '../../src/workbench/importers/apache/import-htaccess.ts';
import { countOpened } from '../../src/workbench/importers/report.ts';
import { type EvaluatedImport, evaluateImport } from '../support/importers/evaluate-import.ts';
import { GENERATED } from '../support/importers/generate-htaccess.ts';
import { BROWSER, CASES, type HtaccessCase, VISITORS } from '../support/importers/htaccess-cases.ts';
import {
  type ApacheAnswer,
  type ApacheRequest,
  type RunningApache,
  runApache,
} from '../support/importers/run-apache.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { missingProgram, requires } from '../support/requires.ts';

const FOLDER = new URL('../../fixtures/import/htaccess/', import.meta.url);

/** Paths in the text of a file, with the neighbours at which matching goes wrong. */
function pathsOf(text: string): readonly string[] {
  const found = new Set<string>(['/', '/a', '/a/b.png?x=1']);
  for (const [, word] of text.matchAll(/^\s*Redirect\S*\s+(?:\S+\s+)?"?(\/[\w./-]+)/gm)) {
    const bare = word!.replace(/\/$/, '');
    for (const one of [bare, `${bare}/`, `${bare}/x`, `${bare}x`, `${bare}?q=1&r=2`, `/x${bare}`])
      found.add(one);
  }
  return [...found];
}

/** The files of the document root: one for each path, and an index for each folder. */
function filesOf(targets: readonly string[], missing: readonly string[]): readonly string[] {
  const paths = targets
    .map((target) => decodeURIComponent(target.split('?')[0]!))
    .filter((path) => !missing.includes(path));
  const folders = new Set<string>(['/']);
  for (const path of paths)
    for (let at = path.indexOf('/', 1); at > 0; at = path.indexOf('/', at + 1))
      folders.add(path.slice(0, at + 1));
  const files = paths.filter((path) => !path.endsWith('/') && !folders.has(`${path}/`));
  return [...new Set([...files, ...[...folders].map((folder) => `${folder}index.html`)])];
}

/** The requests of a case: every path on every host and scheme, and every variation of the visitor on every path. */
function* requestsOf(
  { hosts = ['example.com', 'www.example.com'], methods = [], ips = [], headers = [] }: HtaccessCase,
  targets: readonly string[],
) {
  const plain = {
    scheme: 'https',
    method: 'GET',
    ip: '198.51.100.250',
    headers: { 'user-agent': BROWSER },
  } as const;
  for (const target of targets) {
    for (const host of hosts) {
      yield { ...plain, host, target };
      yield { ...plain, host, target, scheme: 'http' as const };
      for (const method of methods) yield { ...plain, host, target, method };
      for (const ip of ips) yield { ...plain, host, target, ip };
      for (const [name, value] of headers)
        yield { ...plain, host, target, headers: { ...plain.headers, [name]: value } };
      for (const ip of ips) for (const method of methods) yield { ...plain, host, target, ip, method };
    }
  }
}

/** An answer in short: a redirect with its URL, a refusal with its status, or `forward`. */
function outcomeOf(status: number, location: string | null, { scheme, host, target }: ApacheRequest): string {
  const url = `${scheme}://${host}${target}`;
  if (location !== null && status >= 300 && status <= 399) {
    const absolute = new URL(location, url).href;
    // A folder without its slash is redirected by the server of the files.
    const [path, query] = url.split('?');
    if (status === 301 && absolute === [`${path}/`, query].filter((part) => part !== undefined).join('?'))
      return 'forward';
    return `${status} ${absolute}`;
  }
  // Files on the disk have no answer to these methods.
  return status < 400 || status === 405 || status === 501 ? 'forward' : `refused ${status}`;
}

function theirsOf(answer: ApacheAnswer, request: ApacheRequest, missing: readonly string[]): string {
  const isMissing = answer.status === 404 && missing.includes(request.target.split('?')[0]!);
  return isMissing ? 'forward' : outcomeOf(answer.status, answer.location, request);
}

function oursOf({ action, status, location }: Decision, request: ApacheRequest): string {
  if (action === 'forward') return 'forward';
  return outcomeOf(status!, location, request);
}

test('every file of the folder is compared', () => {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.htaccess'));
  expect(files.sort()).toEqual(CASES.map(({ file }) => `${file}.htaccess`));
  expect(files.length).toBeGreaterThanOrEqual(12);
});

describe('Apache httpd', requires(missingProgram('apache2'), OPENSSL_MISSING), () => {
  describe.each(CASES)('$file', (one) => {
    const text = readFileSync(new URL(`${one.file}.htaccess`, FOLDER), 'utf8');
    const { missing = [] } = one;
    const targets = [...new Set([...pathsOf(text), ...(one.paths ?? []), ...missing])];
    let apache: RunningApache;
    let imported: EvaluatedImport;

    beforeAll(async () => {
      apache = await runApache(text, filesOf(targets, missing));
      const options = { domain: 'example.com', origin: 'origin.invalid' };
      imported = evaluateImport(importHtaccess([{ name: '.htaccess', text }], options));
    });
    afterAll(() => apache?.stop());

    test('the report names what is not carried over and what differs, and nothing else', () => {
      const { outcomes = {} } = one;
      const found = imported.edge.entries.filter(
        ({ outcome }) => outcome !== 'exact' && outcome !== 'not_needed',
      );
      const shown = Object.fromEntries(
        found.map(({ source, outcome }) => [
          Object.keys(outcomes).find((start) => source.startsWith(start)) ?? source,
          outcome,
        ]),
      );
      expect(shown, JSON.stringify(found, null, 1)).toEqual(outcomes);
      expect(countOpened(imported.edge.entries)).toBe(0);
    });

    test('Apache and the imported file answer alike', async () => {
      let compared = 0;
      for (const request of requestsOf(one, targets)) {
        const answer = await apache.ask(request);
        const decision = imported.decide(request);
        const theirs = theirsOf(answer, request, missing);
        const ours = oursOf(decision, request);
        const path = decodeURIComponent(decision.path ?? '');
        const context = JSON.stringify(request);
        if (theirs.startsWith('refused')) expect(ours, context).not.toBe('forward');
        if (one.except?.(request) !== true) {
          expect(ours, context).toBe(theirs);
          if (answer.status === 200 && request.method === 'GET' && one.missing === undefined)
            expect([path, `${path}index.html`], context).toContain(answer.body);
        }
        compared++;
      }
      expect(compared).toBeGreaterThanOrEqual(10);
    });
  });

  test('files that are generated open nothing, and answer as Apache where the report says so', {
    timeout: 3_600_000,
  }, async () => {
    const targets = ['/', '/a', '/a/', '/a/b', '/b', '/ab', '/b/a.php', '/a/.x', '/c.txt?q=1', '/B'];
    const apache = await runApache('', filesOf(targets, []));
    let compared = 0;
    let exact = 0;
    try {
      for (const text of fc.sample(GENERATED, { numRuns: 60, seed: 20_261_130 })) {
        apache.replace(text);
        const options = { domain: 'example.com', origin: 'origin.invalid' };
        const imported = evaluateImport(importHtaccess([{ name: '.htaccess', text }], options));
        expect(countOpened(imported.edge.entries), text).toBe(0);
        const isExact = imported.edge.entries.every(
          ({ outcome }) => outcome === 'exact' || outcome === 'not_needed',
        );
        if (isExact) exact++;
        for (const request of requestsOf(VISITORS, targets)) {
          const answer = await apache.ask(request);
          // A rewrite to a path that it rewrites again.
          if (answer.status === 500) continue;
          const theirs = theirsOf(answer, request, []);
          const decision = imported.decide(request);
          const ours = oursOf(decision, request);
          const context = `${text}\n${JSON.stringify(request)}\n${imported.edge.text}`;
          if (theirs.startsWith('refused')) expect(ours, context).not.toBe('forward');
          // The edge skips redirects to the URL of the request, as a note of the report says.
          const isLoop = theirs.endsWith(` ${request.scheme}://${request.host}${request.target}`);
          // A rewrite to a folder, whose slash the server of the files adds.
          const isFolder = theirs.startsWith(`301 ${request.scheme}://${request.host}${decision.path}/`);
          if (isExact && !isLoop && !isFolder) expect(ours, context).toBe(theirs);
          compared++;
        }
      }
    } finally {
      await apache.stop();
    }
    expect(compared).toBeGreaterThan(5_000);
    expect(exact).toBeGreaterThan(40);
  });
});
