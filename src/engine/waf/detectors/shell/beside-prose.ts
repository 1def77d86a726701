/**
 * Finds commands beside prose by what they do (`dangers.ts`): a substitution has an extent of its own, and behind a separator
 * a download from an address is no sentence. What documents commands is left out: code spans of Markdown, substitutions that
 * are arguments of another command, and, where `INJECTED` commands are reported, sentences about commands.
 */
import { isUpper } from '../../octets/latin1.ts';
import { commandKind, isAdministration, isTool, LONGEST_COMMAND, PROGRAM } from './commands.ts';
import {
  type Danger,
  HARMLESS,
  HOSTILE,
  hasAddress,
  isBlank,
  NAMED,
  PROBING,
  readDanger,
  SEVERE,
  TELLING,
} from './dangers.ts';
import { endsReference } from './places.ts';
import { isSource } from './prose.ts';

/** How much text about commands is let pass. */
interface Caution {
  /** Whether words such as `run` and `bash` in the text make it one about commands. */
  readonly words: boolean;
}

const CAREFUL: Caution = { words: true };
const BROAD: Caution = { words: false };

// PERF: one state for all calls, which are synchronous.
const danger: Danger = { rank: 0, end: 0 };

/** Marks at which a command can begin, and what ends it. */
const BRACKETS = ['$(', '<(', '>('] as const;
const SEPARATORS = [';', '&', '|'] as const;

/** The command beside prose in `value`; `broad`: those of less certain kinds, too. */
export function besideProse(value: string, broad: boolean): string | null {
  const caution = broad ? BROAD : CAREFUL;
  const found = inBrackets(value, caution) ?? inTicks(value, caution) ?? behindSeparators(value, caution);
  return found === null || isSource(value) ? null : found;
}

/** The least rank that counts: of a substitution, and beside words about commands. */
function inBrackets(value: string, caution: Caution): string | null {
  for (const mark of BRACKETS) {
    for (let at = value.indexOf(mark); at >= 0; at = value.indexOf(mark, at + 2)) {
      readDanger(value, at + 2, ')', danger);
      const { rank, end } = danger;
      if (rank < (caution.words ? NAMED : TELLING)) continue;
      // A text for which values are filled in: `$(name)`.
      if (rank === TELLING && hasNear(value, at, end, '$(')) continue;
      if (isDocumented(value, at, end, caution) || isInSpan(value, at)) continue;
      return 'substitution of a command';
    }
  }
  return null;
}

/** Whether a substitution in a command line does what lines that people copy do. */
export function isCopied(value: string, from: number, close: string): boolean {
  readDanger(value, from, close, danger);
  return danger.rank < HOSTILE;
}

/** A code span is ordinary unless the command in it has another one inside, or connects to an address. */
function inTicks(value: string, caution: Caution): string | null {
  for (let at = value.indexOf('`'); at >= 0; ) {
    const close = value.indexOf('`', at + 1);
    if (close < 0) return null;
    readDanger(value, at + 1, '`', danger);
    if (isSent(value.slice(at, danger.end), caution) && !isDocumented(value, at, close, caution))
      return 'substitution of a command';
    at = value.indexOf('`', close + 1);
  }
  return null;
}

/** Whether the command that was read last sends what another one prints, or with less caution connects to an address. */
function isSent(text: string, { words }: Caution): boolean {
  return danger.rank === HOSTILE && (text.includes('$(') || (!words && hasAddress(text)));
}

function behindSeparators(value: string, caution: Caution): string | null {
  for (const mark of SEPARATORS) {
    for (let at = value.indexOf(mark); at >= 0; at = value.indexOf(mark, at + 1)) {
      if (mark === ';' ? endsReference(value, at) : isOfQuery(value, at)) continue;
      readDanger(value, value[at + 1] === mark ? at + 2 : at + 1, '', danger);
      const least = caution.words ? (mark === ';' ? SEVERE : PROBING) : NAMED;
      if (danger.rank < least && (caution.words || !isOnly(value, at, danger.rank))) continue;
      // Sentences about commands have separators, and seldom substitutions.
      if (isDocumented(value, at, danger.end, CAREFUL) || isInSpan(value, at)) continue;
      return 'separator and a command';
    }
  }
  return null;
}

/** Whether the ampersand at `at` separates parameters, or a mark stands in a text without blanks. */
function isOfQuery(value: string, at: number): boolean {
  return (
    value[at] === '&' &&
    value[at + 1] !== '&' &&
    value[at - 1] !== '&' &&
    !(isBlank(value, at - 1) && isBlank(value, at + 1))
  );
}

/** Whether the separator at `at` has no blank at either side and is the only one: what is no list. */
function isOnly(value: string, at: number, rank: number): boolean {
  if (rank === HARMLESS || isBlank(value, at - 1) || isBlank(value, at + 1)) return false;
  return !SEPARATORS.some((mark) => hasNear(value, at, at + 1, mark));
}

/** Whether a mark is near, before `from` or behind `to`. */
function hasNear(value: string, from: number, to: number, mark: string): boolean {
  return (
    value.slice(Math.max(0, from - BEFORE), from).includes(mark) ||
    value.slice(to, to + BEFORE).includes(mark)
  );
}

/** Whether a code span is open at `at`. */
function isInSpan(value: string, at: number): boolean {
  let ticks = 0;
  for (let tick = Math.max(0, at - BEFORE); tick < at; tick++) if (value[tick] === '`') ticks++;
  return ticks % 2 === 1 && value.slice(at, at + BEFORE).includes('`');
}

/** Octets before a command and behind it that are searched for what documents commands. */
const BEFORE = 128;
const BEHIND = 64;

/** Words of texts about commands. */
const ABOUT: ReadonlySet<string> = new Set(
  `backtick backticks command commands console echo example execute executes executed expands linux macos output prints
   prompt returns run running runs script scripts shell shells substitution syntax terminal ubuntu unix usage`.split(
    /\s+/,
  ),
);

/** Names of commands that are words of texts, too. */
const ORDINARY: ReadonlySet<string> = new Set(
  'crontab dash diff find head less make man mail nano path service sort source split start test touch type which'.split(
    ' ',
  ),
);

/** Whether the text around a command shows how commands are used. */
function isDocumented(value: string, from: number, to: number, caution: Caution): boolean {
  const words = caution.words || danger.rank < PROBING;
  return (
    hasAbout(value, Math.max(0, from - BEFORE), from, words) ||
    (words && hasAbout(value, to, Math.min(value.length, to + BEHIND), words))
  );
}

/** Whether the name of a command, an assignment, or with `words` a word of `ABOUT` is between two places. */
function hasAbout(value: string, from: number, to: number, words: boolean): boolean {
  let start = from;
  for (let at = from; at <= to; at++) {
    const code = at < to ? value.charCodeAt(at) : 0x20;
    if (isUpper(code & ~32) || code === 0x2d || code === 0x5f || (code >= 0x30 && code < 0x3a)) continue;
    if (code === 0x3d && at > start && isUpper(value.charCodeAt(at - 1)) && at + 2 >= to) return true;
    if (
      at > start &&
      at - start <= LONGEST_COMMAND &&
      isAbout(value.slice(start, at), words && isBlank(value, start - 1))
    )
      return true;
    start = at + 1;
  }
  return false;
}

function isAbout(token: string, words: boolean): boolean {
  if (words && ABOUT.has(token.toLowerCase())) return true;
  if (ORDINARY.has(token)) return false;
  return (
    token === 'sudo' ||
    token === 'export' ||
    token === 'echo' ||
    isTool(token) ||
    isAdministration(token) ||
    commandKind(token, false) === PROGRAM
  );
}
