/** A Core Rule Set directory as a loaded program, set up as its own test bench sets it up. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describeDiagnostic, hasErrors } from '../../src/base/diagnostics/diagnostic.ts';
import type { SignatureProgram } from '../../src/engine/plan/signature-program.ts';
import { compileSignatures } from '../../src/engine/waf/seclang/compile.ts';
import type { Source } from '../../src/engine/waf/seclang/source.ts';

/** What the suite's `docker-compose.yml` and the image it names set beyond `crs-setup.conf.example`. */
const BENCH_SETTINGS = [
  'tx.max_num_args=255',
  'tx.arg_name_length=100',
  'tx.arg_length=400',
  'tx.total_arg_length=6400',
  'tx.max_file_size=64100',
  'tx.combined_file_sizes=65535',
].map(
  (variable, index) => `SecAction "id:${900_900 + index},phase:1,pass,t:none,nolog,setvar:'${variable}'"`,
);

function sourceOf(file: string): Source {
  return { file, text: readFileSync(file, 'latin1') };
}

/** The data files that rules name beside themselves. */
export function readCrsData(file: string, from: string): string | null {
  const path = join(dirname(from), file);
  return existsSync(path) ? readFileSync(path, 'latin1') : null;
}

/** The set's files in their order. */
export function crsSources(
  directory: string,
  settings: readonly string[] = BENCH_SETTINGS,
): readonly Source[] {
  const setup = ['crs-setup.conf', 'crs-setup.conf.example']
    .map((name) => join(directory, name))
    .find((path) => existsSync(path));
  const folder = join(directory, 'rules');
  const rules = readdirSync(folder)
    .filter((name) => name.endsWith('.conf'))
    .sort()
    .map((name) => sourceOf(join(folder, name)));
  return [
    ...(setup === undefined ? [] : [sourceOf(setup)]),
    { file: 'test-bench.conf', text: settings.join('\n') },
    ...rules,
  ];
}

/** @throws Error with every diagnostic when the set does not compile */
export function compileCrs(
  directory: string,
  settings: readonly string[] = BENCH_SETTINGS,
): SignatureProgram {
  const { program, diagnostics } = compileSignatures(crsSources(directory, settings), {
    readData: readCrsData,
  });
  if (program === null || hasErrors(diagnostics))
    throw new Error(diagnostics.map(describeDiagnostic).join('\n'));
  return program;
}
