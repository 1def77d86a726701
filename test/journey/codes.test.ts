/** `edgeplan codes`, and the way from a message to it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtCli, edgeplan, type Run } from '../support/built.ts';

let folder: string;
beforeAll(async () => {
  await builtCli();
  folder = mkdtempSync(join(tmpdir(), 'codes-'));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(...args: readonly string[]): Promise<Run> {
  return edgeplan(args, { cwd: folder });
}

describe('edgeplan codes', () => {
  test('prints severity, meaning and remedy of a code', async () => {
    const { code, out, err } = await run('codes', 'unknown_field');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const lines = out.split('\n');
    expect(lines[0]).toBe('unknown_field  error');
    expect(lines[1]).toMatch(/^ {2}there is no field of this name here/);
    expect(lines[2]).toMatch(/^ {2}= use the name/);
  });

  test('suggests the code that was meant, and exits with 2', async () => {
    const { code, out, err } = await run('codes', 'unknwon_field');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toBe('edgeplan: there is no code `unknwon_field`\n  did you mean `unknown_field`?\n');
    expect((await run('codes', 'zzz')).err).toContain('edgeplan codes lists all codes');
  });

  test('lists all, as text by area and as JSON', async () => {
    const text = (await run('codes')).out;
    expect(text).toMatch(/^Values\n {2}beyond_latin1 {2,}a condition/);
    const { format, codes } = JSON.parse((await run('codes', '--json')).out);
    expect(format).toBe('edgeplan.codes/v1');
    expect(Object.keys(codes[0])).toEqual(['code', 'area', 'severity', 'meaning', 'remedy']);
    for (const { code } of codes) expect(text).toContain(`  ${code} `);
    const one = JSON.parse((await run('codes', 'checksum', '--json')).out);
    expect(one.codes.map((entry: { code: string }) => entry.code)).toEqual(['checksum']);
  });

  test('is named by messages, whose code it knows', async () => {
    const file = 'edge.yaml';
    writeFileSync(join(folder, file), 'domain: example.com\nrecords: []\nrulez: []\n');
    const { code, err } = await run('compile', '--file', file);
    expect(code).toBe(3);
    expect(err).toMatch(/^edge\.yaml:3:1: error\[unknown_field\]: rulez: is not a known field/);
    const hint = /^edgeplan codes (\w+) says more$/m.exec(err)?.[1] ?? '';
    expect((await run('codes', hint)).code).toBe(0);
    const { out } = await run('lint', '--file', file, '--json');
    expect(JSON.parse(out).findings[0].code).toBe('unknown_field');
  });
});
