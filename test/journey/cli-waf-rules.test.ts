/** A waf rule works with nothing installed: simulate, test and lint bring the starter signatures. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtCli, edgeplan, type Run, type RunOptions } from '../support/built.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-'));

const FILES: Readonly<Record<string, string>> = {
  'edge.yaml': `domain: example.com
records:
  - { name: "@", type: A, destination: 192.0.2.1, proxied: true }
rules:
  - key: attacks
    type: waf
    exclusions:
      - { tag: attack-sqli, target: "ARGS:note", path: /notes }
`,
  'plain.yaml': `domain: example.com
records:
  - { name: "@", type: A, destination: 192.0.2.1, proxied: true }
rules:
  - { key: old, type: drop, path_includes: [/old] }
`,
  'unknown.yaml': `domain: example.com
records:
  - { name: "@", type: A, destination: 192.0.2.1, proxied: true }
rules:
  - { key: attacks, type: waf, rule_excludes: ["7"] }
`,
  'edge.test.yaml': `tests:
  - name: union select is stopped
    request: GET https://example.com/?id=1%20union%20select%20password%20from%20users
    expect: { action: block, status: 403, rule: waf/attacks, waf: { ids: [11300], score: 5, truncated: false } }
  - name: a page passes
    request: GET https://example.com/about
    expect: { action: forward, waf: { score: 0, ids: [] } }
  - name: a form without its body counts as empty
    request: POST https://example.com/form
    with: { headers: { content-length: '12' } }
    expect: { action: forward, waf: { score: 0, uninspected: null } }
`,
  'own.conf': `SecComponentSignature "own/1"
SecRule ARGS "@contains wolf" "id:7,phase:2,block,msg:'a wolf',severity:CRITICAL,setvar:tx.anomaly_score=+5"
`,
  'bad.conf': 'SecRule ARGS "@rx a(?R)" "id:7,phase:2,block"\n',
};

const ATTACK = "https://example.com/?id=1'%20union%20select%20password%20from%20users--%20";

beforeAll(async () => {
  await builtCli();
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
}, 180_000);
afterAll(() => rmSync(folder, { recursive: true }));

function run(args: readonly string[], env: RunOptions['env'] = {}): Promise<Run> {
  return edgeplan(args, { cwd: folder, env });
}

describe('simulate', () => {
  it('blocks an attack, and prints each signature and the set', async () => {
    const { code, out, err } = await run(['simulate', ATTACK]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('✘ BLOCK  403\n');
    expect(out).toMatch(/ {2}11300 {2}\+5 critical {3}UNION SELECT \(sqli\) {2}ARGS:id `1' union select/);
    expect(out).toMatch(/inspected with edgeplan-starter\/1 sha256:[0-9a-f]{7}\n/);
    expect(out).not.toContain('none loaded');
  });

  it('has the set and its matches in the JSON', async () => {
    const { out } = await run(['simulate', ATTACK, '--json']);
    const document = JSON.parse(out);
    expect(document.signatures).toEqual({
      name: 'edgeplan-starter/1',
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    const [rule] = document.phases.find(({ name }: { name: string }) => name === 'waf').rules;
    expect(rule.inspection).toMatchObject({ paranoia: 1, threshold: 5, truncated: false, body_error: null });
    expect(rule.inspection.matches[0]).toMatchObject({ id: 11_300, category: 'sqli', variable: 'ARGS:id' });
  });

  it('--why prints score, settings and the exclusions that apply', async () => {
    const note = ATTACK.replace('/?id=', '/notes?note=');
    const [why, forwarded] = await Promise.all([
      run(['simulate', ATTACK.replace('/?', '/notes?'), '--why', 'attacks']),
      run(['simulate', note]),
    ]);
    expect(why.out).toMatch(
      /\n {4}signatures {2}edgeplan-starter\/1 sha256:[0-9a-f]{7}\n {4}paranoia {4}1\n/,
    );
    expect(why.out).toMatch(/\n {4}score {7}\d+, threshold 5 · sqli \d+/);
    expect(why.out).toContain('\n    excluded    tag attack-sqli for ARGS:note\n');
    expect(forwarded.out).toContain('✔ FORWARD');
  });

  it('inspects no body if none is given, whatever Content-Length is', async () => {
    const form = ['simulate', 'https://example.com/form', '-X', 'POST', '-H', 'content-length: 12'];
    const { code, out } = await run(form);
    expect(code).toBe(0);
    expect(out).toContain('✔ FORWARD');
    expect(out).toContain('body none');
  });

  it('redacts values that may be secret', async () => {
    const { out } = await run(['simulate', ATTACK.replace('id=', 'password=')]);
    expect(out).toMatch(/ARGS:password `\(\d+ octets, not shown\)`/);
    expect(out.split('plan edge.yaml')[1]).not.toContain('union select');
  });

  it('uses other signatures by flag or environment, or none', async () => {
    const wolf = ['simulate', 'https://example.com/?q=wolf'];
    const [flag, crs, environment, none, both] = await Promise.all([
      run([...wolf, '--signatures', 'own.conf']),
      run([...wolf, '--crs', 'own.conf'], { EDGEPLAN_SIGNATURES: 'none' }),
      run(wolf, { EDGEPLAN_SIGNATURES: 'own.conf' }),
      run([...wolf, '--signatures', 'none']),
      run([...wolf, '--signatures', 'none', '--crs', 'own.conf']),
    ]);
    for (const { out } of [flag, crs, environment]) expect(out).toContain('inspected with own/1 sha256:');
    expect(none.out).toContain('waf signatures none loaded');
    expect(none.out).not.toContain('inspected with');
    expect(both).toMatchObject({ code: 2, out: '' });
  });

  it('opens no signatures for a plan without a waf rule', async () => {
    const args = [
      'simulate',
      '-f',
      'plain.yaml',
      'https://example.com/',
      '--json',
      '--signatures',
      'bad.conf',
    ];
    const { code, out } = await run(args);
    expect(code).toBe(0);
    expect(JSON.parse(out).signatures).toBe(null);
    expect(await run(['simulate', 'https://example.com/', '--signatures', 'bad.conf'])).toMatchObject({
      code: 3,
      out: '',
      err: expect.stringContaining('`bad.conf` does not compile: 1 error'),
    });
  });

  it('inspects every line of a stream', async () => {
    const line = JSON.stringify({
      scheme: 'https',
      method: 'GET',
      host: 'example.com',
      target: '/?q=<script>',
    });
    const { out } = await edgeplan(['simulate', '--requests', '-', '--json'], {
      cwd: folder,
      input: `${line}\n`,
    });
    expect(JSON.parse(out)).toMatchObject({
      decision: { action: 'block', rule: expect.stringMatching(/^waf\//), waf: { score: 5 } },
    });
  });
});

describe('test and lint', () => {
  it('a rule test can expect scores and ids', async () => {
    expect(await run(['test'])).toEqual({
      code: 0,
      err: '',
      out: '  ✔ union select is stopped\n  ✔ a page passes\n  ✔ a form without its body counts as empty\n\n  3 passed · 3 requests\n',
    });
    const { code, out } = await run(['test', '--signatures', 'none']);
    expect(code).toBe(1);
    expect(out).toContain('no signatures are loaded, so nothing was inspected');
  });

  it('lint checks ids and tags against the set', async () => {
    expect(await run(['lint'])).toMatchObject({ code: 0, out: '' });
    const { code, out } = await run(['lint', '-f', 'unknown.yaml']);
    expect(code).toBe(1);
    expect(out).toContain('rule_excludes[0]: names no signature of edgeplan-starter/1');
    expect(await run(['lint', '-f', 'unknown.yaml', '--signatures', 'own.conf'])).toMatchObject({ code: 0 });
    expect(await run(['lint', '-f', 'unknown.yaml', '--signatures', 'none'])).toMatchObject({
      code: 1,
      out: expect.stringContaining('warning[waf_no_signatures]'),
    });
  });
});
