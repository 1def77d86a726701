/** Runs an nginx configuration beside the file that is imported from it, over the requests of `import nginx --check`. */
import { expect } from 'vitest';
import { checkNginx, type DifferenceKind } from '../../../src/cli/check-nginx/check.ts';
import { findNginx } from '../../../src/cli/check-nginx/run-nginx.ts';
import { importNginx } from '../../../src/workbench/importers/nginx/import-nginx.ts';
import { parseNginx } from '../../../src/workbench/importers/nginx/parse-nginx.ts';
import { countOpened, type ImportedEdge } from '../../../src/workbench/importers/report.ts';

/** Checks that no request reaches an origin that nginx keeps from it; `stated`: the kinds of differences that the report states. */
export async function expectNothingOpened(
  text: string,
  stated: readonly DifferenceKind[],
): Promise<ImportedEdge> {
  const files = [{ name: 'nginx.conf', text }];
  const parsed = parseNginx(files, () => []);
  const edge = importNginx(files, () => [], { domain: null, origin: 'origin.invalid' });
  if (!parsed.ok || !edge.ok) throw new Error(JSON.stringify([parsed, edge]));
  expect(countOpened(edge.entries)).toBe(0);
  // What a drop rule refuses in place of a directive is carried over stricter.
  for (const { outcome, becomes, source } of edge.entries)
    if (becomes.includes('drop')) expect(outcome, source).not.toBe('not_carried');
  const result = await checkNginx(findNginx()!, parsed.directives, { edge, origin: 'origin.invalid' });
  const unstated = result.differences.filter(({ kind }) => !stated.includes(kind));
  expect(unstated.slice(0, 3), edge.text).toEqual([]);
  expect(result.compared).toBeGreaterThan(5);
  if (result.differences.length > 0)
    expect(edge.entries.some(({ outcome }) => !['exact', 'not_needed'].includes(outcome))).toBe(true);
  return edge;
}
