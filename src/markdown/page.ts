/** What opening and closing each kind of element does to the page's Markdown. */
import { type Attributes, type ElementRole, isLayout, languageOf, spanOf, wholeNumber } from './elements.ts';
import { escapeText, fenceFor, guardHeading } from './escape.ts';
import { createFlow } from './flow.ts';
import type { Mark } from './inline.ts';
import { baseOf, imageAt, linkTo } from './links.ts';
import type { OutputMeter } from './meter.ts';
import { addCell, createTable, endRow, writeTable } from './table.ts';
import type { RegionKind } from './writer.ts';

export interface MarkdownWriterOptions {
  /** What links are read against, until the page says otherwise. */
  readonly base: URL;
  /** For lines as they grow, and for what is written of them. */
  readonly meter: OutputMeter;
  readonly shape: OutputMeter;
}

export interface MarkdownWriter {
  /** Text between two tags. */
  text(run: string): void;
  /** What to do at the element's end; `null`: nothing. */
  open(role: ElementRole, name: string, attributes: Attributes): (() => void) | null;
  /** The page's Markdown; empty: it has no text. */
  finish(): string;
}

interface List {
  readonly mark: string;
  readonly ordered: boolean;
  next: number;
  items: number;
}

export function createMarkdownWriter({ base: address, meter, shape }: MarkdownWriterOptions): MarkdownWriter {
  const flow = createFlow({ meter, shape });
  const { writer, inline, tables, isFlat, table, endCode, breakBlock, dissolveTables, standing } = flow;
  let lists: List[] = [];
  let base = address;
  let hasBase = false;

  function openHeading(level: number): () => void {
    if (level <= 2) dissolveTables();
    breakBlock();
    if (isFlat()) return breakBlock;
    flow.isHeading = true;
    return () => {
      endCode();
      flow.isHeading = false;
      const line = guardHeading(inline.take());
      if (line !== '') writer.block(`${'#'.repeat(level)} ${line}`, { isTitle: level === 1 });
    };
  }

  function openRegion(kind: RegionKind): () => void {
    dissolveTables();
    return standing(() => {
      const leave = writer.enter(kind);
      if (leave === null) return () => undefined;
      const before = lists;
      lists = [];
      return () => {
        lists = before;
        leave();
      };
    });
  }

  function openList(name: string, attributes: Attributes): () => void {
    return standing(() => {
      const ordered = name === 'ol';
      const [usual, other] = ordered ? (['.', ')'] as const) : (['-', '*'] as const);
      const mark = writer.listBefore() === usual ? other : usual;
      const next = wholeNumber(attributes['start']) ?? 1;
      // Only a list that begins with 1 is seen directly below a line of text (CommonMark §5.3).
      if (writer.within === 'item' && (!ordered || next === 1)) writer.tighten();
      lists.push({ mark, ordered, next, items: 0 });
      return () => {
        lists.pop();
        writer.listEnded(mark);
      };
    });
  }

  function openItem(attributes: Attributes): () => void {
    return standing(() => {
      const list = lists.at(-1) ?? { mark: '-', ordered: false, next: 1, items: 1 };
      if (list.items > 0) writer.tighten();
      const number = Math.min(wholeNumber(attributes['value']) ?? list.next, 999_999_999);
      list.items++;
      list.next = number + 1;
      const first = list.ordered ? `${number}${list.mark} ` : `${list.mark} `;
      writer.open('item', first, ' '.repeat(first.length));
      return writer.close;
    });
  }

  function openPre(attributes: Attributes): () => void {
    breakBlock();
    if (isFlat()) return openCode(attributes);
    flow.pre = { pieces: [], language: languageOf(attributes) };
    return () => {
      const { pieces, language } = flow.pre!;
      flow.pre = null;
      const text = trimLines(pieces.join('').replaceAll('\r\n', '\n').replaceAll('\r', '\n'));
      const fence = fenceFor(text, 3);
      if (text !== '') writer.block(`${fence}${language}\n${text}\n${fence}`);
    };
  }

  function openCode(attributes: Attributes): () => void {
    if (flow.pre !== null) {
      if (flow.pre.language === '') flow.pre.language = languageOf(attributes);
      return nothing;
    }
    if (flow.code !== null) return nothing;
    flow.code = '';
    return () => {
      endCode();
      flow.code = null;
    };
  }

  function openMark(kind: Mark['kind'], href = ''): (() => void) | null {
    const mark = inline.open(kind, href);
    return mark === null ? null : () => inline.close(mark);
  }

  function openLink({ href }: Attributes): (() => void) | null {
    const url = linkTo(href, base);
    return url === null ? null : openMark('link', url);
  }

  function openTable(attributes: Attributes): () => void {
    dissolveTables();
    breakBlock();
    if (isFlat()) return breakBlock;
    const own = createTable(isLayout(attributes));
    tables.push(own);
    return () => {
      breakBlock();
      if (!own.layout) own.captions.push(inline.take());
      tables.pop();
      if (!own.layout) writeTable(own, writer);
    };
  }

  function openCell(name: string, attributes: Attributes): () => void {
    const own = table();
    if (own === null || flow.isHeading || flow.pre !== null) {
      breakBlock();
      return breakBlock;
    }
    endCode();
    own.captions.push(inline.take());
    return () => {
      if (own.layout) return breakBlock();
      endCode();
      addCell(own, { text: inline.take(), head: name === 'th', span: spanOf(attributes) });
    };
  }

  function openRow(): () => void {
    breakBlock();
    const own = table();
    if (own !== null) endRow(own);
    return () => {
      breakBlock();
      if (own !== null) endRow(own);
    };
  }

  function openHead(): () => void {
    breakBlock();
    const own = table();
    if (own !== null) own.inHead = true;
    return () => {
      if (own !== null) own.inHead = false;
      breakBlock();
    };
  }

  function addImage({ src, alt = '' }: Attributes): void {
    const text = escapeText(alt);
    if (text !== '' && flow.pre === null && flow.code === null) inline.image(text, imageAt(src, base));
  }

  function addBreak(): void {
    if (flow.pre !== null) flow.pre.pieces.push('\n');
    else if (flow.code !== null) flow.code += ' ';
    else if (isFlat()) inline.space();
    else if (inline.breaking) breakBlock();
    else inline.lineBreak();
  }

  function addRule(): void {
    breakBlock();
    if (!isFlat()) writer.block('***');
  }

  /** The first one counts (HTML, "the base element"). */
  function setBase({ href }: Attributes): void {
    if (href === undefined || hasBase) return;
    hasBase = true;
    base = baseOf(href, address) ?? address;
  }

  function openTitle(): () => void {
    flow.inTitle = true;
    return () => {
      flow.inTitle = false;
      flow.hasTitle = true;
    };
  }

  function open(role: ElementRole, name: string, attributes: Attributes): (() => void) | null {
    switch (role) {
      case 'drop':
      case 'inline':
        return null;
      case 'block':
      case 'section':
      case 'caption':
      case 'term':
        breakBlock();
        return breakBlock;
      case 'heading':
        return openHeading(Number(name[1]));
      case 'region':
        return openRegion(name as RegionKind);
      case 'title':
        return openTitle();
      case 'list':
        return openList(name, attributes);
      case 'item':
        return openItem(attributes);
      case 'definition':
        return standing(() => {
          writer.open('definition', ': ', '  ');
          return writer.close;
        });
      case 'quote':
        return standing(() => {
          writer.open('quote', '> ', '> ');
          return writer.close;
        });
      case 'pre':
        return openPre(attributes);
      case 'rule':
        addRule();
        return null;
      case 'table':
        return openTable(attributes);
      case 'head':
        return openHead();
      case 'row':
        return openRow();
      case 'cell':
        return openCell(name, attributes);
      case 'code':
        return openCode(attributes);
      case 'strong':
      case 'emphasis':
      case 'strike':
        return openMark(role);
      case 'link':
        return openLink(attributes);
      case 'quoted':
        flow.text('"');
        return () => flow.text('"');
      case 'image':
        addImage(attributes);
        return null;
      case 'break':
        addBreak();
        return null;
      case 'base':
        setBase(attributes);
        return null;
    }
  }

  return {
    open,
    text: flow.text,
    finish() {
      breakBlock();
      return writer.finish(guardHeading(escapeText(flow.title)));
    },
  };
}

function nothing(): void {}

/** Without the line break that HTML leaves out at the beginning, and blank lines at the end. */
function trimLines(text: string): string {
  const from = text.startsWith('\n') ? 1 : 0;
  return text.slice(from).trimEnd();
}
