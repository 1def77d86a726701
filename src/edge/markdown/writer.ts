/**
 * Writes blocks: prefixes each line with the marks of its quotations and items, separates blocks by blank lines, and
 * records which lines are in the page's main part. Its meter bounds the output.
 */
import type { HtmlReason } from './outcome.ts';

/**
 * Maximum number of characters of Markdown per character of the page, and the number that is added to it, for short
 * pages.
 */
export const GROWTH = 4;
export const GROWTH_FLOOR = 4 * 1024;

/** Blocks that contain blocks. */
export type ContainerKind = 'item' | 'quote' | 'definition';
/** Elements with the main content of a page. */
export type RegionKind = 'main' | 'article';

interface Container {
  readonly kind: ContainerKind;
  /** Prefix of its first line; `null` once that is written. */
  first: string | null;
  /** Prefix of every other line. */
  readonly rest: string;
  /** Mark of the list that ended last in it, if no block followed; empty: none. */
  list: string;
}

/** A range of lines. */
interface Region {
  readonly kind: RegionKind;
  /** Indexes into the lines; `to` is exclusive. */
  readonly from: number;
  to: number;
  /** It contains a heading of level 1. */
  titled: boolean;
}

/** The gap between a block and the one before. */
const GAP = { none: 0, line: 1, blank: 2 } as const;

/** The Markdown of a page. */
export interface BlockWriter {
  /** Writes a block of one or several lines. */
  block(text: string, options?: { readonly isTitle?: boolean }): void;
  /** Opens a container with the prefixes of its lines. */
  open(kind: ContainerKind, first: string, rest: string): void;
  /** Closes the innermost container. */
  close(): void;
  /** The innermost container; `null`: the page itself. */
  readonly within: ContainerKind | null;
  /** Writes the next block without a blank line before it. */
  tighten(): void;
  /** Mark of the list directly before, which the next list must not use (CommonMark §5.3); empty: none. */
  listBefore(): string;
  /** Records the mark of a list that ended. */
  listEnded(mark: string): void;
  /** Starts a region outside of all containers. @returns what ends it; `null`: within a region of its kind */
  enter(kind: RegionKind): (() => void) | null;
  /** The Markdown, empty without text. Begins with `title` if there is no heading of level 1. */
  finish(title: string): string;
}

interface WriterState {
  readonly meter: OutputMeter;
  readonly out: string[];
  /** Open containers, the innermost last. */
  containers: Container[];
  /** As `Container.list`, of the page itself. */
  list: string;
  gap: number;
  readonly regions: Region[];
  /** Open regions. */
  readonly entered: Region[];
  /** The page contains a heading of level 1. */
  titled: boolean;
}

export function createWriter(meter: OutputMeter): BlockWriter {
  const state: WriterState = {
    meter,
    out: [],
    containers: [],
    list: '',
    gap: GAP.none,
    regions: [],
    entered: [],
    titled: false,
  };
  return {
    get within() {
      return state.containers.at(-1)?.kind ?? null;
    },
    block: (text, { isTitle = false } = {}) => writeBlock(state, text, isTitle),
    open(kind, first, rest) {
      state.containers.push({ kind, first, rest, list: '' });
    },
    close() {
      state.containers.pop();
    },
    tighten() {
      if (state.gap === GAP.blank) state.gap = GAP.line;
    },
    listBefore: () => state.containers.at(-1)?.list ?? state.list,
    listEnded: (mark) => setList(state, mark),
    enter: (kind) => enterRegion(state, kind),
    finish(title) {
      const { text, isTitled } = mainPart(state);
      if (text === '') return '';
      return title === '' || isTitled ? `${text}\n` : `# ${title}\n\n${text}\n`;
    },
  };
}

/** Writes a block after its gap, and resets the list before it. */
function writeBlock(state: WriterState, text: string, isTitle: boolean): void {
  separate(state);
  if (isTitle) {
    state.titled = true;
    for (const region of state.entered) region.titled = true;
  }
  for (const line of text.split('\n')) put(state, prefixed(state, line));
  setList(state, '');
}

/** Adds a line. @throws PageLimit */
function put({ meter, out }: WriterState, line: string): void {
  meter(line.length);
  out.push(line);
}

/** Writes the blank line before a block, with the prefixes of containers that have lines already. */
function separate(state: WriterState): void {
  if (state.gap === GAP.blank) {
    let prefix = '';
    for (const { first, rest } of state.containers) {
      if (first !== null) break;
      prefix += rest;
    }
    put(state, `${prefix.trimEnd()}\n`);
  }
  state.gap = GAP.blank;
}

/** A line with the prefixes of its containers, without white space at its end. */
function prefixed({ containers }: WriterState, line: string): string {
  let prefix = '';
  for (const container of containers) {
    prefix += container.first ?? container.rest;
    container.first = null;
  }
  return `${(prefix + line).trimEnd()}\n`;
}

function setList(state: WriterState, mark: string): void {
  const top = state.containers.at(-1);
  if (top === undefined) state.list = mark;
  else top.list = mark;
}

/** Starts a region and hides the open containers until its end. */
function enterRegion(state: WriterState, kind: RegionKind): (() => void) | null {
  const { out, regions, entered } = state;
  if (entered.some((region) => region.kind === kind)) return null;
  const region: Region = { kind, from: out.length, to: out.length, titled: false };
  const before = state.containers;
  regions.push(region);
  entered.push(region);
  state.containers = [];
  return () => {
    region.to = out.length;
    entered.pop();
    state.containers = before;
  };
}

/** The `main` regions if the page has text in some; else its articles if they have half of the text; else all. */
function mainPart({ out, regions, titled }: WriterState): {
  readonly text: string;
  readonly isTitled: boolean;
} {
  const textOf = (kind: RegionKind): string =>
    regions
      .filter((region) => region.kind === kind)
      .map(({ from, to }) => out.slice(from, to).join('').trim())
      .filter((part) => part !== '')
      .join('\n\n');
  const isTitled = (kind: RegionKind): boolean =>
    regions.some((region) => region.kind === kind && region.titled);
  const main = textOf('main');
  if (main !== '') return { text: main, isTitled: isTitled('main') };
  const whole = out.join('').trim();
  const articles = textOf('article');
  if (articles === '' || articles.length * 2 < whole.length) return { text: whole, isTitled: titled };
  return { text: articles, isTitled: isTitled('article') };
}

// Bounds the output of a conversion: counts characters, and throws beyond `GROWTH` times the page.

/** A page beyond a limit. Thrown through the parser, which has no other way to be stopped; `convert` catches it. */
export class PageLimit extends Error {
  readonly reason: HtmlReason;

  constructor(reason: HtmlReason) {
    super(reason);
    this.name = 'PageLimit';
    this.reason = reason;
  }
}

/** Counts characters before they are written. @throws PageLimit */
export type OutputMeter = (characters: number) => void;

/** A meter for a page of `characters` characters. */
export function createMeter(characters: number): OutputMeter {
  let left = characters * GROWTH + GROWTH_FLOOR;
  return (spent) => {
    left -= spent;
    if (left < 0) throw new PageLimit('growth');
  };
}
