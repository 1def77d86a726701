/**
 * Turns opening and closing tags into Markdown: one function per role of an element, which acts at the opening tag and
 * returns what to do at the closing tag. The functions share one `PageState`; text flows through `flow.ts`.
 */
import {
  type Attributes,
  baseOf,
  type ElementRole,
  imageAt,
  languageOf,
  linkTo,
  wholeNumber,
} from './elements.ts';
import { createFlow, type Flow, openCell, openHead, openRow, openTable } from './flow.ts';
import { escapeText, fenceFor, guardHeading, type Mark } from './inline.ts';
import type { OutputMeter, RegionKind } from './writer.ts';

export interface MarkdownWriterOptions {
  /** Base of relative links, until a `base` element sets another one. */
  readonly base: URL;
  /** Counts the characters of lines while they grow. */
  readonly meter: OutputMeter;
  /** Counts the characters of the blocks that are written. */
  readonly shape: OutputMeter;
}

/** Receives the tags and texts of a page in their order. */
export interface MarkdownWriter {
  /** Text between two tags. */
  text(run: string): void;
  /** An opening tag. @returns what to do at its closing tag; `null`: nothing */
  open(role: ElementRole, name: string, attributes: Attributes): (() => void) | null;
  /** The page's Markdown; empty: it has no text. */
  finish(): string;
}

/** An open list. */
interface List {
  /** `-` or `*`, after a number `.` or `)`. */
  readonly mark: string;
  readonly ordered: boolean;
  /** Number of the next item. */
  next: number;
  items: number;
}

interface PageState {
  readonly flow: Flow;
  /** The page's own address. */
  readonly address: URL;
  /** Base of relative links. */
  base: URL;
  hasBase: boolean;
  /** Open lists, the innermost last. */
  lists: List[];
}

/** What to do at the closing tag. */
type Close = () => void;

export function createMarkdownWriter({ base, meter, shape }: MarkdownWriterOptions): MarkdownWriter {
  const flow = createFlow({ meter, shape });
  const page: PageState = { flow, address: base, base, hasBase: false, lists: [] };
  return {
    open: (role, name, attributes) => openElement(page, role, { name, attributes }),
    text: flow.text,
    finish() {
      flow.breakBlock();
      return flow.writer.finish(guardHeading(escapeText(flow.title)));
    },
  };
}

interface Tag {
  readonly name: string;
  readonly attributes: Attributes;
}

/** The opening tag of an element, by its role. A flat table: one case per role. */
function openElement(page: PageState, role: ElementRole, { name, attributes }: Tag): Close | null {
  const { flow } = page;
  switch (role) {
    case 'drop':
    case 'inline':
      return null;
    case 'block':
    case 'section':
    case 'caption':
    case 'term':
      flow.breakBlock();
      return flow.breakBlock;
    case 'heading':
      return openHeading(flow, Number(name[1]));
    case 'region':
      return openRegion(page, name as RegionKind);
    case 'title':
      return openTitle(flow);
    case 'list':
      return openList(page, name, attributes);
    case 'item':
      return openItem(page, attributes);
    case 'definition':
      return openContainer(flow, 'definition', { first: ': ', rest: '  ' });
    case 'quote':
      return openContainer(flow, 'quote', { first: '> ', rest: '> ' });
    case 'pre':
      return openPre(flow, attributes);
    case 'rule':
      addRule(flow);
      return null;
    case 'table':
      return openTable(flow, attributes);
    case 'head':
      return openHead(flow);
    case 'row':
      return openRow(flow);
    case 'cell':
      return openCell(flow, name, attributes);
    case 'code':
      return openCode(flow, attributes);
    case 'strong':
    case 'emphasis':
    case 'strike':
      return openMark(flow, role);
    case 'link':
      return openLink(page, attributes);
    case 'quoted':
      flow.text('"');
      return () => flow.text('"');
    case 'image':
      addImage(page, attributes);
      return null;
    case 'break':
      addBreak(flow);
      return null;
    case 'base':
      setBase(page, attributes);
      return null;
  }
}

/** An `h1` to `h6`; within a heading, a cell or a code block only a space. */
function openHeading(flow: Flow, level: number): Close {
  if (level <= 2) flow.dissolveTables();
  flow.breakBlock();
  if (flow.isFlat()) return flow.breakBlock;
  flow.isHeading = true;
  return () => {
    flow.endCode();
    flow.isHeading = false;
    const line = guardHeading(flow.inline.take());
    if (line !== '') flow.writer.block(`${'#'.repeat(level)} ${line}`, { isTitle: level === 1 });
  };
}

/** A `main` or `article`; its lists are independent of those around it. */
function openRegion(page: PageState, kind: RegionKind): Close {
  const { flow } = page;
  flow.dissolveTables();
  return flow.asBlock(() => {
    const leave = flow.writer.enter(kind);
    if (leave === null) return nothing;
    const before = page.lists;
    page.lists = [];
    return () => {
      page.lists = before;
      leave();
    };
  });
}

