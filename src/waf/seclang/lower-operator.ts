/** Operators as written → operators of a draft. */
import { parseIpEntry } from '../../base/ip.ts';
import {
  WAF_NUMBER_OPERATORS,
  WAF_PLAIN_OPERATORS,
  WAF_TEXT_OPERATORS,
  type WafOperator,
} from '../../plan/signature-program.ts';
import type { DirectivePlace, WrittenOperator } from './directives.ts';
import type { DraftOperator } from './draft.ts';
import { literalText, type OwnNames, readText } from './read-text.ts';
import type { SecLangFinding } from './source.ts';

export interface OperatorContext {
  readonly place: DirectivePlace;
  readonly own: OwnNames;
  /** A data file's text as Latin-1; `null`: there is none. `from` is the file that names it. */
  readonly readData: (file: string, from: string) => string | null;
}

export interface LoweredOperator {
  readonly operator: DraftOperator;
  readonly findings: readonly SecLangFinding[];
  readonly unsupported: readonly SecLangFinding[];
}

/** ModSecurity's operators that need what an edge does not have: databases, the network, the file system. */
const UNSUPPORTED: ReadonlySet<string> = new Set(
  [
    'fuzzyHash',
    'geoLookup',
    'gsbLookup',
    'inspectFile',
    'rbl',
    'rsub',
    'rxGlobal',
    'validateDTD',
    'validateHash',
    'validateSchema',
    'verifyCC',
    'verifyCPF',
    'verifySSN',
    'verifySVNR',
  ].map((name) => name.toLowerCase()),
);

const KINDS = new Map(
  [...WAF_NUMBER_OPERATORS, ...WAF_TEXT_OPERATORS, ...WAF_PLAIN_OPERATORS].map((kind) => [
    kind.toLowerCase(),
    kind,
  ]),
);
const PLAIN: ReadonlySet<string> = new Set(WAF_PLAIN_OPERATORS);

const NO_MATCH: DraftOperator = { kind: 'noMatch' };

/** Resolves an operator. */
export function lowerOperator(written: WrittenOperator, context: OperatorContext): LoweredOperator {
  const name = written.name.toLowerCase();
  const argument = written.argument;
  const trimmed = argument.trim();
  switch (name) {
    case 'rx':
      return lowerRx(argument, context.own);
    case 'pm':
      return lowerPhrases(splitPhrases(trimmed), argument);
    case 'pmf':
    case 'pmfromfile':
      return lowerFiles(trimmed, context, (lines) => lowerPhrases(lines, trimmed));
    case 'ipmatch':
      return lowerAddresses(trimmed.split(','));
    case 'ipmatchf':
    case 'ipmatchfromfile':
      return lowerFiles(trimmed, context, lowerAddresses);
    case 'validatebyterange':
      return lowerByteRange(trimmed);
    default:
      return lowerNamed(written, context);
  }
}

function fine(operator: DraftOperator): LoweredOperator {
  return { operator, findings: [], unsupported: [] };
}

function wrong(finding: SecLangFinding): LoweredOperator {
  return { operator: NO_MATCH, findings: [finding], unsupported: [] };
}

function lowerNamed(written: WrittenOperator, { own }: OperatorContext): LoweredOperator {
  const name = written.name.toLowerCase();
  if (UNSUPPORTED.has(name)) {
    const remedy = 'take the rule out of the text';
    const finding = { message: 'this operator cannot run here', found: `@${written.name}`, remedy };
    return { operator: NO_MATCH, findings: [], unsupported: [finding] };
  }
  const kind = KINDS.get(name);
  if (kind === undefined) {
    return wrong({
      message: 'SecLang has no operator of this name',
      found: `@${written.name}`,
      remedy: 'a pattern that starts with `@` is written `@rx @…`',
    });
  }
  if (PLAIN.has(kind)) return fine({ kind } as WafOperator as DraftOperator);
  const { text, findings } = readText(written.argument.trim(), own);
  return { operator: { kind, value: text } as DraftOperator, findings: [], unsupported: findings };
}

