/**
 * The Markdown files of the repository, as far as a test reads them: code blocks, headings, links, code spans.
 *
 * A comment `<!-- not run: reason -->` before a block says why no test runs it; `<!-- servers stopped -->` says that the
 * servers of the blocks above have been stopped.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Folders without papers of ours. */
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'dist', '.git']);

export interface Block {
  readonly language: string;
  readonly code: string;
  /** Of its first line of code, from 1. */
  readonly line: number;
  /** Why it is not run. */
  readonly notRun: string | null;
  /** The servers of earlier blocks have been stopped. */
  readonly stopped: boolean;
}

export interface Place {
  readonly text: string;
  readonly line: number;
}

export interface Paper {
  /** From the repository's root, with `/`. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  /** Anchors of the headings, as GitHub makes them. */
  readonly anchors: ReadonlySet<string>;
  /** Targets of links and images. */
  readonly links: readonly Place[];
  readonly spans: readonly Place[];
}

/** Every Markdown file of the repository, by path. */
export function readPapers(): readonly Paper[] {
  return filesIn('')
    .filter((path) => path.endsWith('.md'))
    .map((path) => parsePaper(path, readFileSync(join(ROOT, path), 'utf8')));
}

/** Paths of all files of the repository, without what is installed or built. */
export function filesIn(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter(({ name }) => !SKIPPED.has(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      return entry.isDirectory() ? filesIn(path) : [path];
    });
}

/** The name of the file that a block is to be saved as, from a comment that is its first line: `# edge.yaml`. */
export function savedAs({ code }: Block): string | null {
  return /^(?:#|\/\/) ([\w-]+(?:\.[\w-]+)+)\n/.exec(code)?.[1] ?? null;
}

export function parsePaper(path: string, text: string): Paper {
  const lines = text.split('\n');
  const blocks: Block[] = [];
  const prose: Place[] = [];
  /** Lines of prose before the latest block. */
  let before = 0;
  for (let at = 0; at < lines.length; at++) {
    const fence = /^( *)(`{3,})(\w*)/.exec(lines[at]!);
    if (fence === null) {
      prose.push({ text: lines[at]!, line: at + 1 });
      continue;
    }
    const start = at + 1;
    at = lines.findIndex((line, index) => index >= start && line.startsWith(`${fence[1]}${fence[2]}`));
    if (at < 0) throw new Error(`${path}:${start}: this code block has no end`);
    const code = `${lines.slice(start, at).join('\n')}\n`;
    blocks.push({ language: fence[3]!, code, line: start + 1, ...remarkOf(prose.slice(before)) });
    before = prose.length;
  }
  const headings = prose.flatMap((one) => /^#+ (.*)$/.exec(one.text)?.[1] ?? []);
  return {
    path,
    text,
    blocks,
    anchors: new Set([...anchorsOf(headings), ...namedAnchors(text)]),
    links: linksOf(prose),
    spans: spansOf(prose),
  };
}

/** What the comment that ends the prose between two blocks says. */
function remarkOf(prose: readonly Place[]): Pick<Block, 'notRun' | 'stopped'> {
  const last = prose
    .slice(-6)
    .map(({ text }) => text)
    .join(' ')
    .trim();
  const comment = /<!-- ((?:(?!-->).)*) -->$/.exec(last)?.[1] ?? '';
  return {
    notRun: comment.startsWith('not run: ') ? comment.slice('not run: '.length) : null,
    stopped: comment === 'servers stopped',
  };
}

function anchorsOf(headings: readonly string[]): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const heading of headings) {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Anchors that are written as such: `<a id="drop"></a>`. */
function namedAnchors(text: string): readonly string[] {
  return [...text.matchAll(/^<a id="([^"]+)"><\/a>$/gm)].map((match) => match[1]!);
}

function linksOf(prose: readonly Place[]): readonly Place[] {
  return prose.flatMap(({ text, line }) =>
    [...text.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target]) => ({ text: target!, line })),
  );
}

function spansOf(prose: readonly Place[]): readonly Place[] {
  return prose.flatMap(({ text, line }) =>
    [...text.matchAll(/`([^`]+)`/g)].map(([, span]) => ({ text: span!, line })),
  );
}
