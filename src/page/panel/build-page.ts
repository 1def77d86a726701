/**
 * Bundles the page: its script with the stylesheet and the document, the evaluator as a chunk of its own, and packages that
 * only some plans need as further chunks. Runs while `npm run build` does. In: `src/page/panel/page`. Out: files of `dist/page/panel/page`.
 */
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildResult, build, type Plugin } from 'esbuild';

/** The sources of the page, from `src/page/panel` as well as from `dist/page/panel`. */
const PAGE = fileURLToPath(new URL('../../../src/page/panel/page/', import.meta.url));

/** Packages of the evaluator that are loaded once a plan or a request needs them, with the modules that take their place. */
const LATER: Readonly<Record<string, string>> = { re2js: 'regex.ts', tr46: 'idna.ts' };

/** Replaces those packages everywhere but in the modules that load them. */
const loadedLater: Plugin = {
  name: 'loaded-later',
  setup({ onResolve }) {
    const folder = `${PAGE}later`;
    onResolve({ filter: /^(?:re2js|tr46)$/ }, ({ path, importer }) =>
      importer.startsWith(`${folder}${sep}`) ? undefined : { path: `${folder}${sep}${LATER[path]}` },
    );
  },
};

/** Bundles the page into a folder. @throws when a source cannot be bundled */
export async function buildPage(
  outdir: string,
  { write }: { readonly write: boolean },
): Promise<BuildResult<{ metafile: true }>> {
  return build({
    entryPoints: ['page.ts', 'page.css', 'index.html'].map((name) => `${PAGE}${name}`),
    outdir,
    write,
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2023',
    chunkNames: '[name]-[hash]',
    loader: { '.html': 'copy' },
    plugins: [loadedLater],
    logLevel: 'error',
  });
}
