/**
 * Parses YAML so that a comment belongs to what follows it at its own indentation. The parser attaches every comment after
 * the last entry of a nested list to that list when the first of them is indented like the list; `split` gives those with a
 * lower indentation to the next entry of the list or mapping around it.
 */
import { Composer, type CST, type Document, Parser } from 'yaml';
import { assert } from '../../base/diagnostics/assert.ts';

type Block = CST.BlockMap | CST.BlockSequence;
type Entry = Block['items'][number];

/** Parses a text that is YAML without errors. */
export function parseWithComments(
  text: string,
  options: ConstructorParameters<typeof Composer>[0],
): Document {
  const tokens = [...new Parser().parse(text)];
  for (const token of tokens) if (token.type === 'document') splitIn(token.value);
  const [document] = [...new Composer(options).compose(tokens, true, text.length)];
  assert(document !== undefined, 'a text has one document');
  return document;
}

/** Whether a token is a list or mapping in block style. */
function isBlock(token: CST.Token | null | undefined): token is Block {
  return token?.type === 'block-map' || token?.type === 'block-seq';
}

/** Splits the comments at the end of every list and mapping below a token, the innermost first. */
function splitIn(token: CST.Token | undefined): void {
  if (!isBlock(token)) return;
  const items: Entry[] = token.items;
  for (let index = 0; index < items.length; index++) {
    const { value } = items[index]!;
    splitIn(value);
    if (!isBlock(value)) continue;
    const tail = takeTail(value);
    if (tail.length === 0) continue;
    const next = items[index + 1];
    if (next === undefined) items.push({ start: tail });
    else next.start = [...tail, ...next.start];
  }
}

/** Removes the comments at the end of a list or mapping that are indented less than it, with the blank lines above them. */
function takeTail(block: Block): CST.SourceToken[] {
  const last: Entry | undefined = block.items.at(-1);
  if (last === undefined || last.value !== undefined || last.sep !== undefined || 'key' in last) return [];
  const { start } = last;
  const first = start.findIndex((token) => token.type === 'comment' && token.indent < block.indent);
  if (first < 0) return [];
  let from = first;
  if (start[from - 1]?.type === 'space') from--;
  // The first line break ends the comment before.
  while (start[from - 1]?.type === 'newline' && start[from - 2]?.type === 'newline') from--;
  return start.splice(from);
}
