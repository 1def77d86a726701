/** `Header` and `RequestHeader` of mod_headers as `headers` rules, and `ErrorDocument` with a text as `error_page`. */
import { type DraftEntry, markDifference, markMissing, tryRule } from '../draft.ts';
import { type ImportedCondition, ruleFields } from '../filter.ts';
import { addAlternatives } from '../guard.ts';
import { type ApacheImport, type ApacheScope, allOf, EVERY, entryFor, notOf } from './context.ts';
import { readExpression } from './expressions.ts';
import type { ApacheDirective } from './parse-htaccess.ts';
import { testEnvironment } from './variables.ts';

/** Directives of this file. */
export const ANSWER_DIRECTIVES = ['header', 'requestheader', 'errordocument'];

/** Translates one directive. */
export function translateAnswer(state: ApacheImport, scope: ApacheScope, directive: ApacheDirective): void {
  const entry = entryFor(state, directive);
  if (directive.name === 'errordocument') errorPage(state, scope, { entry, directive });
  else header(state, scope, { entry, directive });
}

interface AnswerDirective {
  readonly entry: DraftEntry;
  readonly directive: ApacheDirective;
}

/** What the actions of mod_headers become. */
const OPS: Readonly<Record<string, 'set' | 'add' | 'remove'>> = {
  set: 'set',
  add: 'add',
  append: 'add',
  merge: 'add',
  setifempty: 'set',
  unset: 'remove',
};

function header(state: ApacheImport, scope: ApacheScope, { entry, directive }: AnswerDirective): void {
  const isRequest = directive.name === 'requestheader';
  const args = [...directive.args];
  const table = /^(?:always|onsuccess)$/i.test(args[0] ?? '') ? args.shift()!.toLowerCase() : 'onsuccess';
  const [action = '', written = ''] = args.splice(0, 2);
  const op = OPS[action.toLowerCase()];
  if (op === undefined) {
    markMissing(entry, `\`${action}\` of a header has no equivalent`);
    return;
  }
  const name = written.replace(/:$/, '');
  const value = op === 'remove' ? null : headerValue(args.shift() ?? '');
  if (value !== null && typeof value !== 'string') {
    markMissing(entry, value.reason);
    return;
  }
  const condition = allOf([scope.condition, ...args.map((arg) => argumentTest(state, arg))]);
  const changes = value === null ? { remove: [name] } : { [op]: { [name]: value } };
  addAlternatives(state.draft, entry, {
    condition,
    differences: [],
    unmet: 'no request meets its condition',
    emit: (filter) =>
      tryRule(state.draft, entry, 'headers', {
        ...ruleFields(filter),
        [isRequest ? 'request' : 'response']: changes,
      }),
  });
  if (entry.becomes.length > 0) noteDifferences(entry, { action: action.toLowerCase(), table, isRequest });
}

function noteDifferences(
  entry: DraftEntry,
  {
    action,
    table,
    isRequest,
  }: { readonly action: string; readonly table: string; readonly isRequest: boolean },
): void {
  if (!isRequest && table === 'onsuccess')
    markDifference(entry, 'the edge changes answers of errors too; Apache does so with `always`');
  if (action === 'append' || action === 'merge') markDifference(entry, 'the value becomes a line of its own');
  if (action === 'setifempty') markDifference(entry, 'the edge replaces a value that is there');
}

/** `env=NAME`, `env=!NAME`, `expr=…`; `early` asks for nothing. */
function argumentTest(state: ApacheImport, arg: string): ImportedCondition {
  const [, isUnset, name] = /^env=(!?)(.+)$/i.exec(arg) ?? [];
  if (name !== undefined) {
    const isSet = testEnvironment(state, name, null);
    return isUnset === '' ? isSet : notOf(isSet);
  }
  const [, expression] = /^expr=(.+)$/is.exec(arg) ?? [];
  return expression === undefined ? EVERY : readExpression(state, expression).condition;
}

/** Variables of a value. */
const VALUES: Readonly<Record<string, string>> = {
  remote_addr: '${client_ip}',
  http_host: '${host}',
  server_name: '${host}',
  request_scheme: '${scheme}',
  request_method: '${method}',
  geoip_country_code: '${client_country}',
};

/** A value, or why none is exact. */
function headerValue(written: string): string | { readonly reason: string } {
  let wrong: string | null = null;
  const value = written
    .replace(/^expr=/, '')
    .replace(/%%|%\{([^}]*)\}(?:[esn](?![a-z])|)|%[A-Za-z]|\$/g, (mark, name?: string) => {
      if (mark === '%%') return '%';
      if (mark === '$') return '$$';
      const known = name === undefined ? undefined : VALUES[name.toLowerCase()];
      if (known === undefined) wrong ??= mark;
      return known ?? '';
    });
  return wrong === null ? value : { reason: `\`${wrong}\` has no equivalent in a value` };
}

function errorPage(state: ApacheImport, scope: ApacheScope, { entry, directive }: AnswerDirective): void {
  const [code = '', text = ''] = directive.args;
  if (/^(?:\/|https?:|default$)/i.test(text) || directive.args.length !== 2) {
    entry.kind = 'errordocument';
    markMissing(
      entry,
      'a page of a file or of another URL has no equivalent; an `error_page` rule has its text',
    );
    return;
  }
  addAlternatives(state.draft, entry, {
    condition: scope.condition,
    differences: ['the page replaces that of the origin too'],
    unmet: 'no request meets its condition',
    emit: (filter) =>
      tryRule(state.draft, entry, 'error_page', {
        ...ruleFields(filter),
        mode: 'custom',
        codes: [Number(code)],
        content: { [code]: text },
      }),
  });
}