/** A list. Its mark differs from that of a list directly before, which would otherwise continue (CommonMark §5.3). */
function openList({ flow, lists }: PageState, name: string, attributes: Attributes): Close {
  const { writer } = flow;
  return flow.asBlock(() => {
    const ordered = name === 'ol';
    const [usual, other] = ordered ? (['.', ')'] as const) : (['-', '*'] as const);
    const mark = writer.listBefore() === usual ? other : usual;
    const next = wholeNumber(attributes['start']) ?? 1;
    // Directly below a line of text only a list that starts with 1 is a list (CommonMark §5.3).
    if (writer.within === 'item' && (!ordered || next === 1)) writer.tighten();
    lists.push({ mark, ordered, next, items: 0 });
    return () => {
      lists.pop();
      writer.listEnded(mark);
    };
  });
}

/** A list item; outside of a list it is an item of `-`. */
function openItem({ flow, lists }: PageState, attributes: Attributes): Close {
  const { writer } = flow;
  return flow.asBlock(() => {
    const list = lists.at(-1) ?? { mark: '-', ordered: false, next: 1, items: 1 };
    if (list.items > 0) writer.tighten();
    // CommonMark §5.2: a number has nine digits at most.
    const number = Math.min(wholeNumber(attributes['value']) ?? list.next, 999_999_999);
    list.items++;
    list.next = number + 1;
    const first = list.ordered ? `${number}${list.mark} ` : `${list.mark} `;
    writer.open('item', first, ' '.repeat(first.length));
    return writer.close;
  });
}

/** A quotation or a definition: blocks with a prefix on each line. */
function openContainer(
  flow: Flow,
  kind: 'quote' | 'definition',
  { first, rest }: { readonly first: string; readonly rest: string },
): Close {
  return flow.asBlock(() => {
    flow.writer.open(kind, first, rest);
    return flow.writer.close;
  });
}

/** A code block; if text is flat, a code span. The fence is longer than any run of backticks in it. */
function openPre(flow: Flow, attributes: Attributes): Close {
  flow.breakBlock();
  if (flow.isFlat()) return openCode(flow, attributes);
  flow.pre = { pieces: [], language: languageOf(attributes) };
  return () => {
    const { pieces, language } = flow.pre!;
    flow.pre = null;
    const text = trimLines(pieces.join('').replaceAll('\r\n', '\n').replaceAll('\r', '\n'));
    const fence = fenceFor(text, 3);
    if (text !== '') flow.writer.block(`${fence}${language}\n${text}\n${fence}`);
  };
}

/** A code span; within a code block only its language matters. */
function openCode(flow: Flow, attributes: Attributes): Close {
  if (flow.pre !== null) {
    if (flow.pre.language === '') flow.pre.language = languageOf(attributes);
    return nothing;
  }
  if (flow.code !== null) return nothing;
  flow.code = '';
  return () => {
    flow.endCode();
    flow.code = null;
  };
}

/** Emphasis or a link; `null` within one of its kind, as Markdown cannot nest them. */
function openMark({ inline }: Flow, kind: Mark['kind'], href = ''): Close | null {
  const mark = inline.open(kind, href);
  return mark === null ? null : () => inline.close(mark);
}

function openLink({ flow, base }: PageState, { href }: Attributes): Close | null {
  const url = linkTo(href, base);
  return url === null ? null : openMark(flow, 'link', url);
}

/** An image with text in `alt`; without it the image is decoration and is dropped. */
function addImage({ flow, base }: PageState, { src, alt = '' }: Attributes): void {
  const text = escapeText(alt);
  if (text !== '' && flow.pre === null && flow.code === null) flow.inline.image(text, imageAt(src, base));
}

/** A `br`: two in a row end the paragraph. */
function addBreak(flow: Flow): void {
  if (flow.pre !== null) flow.pre.pieces.push('\n');
  else if (flow.code !== null) flow.code += ' ';
  else if (flow.isFlat()) flow.inline.space();
  else if (flow.inline.breaking) flow.breakBlock();
  else flow.inline.lineBreak();
}

/** A thematic break: `***`, which no list mark and no heading underline equals. */
function addRule(flow: Flow): void {
  flow.breakBlock();
  if (!flow.isFlat()) flow.writer.block('***');
}

/** The first `base` with an address counts (HTML §4.2.3). */
function setBase(page: PageState, { href }: Attributes): void {
  if (href === undefined || page.hasBase) return;
  page.hasBase = true;
  page.base = baseOf(href, page.address) ?? page.address;
}

/** The first `title`, used as a heading if the page has none. */
function openTitle(flow: Flow): Close {
  flow.inTitle = true;
  return () => {
    flow.inTitle = false;
    flow.hasTitle = true;
  };
}

function nothing(): void {}

/** Removes the line break that HTML ignores at the start (HTML §4.4.3), and blank lines at the end. */
function trimLines(text: string): string {
  const from = text.startsWith('\n') ? 1 : 0;
  return text.slice(from).trimEnd();
}
