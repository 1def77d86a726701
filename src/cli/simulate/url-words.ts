/** Reads the operands of `simulate`: a URL, `GET <url>`, or a pasted curl command line. */
import { existsSync, statSync } from 'node:fs';
import { usageFault } from '../exit.ts';

export interface UrlWords {
  readonly url: string;
  /** `GET https://…`: the word in front of the URL. */
  readonly method?: string;
}

function isFile(name: string): boolean {
  return existsSync(name) && statSync(name).isFile();
}

/** `edge.yaml` where a URL belongs; a host of that name, or one with such a path, is not meant. */
function isFileName(text: string): boolean {
  return !text.includes('://') && (/^[^/?#]+\.(?:ya?ml|edgeplan)$/.test(text) || isFile(text));
}

export function readUrlWords(words: readonly string[]): UrlWords {
  const said = words[0] === 'curl' ? words.slice(1) : words;
  const [word = ''] = said;
  const method = said.length > 1 && /^[A-Z]+$/.test(word) ? { method: word } : null;
  const [url, ...more] = method === null ? said : said.slice(1);
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
