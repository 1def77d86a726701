/** Parses the operands of `simulate`: URLs, each with a method before it if any, or pasted curl command lines. */
import { existsSync, statSync } from 'node:fs';
import { type CurlRequest, isCurlLine, readCurl } from '../../workbench/simulation/curl-line.ts';
import { usageFault } from '../exit.ts';
import { orUsageFault } from './conditions.ts';

/** One request that the operands name. */
export interface UrlWords {
  readonly url: string;
  /** The method in front of the URL: `DELETE https://…`; or the options of a curl line. */
  readonly flags: CurlRequest['flags'];
}

/** Whether a file of this name exists. */
function isFile(name: string): boolean {
  return existsSync(name) && statSync(name).isFile();
}

/** Whether an operand is a file name in place of a URL, such as `edge.yaml`. */
function isFileName(text: string): boolean {
  return !text.includes('://') && (/^[^/?#]+\.(?:ya?ml|json|edgeplan)$/.test(text) || isFile(text));
}

/** Methods that are recognised in lower case, and without a URL after them. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Whether an operand is a method. @throws CommandFault with exit code 2 for one in lower case */
function isMethod(word: string, next: string | undefined): boolean {
  if (METHODS.includes(word)) return true;
  const upper = word.toUpperCase();
  if (next !== undefined && METHODS.includes(upper))
    throw usageFault(`\`${word}\` is not a method`, `methods are case-sensitive; write ${upper}`);
  return next !== undefined && /^[A-Z]+$/.test(word);
}

/** The requests of a curl command line. */
function ofCurl(line: string): readonly UrlWords[] {
  const { urls, flags } = orUsageFault(readCurl(line));
  return urls.map((url) => ({ url, flags }));
}

/** Parses the operands; there is at least one request. @throws CommandFault with exit code 2 */
export function readUrlWords(words: readonly string[]): readonly UrlWords[] {
  // `curl` in front of words that commander has read.
  const operands = words[0] === 'curl' ? words.slice(1) : words;
  const file = operands.find(isFileName);
  if (file !== undefined) {
    const remedy = `name the file with -f: edgeplan simulate -f ${file} https://example.com/path`;
    throw usageFault(`\`${file}\` is a file${isFile(file) ? '' : ' name'}, not a URL`, remedy);
  }
  const found: UrlWords[] = [];
  for (let at = 0; at < operands.length; at++) {
    const word = operands[at]!;
    const next = operands[at + 1];
    if (isCurlLine(word)) found.push(...ofCurl(word));
    else if (isMethod(word, next)) {
      if (next === undefined) throw usageFault(`there is no URL after the method \`${word}\``);
      found.push({ url: next, flags: { method: word } });
      at += 1;
    } else found.push({ url: word, flags: {} });
  }
  if (found.length === 0)
    throw usageFault('no URL was given', 'try: edgeplan simulate https://example.com/path');
  return found;
}
