/**
 * Formats the text of an edge file or a test file. The result has the same values and the same comments, and formatting it
 * again changes nothing.
 */
import { Lexer } from 'yaml';
import { assert } from '../../base/diagnostics/assert.ts';
import type { Diagnostic } from '../../base/diagnostics/diagnostic.ts';
import { layOutText } from './layout.ts';
import { FILE_ORDERS, same } from './print-edge.ts';
import { readYaml } from './yaml.ts';

/** The formatted text, or the diagnostics of a file that is left as it is. */
export type FormattedFile =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** Passes until the text no longer changes: one lays out, the next normalises the quotes that it added. */
const MOST_PASSES = 6;

/** Formats a text that is YAML without errors; its meaning is not checked. `name` is the file in diagnostics. */
export function formatFile(text: string, name: string): FormattedFile {
  const before = readYaml(text, name);
  if (!before.ok) return { ok: false, diagnostics: before.diagnostics };
  let formatted = layOutText(text, FILE_ORDERS);
  for (let pass = 1; pass < MOST_PASSES; pass++) {
    const again = layOutText(formatted, FILE_ORDERS);
    if (again === formatted) break;
    formatted = again;
  }
  const lost = lostComment(text, formatted);
  if (lost !== null) return { ok: false, diagnostics: [misplaced(text, lost, name)] };
  const after = readYaml(formatted, name);
  // A comment is the only thing that the layout can displace; values that differ are a mistake of the layout.
  assert(after.ok && same(before.value, after.value), 'formatting does not change a value');
  return { ok: true, text: formatted };
}

/** A comment of a text. */
interface Comment {
  /** Without the space around it. */
  readonly text: string;
  readonly offset: number;
}

/** Tokens of the lexer that are not part of the text: start of a document, end of a flow collection, start of a scalar. */
const MARKS = ['\u0002', '\u0018', '\u001f'];

/** The comments of a text, in its order. */
function commentsOf(text: string): readonly Comment[] {
  const comments: Comment[] = [];
  let offset = 0;
  let previous = '';
  for (const token of new Lexer().lex(text)) {
    // A plain or block scalar, before which the lexer puts U+001F, may start with `#`.
    if (token.startsWith('#') && previous !== '\u001f')
      comments.push({ text: token.slice(1).trim(), offset });
    if (!MARKS.includes(token)) offset += token.length;
    previous = token;
  }
  return comments.filter((comment) => comment.text !== '');
}

/** A comment that the formatted text does not have; `null`: it has all. */
function lostComment(before: string, after: string): Comment | null {
  const counts = new Map<string, number>();
  for (const { text } of commentsOf(after)) counts.set(text, (counts.get(text) ?? 0) + 1);
  for (const comment of commentsOf(before)) {
    const left = counts.get(comment.text) ?? 0;
    if (left === 0) return comment;
    counts.set(comment.text, left - 1);
  }
  return null;
}

/** The diagnostic for a comment that would be lost. */
function misplaced(text: string, { offset }: Comment, file: string): Diagnostic {
  const before = text.slice(0, offset).split(/\r\n|\n|\r/);
  return {
    code: 'comment_place',
    severity: 'error',
    path: [],
    message: 'the comment has no place in the formatted file',
    remedy: 'put it on a line of its own, above what it is about',
    at: { file, line: before.length, column: before.at(-1)!.length + 1 },
  };
}
