/** One of our entries as one minified file for a browser or a Worker, and what is in it. */
import { createContext, Script } from 'node:vm';
import { build, type Metafile } from 'esbuild';
import ts from 'typescript';

export interface Bundle {
  readonly code: string;
  readonly meta: Metafile;
}

/** @param globalName the variable that the entry's exports are kept in */
export async function bundleOf(entry: string, globalName: string): Promise<Bundle> {
  const built = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    platform: 'browser',
    format: 'iife',
    globalName,
    target: 'es2023',
    logLevel: 'silent',
  });
  if (built.warnings.length > 0) throw new Error(JSON.stringify(built.warnings));
  return { code: built.outputFiles[0]!.text, meta: built.metafile };
}

/** Names that make code from text, or that only Node has. */
const FOREIGN = ['eval', 'Function', 'require', 'process', 'Buffer', 'global', '__dirname', '__filename'];

/** Whether an identifier names a member (`x.eval`, a method `eval`) rather than a variable. */
function isMemberName(node: ts.Identifier): boolean {
  const { parent } = node;
  return (
    (ts.isPropertyAccessExpression(parent) ||
      ts.isMethodDeclaration(parent) ||
      ts.isPropertyAssignment(parent)) &&
    parent.name === node
  );
}

/** What a bundle loads, and the variables in it that only Node has or that make code from text. */
export function foreignIn({ code, meta }: Bundle): readonly string[] {
  const found = Object.values(meta.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  found.push(...Object.keys(meta.inputs).filter((path) => path.startsWith('node:')));
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && FOREIGN.includes(node.text) && !isMemberName(node)) found.push(node.text);
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      found.push('import()');
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('bundle.js', code, ts.ScriptTarget.Latest, true));
  return found;
}

/** Octets that each package, or our own source, puts into the bundle; the largest first. */
export function sharesOf({ meta }: Bundle): ReadonlyMap<string, number> {
  const octets = new Map<string, number>();
  for (const [path, { bytesInOutput }] of Object.entries(Object.values(meta.outputs)[0]!.inputs)) {
    const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? 'edgeplan';
    octets.set(name, (octets.get(name) ?? 0) + bytesInOutput);
  }
  return new Map([...octets].sort(([, a], [, b]) => b - a));
}

/** Runs a bundle where there are these globals and no code from text; what its entry exports. */
export function runBundle<Exports>(
  { code }: Bundle,
  globalName: string,
  globals: Record<string, unknown>,
): Exports {
  const sealed = createContext(globals, { codeGeneration: { strings: false, wasm: false } });
  new Script(`"use strict";${code};globalThis.result = ${globalName}`).runInContext(sealed);
  return globals['result'] as Exports;
}
