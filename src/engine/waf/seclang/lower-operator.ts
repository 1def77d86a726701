/** Lowers operators: parses their arguments and reads their data files. */
import { parseIpEntry } from '../../../base/addresses/ip.ts';
import {
  WAF_NUMBER_OPERATORS,
  WAF_PLAIN_OPERATORS,
  WAF_TEXT_OPERATORS,
  type WafOperator,
} from '../../plan/signature-program.ts';
import type { DirectivePlace, DraftOperator, WrittenOperator } from './draft.ts';
import { literalText, type OwnNames, readText } from './lower-targets.ts';
import type { SecLangFinding } from './source.ts';

/** What an operator needs besides its text. */
export interface OperatorContext {
  /** The place of the directive; data files are resolved against its file. */
  readonly place: DirectivePlace;
  /** The macros of the rule's own properties. */
  readonly own: OwnNames;
  /** `SignatureOptions.readData`. */
  readonly readData: (file: string, from: string) => string | null;
}

/** An operator and its errors. */
export interface LoweredOperator {
  readonly operator: DraftOperator;
  /** Errors in any case. */
  readonly findings: readonly SecLangFinding[];
  /** What is an error only if the rule remains in the program. */
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

/** By name in lower case, the kind of operators with a text argument or none. */
const KINDS = new Map(
  [...WAF_NUMBER_OPERATORS, ...WAF_TEXT_OPERATORS, ...WAF_PLAIN_OPERATORS].map((kind) => [
    kind.toLowerCase(),
    kind,
  ]),
);
/** The operators without argument. */
const PLAIN: ReadonlySet<string> = new Set(WAF_PLAIN_OPERATORS);

/** The operator in place of one with an error. */
const NO_MATCH: DraftOperator = { kind: 'noMatch' };

/** Lowers an operator. */
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

/** An operator without errors. */
function fine(operator: DraftOperator): LoweredOperator {
  return { operator, findings: [], unsupported: [] };
}

/** An operator with an error. */
function wrong(finding: SecLangFinding): LoweredOperator {
  return { operator: NO_MATCH, findings: [finding], unsupported: [] };
}

/** Lowers an operator with a text argument or none. */
function lowerNamed(written: WrittenOperator, { own }: OperatorContext): LoweredOperator {
  const name = written.name.toLowerCase();
  if (UNSUPPORTED.has(name)) {
    const remedy = 'take the rule out of the text';
    const finding = { message: 'this operator is not supported', found: `@${written.name}`, remedy };
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

/** Lowers `@rx`. Only a macro that names a variable is one: `%{3}` is a percent sign with a quantifier. */
function lowerRx(source: string, own: OwnNames): LoweredOperator {
  const { text, findings } = readText(source, own);
  return fine({ kind: 'rx', text: findings.length === 0 ? text : literalText(source) });
}

/** Splits the phrases of `@pm` at white space and decodes `|41 42|`, octets in hexadecimal. */
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

/** Lowers phrases to a sorted list without duplicates, in lower case. */
function lowerPhrases(written: readonly string[], found: string): LoweredOperator {
  const lowered = written.filter((phrase) => phrase !== '').map(lowerAscii);
  if (lowered.length === 0) return wrong({ message: 'no phrase is given', found });
  return fine({ kind: 'pm', phrases: [...new Set(lowered)].sort() });
}

/** Converts ASCII letters to lower case; other octets stay. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Lowers the lines of data files, without comments and empty lines. */
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
        message: 'the data file does not exist',
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

/** Lowers addresses and prefixes to prefixes. */
function lowerAddresses(entries: readonly string[]): LoweredOperator {
  const prefixes: string[] = [];
  const findings: SecLangFinding[] = [];
  for (const entry of entries.map((one) => one.trim()).filter((one) => one !== '')) {
    const read = parseIpEntry(entry);
    if (!read.ok) findings.push({ message: read.reason, found: entry });
    else if (entry.includes('/')) prefixes.push(read.canonical);
    else if (entry.includes('-'))
      findings.push({ message: 'a range is not a prefix', found: entry, remedy: 'write prefixes' });
    else prefixes.push(`${read.canonical}/${read.family === 4 ? 32 : 128}`);
  }
  if (prefixes.length === 0 && findings.length === 0) findings.push({ message: 'no address is given' });
  return { operator: { kind: 'ipMatch', prefixes }, findings, unsupported: [] };
}

/** Lowers `@validateByteRange`: `9,10,32-126` to 256 flags. */
function lowerByteRange(text: string): LoweredOperator {
  const allowed = new Array<boolean>(256).fill(false);
  for (const piece of text.split(',')) {
    const range = /^\s*(\d{1,3})(?:\s*-\s*(\d{1,3}))?\s*$/.exec(piece);
    const from = Number(range?.[1] ?? 256);
    const to = Number(range?.[2] ?? from);
    if (range === null || from > to || to > 255) {
      const remedy = 'write octets from 0 to 255, such as `9,10,32-126`';
      return wrong({ message: 'this is not a range of octets', found: piece, remedy });
    }
    allowed.fill(true, from, to + 1);
  }
  return fine({ kind: 'validateByteRange', allowed });
}
