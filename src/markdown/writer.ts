/**
 * Blocks on their way to the page's Markdown: each line behind the marks of the quotations and items it lies in, blank
 * lines between blocks, and a note of what stands in the page's main part.
 */
import type { OutputMeter } from './meter.ts';

export type ContainerKind = 'item' | 'quote' | 'definition';
export type RegionKind = 'main' | 'article';

interface Container {
  readonly kind: ContainerKind;
  /** What its first line begins with; `null` once that is written. */
  first: string | null;
  /** What every other line begins with. */
  readonly rest: string;
  /** The mark of the list that was written last in it, with nothing behind it. */
  list: string;
}

/** A part of what is written. */
interface Region {
  readonly kind: RegionKind;
  readonly from: number;
  to: number;
  /** It holds a first heading. */
  titled: boolean;
}

/** What lies between a block and the one before. */
const GAP = { none: 0, line: 1, blank: 2 } as const;

export interface BlockWriter {
  /** One block of one or several lines. */
  block(text: string, options?: { readonly isTitle?: boolean }): void;
  open(kind: ContainerKind, first: string, rest: string): void;
  close(): void;
  /** The container that blocks are written into; `null`: the page itself. */
  readonly within: ContainerKind | null;
  /** The next block follows the one before without a blank line. */
  tighten(): void;
  /** The mark of the list before, which another list next to it must not use; empty: there is none. */
  listBefore(): string;
  listEnded(mark: string): void;
  /** A main part begins, outside of whatever is open, and ends with a call of what is given; `null`: it is in one. */
  enter(kind: RegionKind): (() => void) | null;
  /** What is written; empty where there is no text. `title` stands above where no first heading does. */
  finish(title: string): string;
}

export function createWriter(meter: OutputMeter): BlockWriter {
  const out: string[] = [];
  let containers: Container[] = [];
  /** Of the page itself. */
  let list = '';
  let gap: number = GAP.none;
  const regions: Region[] = [];
  const entered: Region[] = [];
  let titled = false;

  function put(line: string): void {
    meter(line.length);
    out.push(line);
  }

  function separate(): void {
    if (gap === GAP.blank) {
      let prefix = '';
      for (const { first, rest } of containers) {
        if (first !== null) break;
        prefix += rest;
      }
      put(`${prefix.trimEnd()}\n`);
    }
    gap = GAP.blank;
  }

  function prefixed(line: string): string {
    let prefix = '';
    for (const container of containers) {
      prefix += container.first ?? container.rest;
      container.first = null;
    }
    return `${(prefix + line).trimEnd()}\n`;
  }

  function setList(mark: string): void {
    const top = containers.at(-1);
    if (top === undefined) list = mark;
    else top.list = mark;
  }

  function partOf(kind: RegionKind): string {
    const parts = regions.filter((region) => region.kind === kind);
    return parts
      .map(({ from, to }) => out.slice(from, to).join('').trim())
      .filter((part) => part !== '')
      .join('\n\n');
  }

  /** The main part where the page names one; articles where they hold most of the text. */
  function choose(): { readonly text: string; readonly isTitled: boolean } {
    const isTitled = (kind: RegionKind): boolean => regions.some((one) => one.kind === kind && one.titled);
    const main = partOf('main');
    if (main !== '') return { text: main, isTitled: isTitled('main') };
    const whole = out.join('').trim();
    const articles = partOf('article');
    if (articles === '' || articles.length * 2 < whole.length) return { text: whole, isTitled: titled };
    return { text: articles, isTitled: isTitled('article') };
  }

  return {
    get within() {
      return containers.at(-1)?.kind ?? null;
    },
    block(text, { isTitle = false } = {}) {
      separate();
      if (isTitle) {
        titled = true;
        for (const region of entered) region.titled = true;
      }
      for (const line of text.split('\n')) put(prefixed(line));
      setList('');
    },
    open(kind, first, rest) {
      containers.push({ kind, first, rest, list: '' });
    },
    close() {
      containers.pop();
    },
    tighten() {
      if (gap === GAP.blank) gap = GAP.line;
    },
    listBefore: () => containers.at(-1)?.list ?? list,
    listEnded: setList,
    enter(kind) {
      if (entered.some((region) => region.kind === kind)) return null;
      const region: Region = { kind, from: out.length, to: out.length, titled: false };
      const before = containers;
      regions.push(region);
      entered.push(region);
      containers = [];
      return () => {
        region.to = out.length;
        entered.pop();
        containers = before;
      };
    },
    finish(title) {
      const { text, isTitled } = choose();
      if (text === '') return '';
      return title === '' || isTitled ? `${text}\n` : `# ${title}\n\n${text}\n`;
    },
  };
}
