/** What refuses requests in a Fastly service: response objects, and the `error` statements of custom VCL. */
import { type AddressSet, readAddresses, subtractAddresses, uniteAddresses } from '../addresses.ts';
import {
  addEntry,
  answerWith,
  type DraftEntry,
  type ImportDraft,
  markDifference,
  markMissing,
  markOpened,
  tryDrop,
} from '../draft.ts';
import type { ImportedFilter } from '../filter.ts';
import { addGuard } from '../guard.ts';
import { numberAt, objectsAt, type SourceFields, textAt } from '../json-source.ts';
import { type FastlyNames, readStatement } from './read-statement.ts';

/** The state of one import. */
export interface FastlyImport extends FastlyNames {
  readonly draft: ImportDraft;
  /** Statements and priorities of conditions, by name. */
  readonly conditions: ReadonlyMap<string, SourceFields>;
  readonly hosts: readonly string[];
  readonly forcesTls: boolean;
}

/** An entry for an object of a list. */
export function entryFor(state: FastlyImport, list: string, one: SourceFields): DraftEntry {
  const name = textAt(one, 'name');
  const condition = textAt(one, 'request_condition') || textAt(one, 'cache_condition');
  const statement = textAt(state.conditions.get(condition) ?? {}, 'statement');
  return addEntry(state.draft, `${list}.${name}`, statement === '' ? list : `${list} if ${statement}`);
}

/** Translates a response object; one of status 4xx or 5xx refuses what meets its condition. */
export function translateResponse(state: FastlyImport, one: SourceFields): void {
  const entry = entryFor(state, 'response_objects', one);
  const status = numberAt(one, 'status') ?? 200;
  const reason = reasonAgainst(one, status);
  if (reason !== null) {
    markMissing(entry, reason);
    return;
  }
  const name = textAt(one, 'request_condition');
  const condition = state.conditions.get(name);
  if (condition === undefined) {
    markOpened(entry, `no condition has the name \`${name}\``);
    return;
  }
  addRefusal(state, entry, textAt(condition, 'statement'));
  if (entry.becomes.length === 0) return;
  answerWith(state.draft, entry, { status, product: 'Fastly' });
  if (textAt(one, 'content') !== '') markDifference(entry, 'the edge answers with its own page');
  if (state.forcesTls)
    markDifference(entry, 'plain http is refused at once; Fastly may redirect it to https first');
}

/** Why a response object is no refusal; `null`: it is one. */
function reasonAgainst(one: SourceFields, status: number): string | null {
  if (textAt(one, 'cache_condition') !== '') return 'a response by what the origin answers has no equivalent';
  if (textAt(one, 'request_condition') === '') return 'a response without a condition answers no request';
  return status < 400 ? `no rule answers ${status} with a text` : null;
}

/** Adds the rules that refuse what meets a statement. */
function addRefusal(state: FastlyImport, entry: DraftEntry, statement: string): void {
  const read = readStatement(statement, state);
  if (!read.ok) {
    markOpened(entry, `its condition cannot be read: ${read.reason}`);
    return;
  }
  const close = (filter: ImportedFilter): string | null => {
    return tryDrop(state.draft, entry, filter);
  };
  addGuard(state.draft, entry, {
    ...read,
    unmet: 'no request meets its condition',
    closing: 'refused',
    emit: close,
    close,
  });
}

/** Adds the refusals of custom VCL, of which nothing else is carried over. */
export function translateRefusals(state: FastlyImport, version: SourceFields): void {
  const all = vclOf(version);
  for (const list of ['vcls', 'snippets']) {
    for (const one of objectsAt(version, list)) {
      const type = textAt(one, 'type');
      for (const { line, status, statement } of refusalsOf(textAt(one, 'content'), type, all)) {
        const condition = statement === '' ? '' : ` if ${statement}`;
        const place = `${list}.${textAt(one, 'name')}:${line}`;
        const entry = addEntry(state.draft, place, `error ${status}${condition}`);
        addRefusal(state, entry, statement === '' ? 'true' : statement);
        if (statement.includes('call_of_') && entry.becomes.length === 0)
          markOpened(entry, 'the calls of its subroutine are not read');
        if (entry.becomes.length === 0) continue;
        answerWith(state.draft, entry, { status: answerOf(status, all), product: 'Fastly' });
        markDifference(
          entry,
          'of custom VCL only what refuses requests is read, and nothing that comes before it',
        );
      }
    }
  }
}

/** The text of all VCL. */
export function vclOf(version: SourceFields): string {
  const parts = [...objectsAt(version, 'vcls'), ...objectsAt(version, 'snippets')];
  return parts.map((one) => textAt(one, 'content')).join('\n');
}

// Finds in custom VCL the statements that refuse requests (`error 403`), each with the conditions of the `if` blocks around it,
// and its ACLs. Nothing else of the VCL is read: what runs before a refusal may only make it rarer.

/** A refusal. */
export interface VclRefusal {
  /** Counted from 1. */
  readonly line: number;
  readonly status: string;
  /** The statement under which it runs; empty: always. */
  readonly statement: string;
}

/** An open block. */
interface Block {
  readonly kind: 'sub' | 'if' | 'other';
  /** Its own condition with those of the branches before it negated; of a sub, a call of it. */
  readonly statement: string;
  /** Negations of the conditions of this branch and those before it, for an `else`. */
  readonly otherwise: string;
  /** Whether it runs when the response is known, or its sub is no part of the request. */
  readonly isLate: boolean;
}

