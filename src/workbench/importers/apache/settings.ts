/** Directives that become no rule of their own: variables, settings of the server of files, and what the edge lacks. */
import { markMissing, markNeedless } from '../draft.ts';
import {
  type ApacheImport,
  type ApacheScope,
  allOf,
  EVERY,
  entryFor,
  type TestedVariable,
  unknownTest,
} from './context.ts';
import { readExpression } from './expressions.ts';
import type { ApacheDirective } from './parse-htaccess.ts';
import { readPattern } from './patterns.ts';
import { refuse } from './refuse.ts';
import { testAttribute } from './rewrite-conditions.ts';

/** What only the server of the files needs; the origin has it. */
const OF_ORIGIN = new RegExp(
  '^(?:options|directoryindex|directoryslash|fallbackresource|add(?:type|encoding|charset|defaultcharset|handler|language|' +
    'icon|description|outputfilterbytype|outputfilter)|default(?:type|icon)|defaultlanguage|forcetype|sethandler|action|removehandler|' +
    'removetype|fileetag|php_\\w+|index\\w+|deflate\\w+|brotli\\w+|filter\\w+|setoutputfilter|server(?:signature|tokens|admin)|' +
    'acceptpathinfo|multiviews|checkspelling|enablesendfile|languagepriority|xbithack|limitinternalrecursion|' +
    'documentroot|errorlog|customlog|loglevel|logformat|listen|namevirtualhost|usecanonicalname|allowoverride\\w*|keepalive\\w*|timeout|' +
    'ssl(?:engine|certificate\\w*|protocol|ciphersuite|honorcipherorder|options|usestapling|sessiontickets|cacertificate\\w*|verifydepth)|' +
    'protocols|h2\\w+|proxyrequests|proxypreservehost|proxypassreverse|proxypassreversecookie\\w+|proxytimeout|include|includeoptional|' +
    'authtype|authname|authuserfile|authgroupfile|authbasic\\w+|modpagespeed|contentdigest|addinputfilter|suphp_\\w+|hostnamelookups)$',
);

/** Settings of answers that have no rule, reported by name. */
const LACKING =
  /^(?:expires\w+|cache\w+|limitrequest\w+|rewritemap|rewriteoptions|setenv|unsetenv|passenv|substitute|ratelimit|sec\w+|qs_\w+|dos\w+)$/;

/** Directives that set variables of the environment. */
export const VARIABLE_DIRECTIVES = [
  'setenvif',
  'setenvifnocase',
  'setenvifexpr',
  'browsermatch',
  'browsermatchnocase',
];

/** Reads `SetEnvIf` and its kin. */
export function readVariables(state: ApacheImport, scope: ApacheScope, directive: ApacheDirective): void {
  const { name, args } = directive;
  const entry = entryFor(state, directive);
  const isBrowser = name.startsWith('browsermatch');
  const [attribute = '', source = '', ...names] = isBrowser
    ? ['User-Agent', ...args]
    : name === 'setenvifexpr'
      ? ['', ...args]
      : args;
  const test = readTest(state, { name, attribute, source });
  // What is not exact is unknown, since its opposite may be asked for.
  const known = test.isWide
    ? unknownTest(`${attribute} ${source}`, 'has a filter by single parameters alone')
    : test.condition;
  for (const one of names) {
    const [, isUnset, variable = '', value] = /^(!?)([^=]+)(?:=(.*))?$/s.exec(one) ?? [];
    const before = state.environment.get(variable) ?? [];
    const condition = allOf([scope.condition, known]);
    state.environment.set(variable, [
      ...before,
      { value: isUnset === '' ? (value ?? '1') : null, condition },
    ]);
  }
  markNeedless(entry, 'rules that test its variable have its condition');
}

function readTest(
  state: ApacheImport,
  { name, attribute, source }: { readonly name: string; readonly attribute: string; readonly source: string },
): TestedVariable {
  if (name === 'setenvifexpr') return readExpression(state, source);
  const pattern = readPattern(source, name.endsWith('nocase'));
  if (typeof pattern === 'string')
    return { condition: unknownTest(attribute, `has no filter: ${pattern}`), differences: [], isWide: false };
  return testAttribute(state, attribute, { kind: 'regex', pattern });
}

/** Translates or reports a directive of no other file. */
export function translateSetting(state: ApacheImport, scope: ApacheScope, directive: ApacheDirective): void {
  const { name, args, text } = directive;
  if (name === 'sslrequiressl') {
    const plain = { kind: 'fact', fact: { member: 'schemes', values: ['http'], negated: false } } as const;
    refuse(state, entryFor(state, directive), {
      condition: allOf([scope.condition, plain]),
      status: 403,
      unmet: 'no request is plain',
      isAccess: true,
    });
    return;
  }
  if (name === 'sslrequire' || (name === 'sslverifyclient' && args[0]?.toLowerCase() === 'require')) {
    const closings = [`\`${text}\` asks for a client certificate or a connection that no rule tests`];
    refuse(state, entryFor(state, directive), {
      condition: scope.condition,
      status: 403,
      closings,
      unmet: '',
    });
    return;
  }
  if (name === 'allowmethods') {
    const values = args.map((arg) => arg.toUpperCase());
    const allowed = { kind: 'fact', fact: { member: 'methods', values, negated: true } } as const;
    const condition = values.includes('RESET') ? EVERY : allowed;
    if (condition === allowed) {
      refuse(state, entryFor(state, directive), {
        condition: allOf([scope.condition, allowed]),
        status: 405,
        unmet: '',
      });
      return;
    }
  }
  const entry = entryFor(state, directive);
  entry.kind = name;
  if (OF_ORIGIN.test(name)) markNeedless(entry, 'the origin serves the files and has it');
  else if (LACKING.test(name)) markMissing(entry, `\`${directive.text.split(/\s/)[0]}\` has no equivalent`);
  else {
    entry.kind = null;
    markMissing(entry, 'this directive has no equivalent');
  }
}
