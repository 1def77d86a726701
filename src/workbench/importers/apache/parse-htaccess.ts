/**
 * Parses a file of Apache httpd: directives with their arguments and sections with their blocks. `<IfModule>` is resolved:
 * modules are assumed to be loaded, so that `!mod` is left out.
 */
import { type ImportRefusal, refusedImport, type SourceFile } from '../report.ts';

/** Sections inside one another at most, so that the walks over a block are bounded. */
const MAX_DEPTH = 32;

/** One directive or section. */
export interface ApacheDirective {
  /** In lower case. */
  readonly name: string;
  readonly args: readonly string[];
  /** Everything after the name, as written. */
  readonly rest: string;
  readonly place: string;
  /** The text of the line. */
  readonly text: string;
  /** The directives of a section; `null`: a directive. */
  readonly block: readonly ApacheDirective[] | null;
}

/** A parsed file, or what is wrong with it. */
export type ParsedApache =
  | { readonly ok: true; readonly directives: readonly ApacheDirective[] }
  | ImportRefusal;

interface OpenSection {
  readonly directive: ApacheDirective;
  readonly block: ApacheDirective[];
}

/** Directives whose arguments are split as mod_rewrite does: a backslash stays, and takes a blank in. */
const REWRITING = ['rewriterule', 'rewritecond'];

/** Parses one file. */
export function parseApache({ name: file, text }: SourceFile): ParsedApache {
  const top: ApacheDirective[] = [];
  const open: OpenSection[] = [];
  for (const { line, number } of logicalLines(text)) {
    const place = `${file}:${number}`;
    if (line === '' || line.startsWith('#')) continue;
    const target = open.at(-1)?.block ?? top;
    const closing = /^<\/\s*([A-Za-z]+)\s*>?$/.exec(line);
    if (closing !== null) {
      const name = closing[1]!.toLowerCase();
      const last = open.pop();
      if (last === undefined || last.directive.name !== name) {
        const meant = last === undefined ? 'no section is open' : `\`<${last.directive.name}>\` is open`;
        return refusedImport(place, `\`${line}\` closes no section: ${meant}`, 'close each section once');
      }
      continue;
    }
    const opening = /^<\s*([A-Za-z]+)\s*(.*?)\s*>$/.exec(line);
    if (line.startsWith('<') && opening === null)
      return refusedImport(place, `\`${line}\` has no \`>\` at its end`, 'write the section on one line');
    if (opening !== null) {
      const block: ApacheDirective[] = [];
      const directive = { ...readDirective(opening[1]!, opening[2]!, place, line), block };
      target.push(directive);
      open.push({ directive, block });
      if (open.length > MAX_DEPTH)
        return refusedImport(place, `sections are more than ${MAX_DEPTH} deep`, 'take sections apart');
      continue;
    }
    const [, written = '', rest = ''] = /^(\S+)\s*(.*)$/s.exec(line) ?? [];
    target.push(readDirective(written, rest, place, line));
  }
  const unclosed = open.at(-1);
  if (unclosed !== undefined) {
    const { place, name } = unclosed.directive;
    return refusedImport(place, `\`<${name}>\` is not closed`, `add \`</${name}>\``);
  }
  return { ok: true, directives: resolveModules(top) };
}

/** Lines, those that end in a backslash joined with the next, by the number of their first. */
function* logicalLines(text: string): Generator<{ readonly line: string; readonly number: number }> {
  let joined = '';
  let first = 0;
  for (const [index, raw] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    if (joined === '') first = index + 1;
    const line = raw.replace(/\0/g, '');
    if (line.endsWith('\\')) {
      joined += line.slice(0, -1);
      continue;
    }
    yield { line: `${joined}${line}`.trim(), number: first };
    joined = '';
  }
  if (joined !== '') yield { line: joined.trim(), number: first };
}

function readDirective(written: string, rest: string, place: string, text: string): ApacheDirective {
  const name = written.toLowerCase();
  const args = words(rest, REWRITING.includes(name));
  return { name, args, rest, place, text, block: null };
}

/**
 * Words with quotes removed. A backslash escapes itself and the quote; `keepsEscapes`: those of mod_rewrite, whose backslashes stay but
 * before the quote.
 */
function words(text: string, keepsEscapes: boolean): readonly string[] {
  const found: string[] = [];
  let at = 0;
  for (;;) {
    while (at < text.length && /\s/.test(text[at]!)) at++;
    if (at >= text.length) return found;
    const quote = text[at] === '"' || text[at] === "'" ? text[at]! : null;
    if (quote !== null) at++;
    let word = '';
    while (at < text.length && (quote === null ? !/\s/.test(text[at]!) : text[at] !== quote)) {
      const isQuote = quote !== null && text[at + 1] === quote;
      const isEscape = keepsEscapes ? at + 1 < text.length : isQuote || text[at + 1] === '\\';
      if (text[at] === '\\' && isEscape) {
        if (keepsEscapes && !isQuote) word += '\\';
        at++;
      }
      word += text[at]!;
      at++;
    }
    if (quote !== null) at++;
    found.push(word);
  }
}

/** The directives without `<IfModule>`, `<IfDefine>` and `<IfVersion>`: their contents, where they hold. */
function resolveModules(directives: readonly ApacheDirective[]): readonly ApacheDirective[] {
  return directives.flatMap((one) => {
    if (one.block === null) return [one];
    const block = resolveModules(one.block);
    const [first = ''] = one.args;
    if (one.name === 'ifmodule') return first.startsWith('!') ? [] : block;
    // Nothing is defined on a command line that is not known.
    if (one.name === 'ifdefine') return first.startsWith('!') ? block : [];
    if (one.name === 'ifversion') return holdsVersion(one.args) ? block : [];
    return [{ ...one, block }];
  });
}

/** Whether a test of the version holds for 2.4. */
function holdsVersion(args: readonly string[]): boolean {
  const [first = '', second] = args;
  const isNegated = first.startsWith('!');
  const operator = second === undefined ? '=' : first.replace(/^!/, '');
  const wanted = (second ?? first).replace(/^!/, '').split('.').map(Number);
  const [major = 0, minor = 4, patch] = wanted;
  const order = Math.sign((2 - major) * 1_000 + 4 - minor) || (patch === undefined ? 0 : 1);
  const holds =
    {
      '=': order === 0,
      '==': order === 0,
      '>': order > 0,
      '>=': order >= 0,
      '<': order < 0,
      '<=': order <= 0,
    }[operator] ?? true;
  return holds !== isNegated;
}
