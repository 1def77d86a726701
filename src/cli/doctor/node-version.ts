/** Checks that this Node is one that the package supports. */
import { readFileSync } from 'node:fs';
import type { Check } from './check.ts';

/** The oldest version in `engines` of `package.json`, such as `20.19`. */
function oldestVersion(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  const { engines } = JSON.parse(text) as { readonly engines: { readonly node: string } };
  return engines.node.replace(/^>=\s*/, '');
}

/** Whether a version such as `20.20.2` is at least another. */
export function isAtLeast(version: string, oldest: string): boolean {
  const found = version.split('.').map(Number);
  const wanted = oldest.split('.').map(Number);
  const differs = wanted.findIndex((part, index) => part !== (found[index] ?? 0));
  return differs < 0 || (found[differs] ?? 0) > wanted[differs]!;
}

export const nodeVersion: Check = {
  name: 'node',
  async run() {
    const oldest = oldestVersion();
    const found = `Node ${process.versions.node} on ${process.platform} ${process.arch}`;
    if (isAtLeast(process.versions.node, oldest)) return [{ state: 'fine', found }];
    return [{ state: 'failure', found, remedy: `install Node ${oldest} or newer` }];
  },
};
