import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { makeFolder } from '../../../../src/base/platform/durable-file.ts';
import { requires } from '../../../support/requires.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-folder-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function codeOf(path: string): string | undefined {
  try {
    makeFolder(path);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
  return undefined;
}

describe('makeFolder', () => {
  test('creates every missing level with the mode, and returns the first', () => {
    const deep = join(folder, 'a/b/c');
    expect(makeFolder(deep, { mode: 0o700 })).toBe(join(folder, 'a'));
    expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o700);
    expect(statSync(deep).mode & 0o777).toBe(0o700);
  });

  test('accepts a folder that exists, and one behind a link', () => {
    mkdirSync(join(folder, 'there'));
    symlinkSync(join(folder, 'there'), join(folder, 'link'));
    expect(makeFolder(join(folder, 'there'))).toBeUndefined();
    expect(makeFolder(join(folder, 'link'))).toBeUndefined();
    expect(makeFolder('/')).toBeUndefined();
  });

  test('refuses a path with a file in the way, at its end or above it', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(codeOf(join(folder, 'file'))).toBe('ENOTDIR');
    expect(codeOf(join(folder, 'file/below'))).toBe('ENOTDIR');
    expect(codeOf(join(folder, 'file/below/that'))).toBe('ENOTDIR');
  });

  test('refuses a link that leads nowhere', () => {
    symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling'));
    expect(codeOf(join(folder, 'dangling'))).toBe('ENOTDIR');
    expect(existsSync(join(folder, 'nowhere'))).toBe(false);
  });

  const NO_PROC = existsSync('/proc/self') ? null : 'this system has no /proc';
  test('refuses a folder below /proc, where mkdir answers ENOENT', requires(NO_PROC), () => {
    expect(codeOf('/proc/self/foo')).toBe('ENOTSUP');
    expect(codeOf('/proc/foo/bar')).toBe('ENOTSUP');
  });
});
