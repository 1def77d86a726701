/** What refuses requests in a Fastly service: response objects, and the `error` statements of custom VCL. */
import {
  addEntry,
  type DraftEntry,
  type ImportDraft,
  markDifference,
  markMissing,
  markOpened,
  tryRule,
} from '../draft.ts';
import { dropFields, type ImportedFilter } from '../filter.ts';
import { addGuard } from '../guard.ts';
import { numberAt, objectsAt, type SourceFields, textAt } from '../json-source.ts';
import { type FastlyAcls, readStatement } from './read-statement.ts';
import { refusalsOf } from './vcl-refusals.ts';

/** The state of one import. */
export interface FastlyImport {
  readonly draft: ImportDraft;
  readonly acls: FastlyAcls;
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
  if (status !== 403) markDifference(entry, `the edge answers 403; Fastly answers ${status}`);
  else if (textAt(one, 'content') !== '') markDifference(entry, 'the edge answers with its own page');
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
  const read = readStatement(statement, state.acls);
  if (!read.ok) {
    markOpened(entry, `its condition cannot be read: ${read.reason}`);
    return;
  }
  const close = (filter: ImportedFilter): string | null => {
    const fields = dropFields(filter);
    return typeof fields === 'string' ? fields : tryRule(state.draft, entry, 'drop', fields);
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
        if (entry.becomes.length > 0)
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