/** Subroutines and types of snippets that run for responses. */
const LATE = ['fetch', 'deliver', 'log', 'error'];

const TOKEN =
  /\bsub\s+(\w+)\s*\{|\b(else\s*if|elseif|elsif|elif|if)\s*\(|\b(else)\s*\{|([{}])|\berror\s+(\d{3})\b/g;

/** The refusals of a VCL file, or of a snippet of a type such as `recv`; `all` is the VCL of the whole service. */
function refusalsOf(source: string, type: string, all: string): readonly VclRefusal[] {
  if (LATE.includes(type)) return [];
  const text = blanked(source);
  const found: VclRefusal[] = [];
  const blocks: Block[] = [];
  let before: Block | null = null;
  TOKEN.lastIndex = 0;
  for (let token = TOKEN.exec(text); token !== null; token = TOKEN.exec(text)) {
    const [, sub, branch, otherwise, brace, status] = token;
    if (sub !== undefined) blocks.push(subBlock(sub));
    else if (branch !== undefined) {
      const end = closingOf(text, TOKEN.lastIndex - 1);
      const open = text.indexOf('{', end);
      if (open < 0) break;
      const condition = source.slice(TOKEN.lastIndex, end);
      const earlier = branch === 'if' || before === null ? '' : before.otherwise;
      blocks.push(branchBlock(condition, earlier));
      TOKEN.lastIndex = open + 1;
    } else if (otherwise !== undefined)
      blocks.push({ kind: 'if', statement: before?.otherwise ?? '', otherwise: '', isLate: false });
    else if (brace === '{') blocks.push({ kind: 'other', statement: '', otherwise: '', isLate: false });
    else if (brace === '}') before = blocks.pop() ?? null;
    else if (status !== undefined && isRefusal(status, all) && !blocks.some(({ isLate }) => isLate)) {
      const statement = blocks.flatMap((block) => (block.statement === '' ? [] : [block.statement]));
      const line = text.slice(0, token.index).split('\n').length;
      found.push({ line, status, statement: statement.join(' && ') });
    }
  }
  return found;
}

function subBlock(name: string): Block {
  const isLate = LATE.some((one) => name === `vcl_${one}`);
  const statement = name.startsWith('vcl_') ? '' : `call_of_${name}()`;
  return { kind: 'sub', statement, otherwise: '', isLate };
}

function branchBlock(condition: string, earlier: string): Block {
  const not = `!(${condition})`;
  return {
    kind: 'if',
    statement: earlier === '' ? `(${condition})` : `${earlier} && (${condition})`,
    otherwise: earlier === '' ? not : `${earlier} && ${not}`,
    isLate: false,
  };
}

/** Whether a status is an answer that refuses. */
function isRefusal(status: string, all: string): boolean {
  return /^[45]/.test(String(answerOf(status, all)));
}

/** The status of the answer: statuses above 599 are internal, and `vcl_error` sets that of the answer. */
function answerOf(status: string, all: string): number {
  if (Number(status) < 600) return Number(status);
  const at = all.search(new RegExp(`obj\\.status\\s*==\\s*${status}\\b`));
  const [, answer = status] =
    at < 0 ? [] : (/set\s+obj\.status\s*=\s*(\d{3})/.exec(all.slice(at, at + NEARBY)) ?? []);
  return Number(answer);
}

/** Characters after a comparison with an internal status in which the answer's status is set. */
const NEARBY = 400;

/** The text with comments and strings blanked, of the same length. */
function blanked(source: string): string {
  const piece = /#[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\/|\{"[\s\S]*?"\}|"[^"\n]*"/g;
  return source.replace(piece, (text) => text.replace(/[^\n]/g, ' '));
}

/** The place of the parenthesis that closes the one at `from`; the end of the text without one. */
function closingOf(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    if (text[at] === '(') depth++;
    else if (text[at] === ')' && --depth === 0) return at;
  }
  return text.length;
}

/** The ACLs that VCL declares; `null`: an entry is no address. */
export function aclsOfVcl(source: string): ReadonlyMap<string, AddressSet | null> {
  const acls = new Map<string, AddressSet | null>();
  const plain = source.replace(/#[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, ' ');
  for (const [, name, body] of plain.matchAll(/\bacl\s+(\w+)\s*\{([^}]*)\}/g)) {
    const sets: { readonly negated: boolean; readonly set: AddressSet | null }[] = [];
    for (const [, mark, address, prefix] of body!.matchAll(/(!?)\s*"([^"]*)"\s*(?:\/\s*(\d+))?\s*;/g)) {
      const text = address === 'localhost' ? '127.0.0.1' : address!;
      sets.push({
        negated: mark === '!',
        set: readAddresses(prefix === undefined ? text : `${text}/${prefix}`),
      });
    }
    const setsOf = (negated: boolean): AddressSet[] =>
      sets.flatMap((one) => (one.set !== null && one.negated === negated ? [one.set] : []));
    const isRead = sets.every(({ set }) => set !== null);
    acls.set(
      name!,
      isRead ? subtractAddresses(uniteAddresses(setsOf(false)), uniteAddresses(setsOf(true))) : null,
    );
  }
  return acls;
}
