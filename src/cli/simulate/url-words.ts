/** Parses the operands of `simulate`: a URL, `GET <url>`, or a pasted curl command line. */
import { existsSync, statSync } from 'node:fs';
import { usageFault } from '../exit.ts';

/** The parsed operands. */
export interface UrlWords {
  readonly url: string;
  /** `GET https://…`: the word in front of the URL. */
  readonly method?: string;
}

/** Whether a file of this name exists. */
function isFile(name: string): boolean {
  return existsSync(name) && statSync(name).isFile();
}

/** Whether an operand is a file name in place of a URL, such as `edge.yaml`. */
function isFileName(text: string): boolean {
  return !text.includes('://') && (/^[^/?#]+\.(?:ya?ml|edgeplan)$/.test(text) || isFile(text));
}

/** Parses the operands. @throws CommandFault with exit code 2 */
export function readUrlWords(words: readonly string[]): UrlWords {
  const operands = words[0] === 'curl' ? words.slice(1) : words;
  const [word = ''] = operands;
  const method = operands.length > 1 && /^[A-Z]+$/.test(word) ? { method: word } : null;
  const [url, ...more] = method === null ? operands : operands.slice(1);
  if (url === undefined) {
    throw usageFault('no URL was given', 'try: edgeplan simulate https://example.com/path');
  }
  const file = isFileName(url) ? url : more.find(isFileName);
  if (file !== undefined) {
    const remedy = `name the file with -f: edgeplan simulate -f ${file} https://example.com/path`;
    throw usageFault(`\`${file}\` is a file, not a URL`, remedy);
  }
  if (more.length > 0) throw usageFault(`one URL at a time; \`${more[0]}\` is a second one`);
  return { url, ...method };
}
