/** Links, anchors, paths, routes, metrics, variables and flags that Markdown files name and that do not exist. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { filesIn, type Paper, type Place, ROOT, savedAs } from './markdown.ts';

/** Relative links without a file, and anchors without a heading. */
export function deadLinks(papers: readonly Paper[]): readonly string[] {
  const byPath = new Map(papers.map((paper) => [paper.path, paper]));
  return papers.flatMap((paper) => {
    const isDead = ({ text }: Place): boolean => {
      if (/^[a-z]+:/.test(text)) return false;
      const [file = '', anchor] = text.split('#');
      const path = file === '' ? paper.path : normalize(join(dirname(paper.path), file));
      if (!byPath.has(path) && !existsSync(join(ROOT, path))) return true;
      if (anchor === undefined) return false;
      return byPath.get(path)?.anchors.has(anchor) !== true;
    };
    return paper.links.filter(isDead).map((link) => placed(paper, link));
  });
}

/**
 * Code spans that look like a file of the repository and are none: a path whose first folder exists, seen from the
 * document, the root, `src` or `test`; or the name of a source or a document, which some folder has to have.
 */
export function deadPaths(papers: readonly Paper[]): readonly string[] {
  const names = new Set(filesIn('').map((path) => basename(path)));
  return papers.flatMap((paper) => {
    const saved = new Set(paper.blocks.map(savedAs));
    const bases = [dirname(paper.path), '', 'src', 'test'];
    const isDead = ({ text }: Place): boolean => {
      if (/^[\w-]+(?:\.[\w-]+)*\.(?:ts|mjs|md)$/.test(text)) return !names.has(text) && !saved.has(text);
      if (!/^[\w.@-]+(?:\/[\w.@-]+)*\/?$/.test(text) || !text.includes('/')) return false;
      const first = text.split('/')[0]!;
      const known = bases.filter((base) => existsSync(join(ROOT, base, first)));
      return known.length > 0 && !known.some((base) => existsSync(join(ROOT, base, text)));
    };
    return paper.spans.filter(isDead).map((span) => placed(paper, span));
  });
}

/** Code spans `GET /path` that are no operation of the API. Needs `dist/`. */
export function deadRoutes(papers: readonly Paper[]): readonly string[] {
  const { paths } = JSON.parse(readFileSync(join(ROOT, 'dist/page/reference/openapi.json'), 'utf8')) as {
    readonly paths: Readonly<Record<string, object>>;
  };
  const operations = new Set(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${withoutNames(path)}`),
    ),
  );
  return papers.flatMap((paper) => {
    const isDead = ({ text }: Place): boolean =>
      /^(?:GET|POST|PUT|PATCH|DELETE) \//.test(text) && !operations.has(withoutNames(text.split('?')[0]!));
    return paper.spans.filter(isDead).map((span) => placed(paper, span));
  });
}

/** Metrics, variables and flags in code spans that no source has. */
export function deadNames(papers: readonly Paper[]): readonly string[] {
  const sources = ['src', 'test', 'bench']
    .flatMap(filesIn)
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(join(ROOT, path), 'utf8'))
    .join('\n');
  const known = new Set(sources.match(NAME));
  /** Metrics whose names are put together: `<prefix>_seconds_total`. */
  const prefixes = [...sources.matchAll(/prefix: '(edgeplan_[a-z_]+)'/g)].map(([, prefix]) => prefix!);
  const isKnown = (name: string): boolean =>
    known.has(name) || prefixes.some((prefix) => name.startsWith(`${prefix}_`));
  return papers.flatMap((paper) =>
    paper.spans
      .filter(({ text }) => (text.match(NAME) ?? []).some((name) => !isKnown(name)))
      .map((span) => placed(paper, span)),
  );
}

/** A metric, a variable of the environment, or a long flag. */
const NAME = /\bedgeplan_[a-z_]+|\bEDGEPLAN_[A-Z_]+|(?<![\w-])--[a-z][a-z-]+/g;

function withoutNames(path: string): string {
  return path.replace(/\{[^}]*\}|<[^>]*>/g, '{}');
}

function placed({ path }: Paper, { text, line }: Place): string {
  return `${path}:${line}: ${text}`;
}