/** `%{3}` counts a per cent sign; only what names a variable is a macro. */
function lowerRx(source: string, own: OwnNames): LoweredOperator {
  const { text, findings } = readText(source, own);
  return fine({ kind: 'rx', text: findings.length === 0 ? text : literalText(source) });
}

/** Splits phrases at spaces and decodes `|41 42|`, octets in hexadecimal. */
function splitPhrases(text: string): readonly string[] {
  const phrases: string[] = [];
  let phrase = '';
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    const hex = character === '|' ? /^\|((?:\s*[0-9a-f]{2})+\s*)\|/i.exec(text.slice(at)) : null;
    if (hex !== null) {
      const pairs = hex[1]!.replaceAll(/\s/g, '').match(/../g)!;
      phrase += pairs.map((pair) => String.fromCharCode(Number.parseInt(pair, 16))).join('');
      at += hex[0].length - 1;
    } else if (/\s/.test(character)) {
      phrases.push(phrase);
      phrase = '';
    } else {
      phrase += character;
    }
  }
  return [...phrases, phrase];
}

function lowerPhrases(written: readonly string[], found: string): LoweredOperator {
  const lowered = written.filter((phrase) => phrase !== '').map(lowerAscii);
  if (lowered.length === 0) return wrong({ message: 'no phrase is given', found });
  return fine({ kind: 'pm', phrases: [...new Set(lowered)].sort() });
}

/** ASCII letters to lower case; other octets are left. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The lines of the data files, without comments and empty ones. */
function lowerFiles(
  names: string,
  { readData, place }: OperatorContext,
  lower: (lines: readonly string[]) => LoweredOperator,
): LoweredOperator {
  const lines: string[] = [];
  for (const name of names.split(/\s+/)) {
    const text = readData(name, place.file);
    if (text === null) {
      return wrong({
        message: 'the data file is not there',
        found: name,
        remedy: 'put it beside the file that names it',
      });
    }
    for (const line of text.split(/\r?\n/)) {
      const content = line.trim();
      if (content !== '' && !content.startsWith('#')) lines.push(content);
    }
  }
  if (lines.length === 0) return wrong({ message: 'the data file holds no entry', found: names });
  return lower(lines);
}

function lowerAddresses(entries: readonly string[]): LoweredOperator {
  const prefixes: string[] = [];
  const findings: SecLangFinding[] = [];
  for (const entry of entries.map((one) => one.trim()).filter((one) => one !== '')) {
    const read = parseIpEntry(entry);
    if (!read.ok) findings.push({ message: read.reason, found: entry });
    else if (entry.includes('/')) prefixes.push(read.canonical);
    else if (entry.includes('-'))
      findings.push({ message: 'a range is no prefix', found: entry, remedy: 'write prefixes' });
    else prefixes.push(`${read.canonical}/${read.family === 4 ? 32 : 128}`);
  }
  if (prefixes.length === 0 && findings.length === 0) findings.push({ message: 'no address is given' });
  return { operator: { kind: 'ipMatch', prefixes }, findings, unsupported: [] };
}

function lowerByteRange(text: string): LoweredOperator {
  const allowed = new Array<boolean>(256).fill(false);
  for (const piece of text.split(',')) {
    const range = /^\s*(\d{1,3})(?:\s*-\s*(\d{1,3}))?\s*$/.exec(piece);
    const from = Number(range?.[1] ?? 256);
    const to = Number(range?.[2] ?? from);
    if (range === null || from > to || to > 255) {
      const remedy = 'write octets from 0 to 255, such as `9,10,32-126`';
      return wrong({ message: 'this is no range of octets', found: piece, remedy });
    }
    allowed.fill(true, from, to + 1);
  }
  return fine({ kind: 'validateByteRange', allowed });
}
