/**
 * Text that a person wrote, for letters: paragraphs, lists and excerpts keep their lines. In: any text. Out: blocks of clean
 * lines, which `render.ts` and the feed show.
 */

/** A paragraph or an excerpt. */
export interface WrittenBlock {
  /** `prose`: its lines may be wrapped; `excerpt`: they have a fixed width and stay as they are. */
  readonly kind: 'prose' | 'excerpt';
  readonly lines: readonly string[];
}

/** A line that begins or ends an excerpt (CommonMark §4.5, fenced code blocks). */
const FENCE = /^ {0,3}```/;
/** The indent that makes a line an excerpt (CommonMark §4.4, indented code blocks). */
const INDENT = '    ';

/**
 * One line of others, with its blanks: control characters and the marks that turn the direction of text become spaces, so
 * that the line stays one line and reads in its own order.
 */
export function cleanLine(text: string): string {
  return text
    .replaceAll('\t', INDENT)
    .replaceAll(/[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/gu, ' ')
    .trimEnd();
}

/** A block whose lines are still being read. */
interface OpenBlock {
  kind: WrittenBlock['kind'];
  readonly lines: string[];
}

/**
 * Reads a text. An excerpt is between fences, or indented by four blanks outside of a list, or a table by blanks; a blank line
 * ends a block.
 */
export function readWritten(text: string): readonly WrittenBlock[] {
  const blocks: OpenBlock[] = [];
  let fenced = false;
  let last: OpenBlock | null = null;
  for (const line of text.split(/\r\n|[\n\r\u2028\u2029]/).map(cleanLine)) {
    const isFence = FENCE.test(line);
    if (isFence) fenced = !fenced;
    if (isFence || (line === '' && !fenced)) {
      last = null;
      continue;
    }
    // An indented line that continues a paragraph or an item of a list is a part of it.
    const isExcerpt: boolean = fenced || (last?.kind !== 'prose' && line.startsWith(INDENT));
    const kind = isExcerpt ? 'excerpt' : 'prose';
    const block: OpenBlock = last?.kind === kind ? last : { kind, lines: [] };
    if (block !== last) blocks.push(block);
    block.lines.push(line);
    last = block;
  }
  return blocks.map(({ kind, lines }) => ({ kind: isTable(lines) ? 'excerpt' : kind, lines }));
}

/** Whether all lines have columns: blanks in a row between their words. */
function isTable(lines: readonly string[]): boolean {
  return lines.length > 1 && lines.every((line) => line.trim().includes('  '));
}
