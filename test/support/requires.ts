/**
 * What tests need beyond Node and npm. A test that cannot run is skipped with its reason in the task's metadata; the last
 * lines of a run count the reasons (`report-skips.ts`).
 */
import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestOptions } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Why the test is skipped. */
    skipReason?: string;
  }
}

/** Options of a test or suite: skipped for the first reason that is not `null`. */
export function requires(...reasons: readonly (string | null)[]): TestOptions {
  const skipReason = reasons.find((one) => one !== null);
  return skipReason === undefined ? {} : { skip: true, meta: { skipReason } };
}

/** Why a program cannot be run, or `null`; `debianPackage` is the package that installs it. */
export function missingProgram(name: string, debianPackage = name): string | null {
  return findProgram(name) === null ? `${name} is not installed (Debian: ${debianPackage})` : null;
}

/** Where a program is, in `PATH` or the folders of daemons, or `null`. */
export function findProgram(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/sbin'];
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

/** Why a file cannot be read, or `null`; `debianPackage` is the package that installs it. */
export function missingFile(path: string, debianPackage: string): string | null {
  return existsSync(path) ? null : `${path} is not installed (Debian: ${debianPackage})`;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
