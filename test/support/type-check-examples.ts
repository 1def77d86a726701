/** Type-checks TypeScript examples against the package as its users import it. Needs `dist/`. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Imports of octets, which bundlers turn into values. */
const OCTETS =
  "declare module '*.edgeplan' { const octets: Uint8Array; export default octets; }\n" +
  "declare module 'edgeplan/starter.bin' { const octets: Uint8Array; export default octets; }\n";

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ['lib.es2023.d.ts'],
  types: ['node'],
  strict: true,
  noEmit: true,
  skipLibCheck: true,
};

/** Error messages, each after the name of its example. */
export function typecheckExamples(blocks: readonly { name: string; code: string }[]): string[] {
  // Inside the package, so that `edgeplan/…` resolves to its exports.
  const sources = new Map(
    blocks.map(({ code }, at) => [join(ROOT, `examples/${at}.mts`), `${code}\nexport {};\n`]),
  );
  const octets = join(ROOT, 'examples/octets.d.ts');
  sources.set(octets, OCTETS);
  const host = ts.createCompilerHost(OPTIONS);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => sources.has(path) || fileExists(path);
  host.readFile = (path) => sources.get(path) ?? readFile(path);
  host.getSourceFile = (path, language, ...rest) => {
    const text = sources.get(path);
    if (text === undefined) return getSourceFile(path, language, ...rest);
    return ts.createSourceFile(path, text, language, true);
  };
  const program = ts.createProgram([...sources.keys()], OPTIONS, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const text = ts.flattenDiagnosticMessageText(messageText, '\n');
    const at = [...sources.keys()].indexOf(file?.fileName ?? '');
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start ?? 0).line + 1;
    return `${blocks[at]?.name ?? file?.fileName ?? 'the package'}, line ${line}: ${text}`;
  });
}
