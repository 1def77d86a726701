/**
 * `security` of an OpenAPI document, read as the `auth` and the scopes of operations. An operation never needs less at the gateway than
 * the document says: of alternatives with different scopes, the scopes of all are needed, with a warning.
 *
 * - absent in the operation and the document: the gateway's own `auth` applies
 * - `[]`, or an alternative `{}`: `auth: none`, since the document allows requests without credentials
 * - otherwise `auth: required`, with the scopes of oauth2 and openIdConnect schemes
 */
import { type FieldPath, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { isObject } from '../../base/text/json-object.ts';
import { MAX_OPERATION_NAME, MAX_OPERATION_NAMES } from '../../base/vocabulary/limits.ts';
import { SCOPE } from '../model/fields.ts';
import { nearest } from '../model/nearest.ts';
import type { Report } from '../model/report.ts';
import { MAX_ALTERNATIVES } from './limits.ts';
import { type DocumentReading, followReferences } from './references.ts';

/** What an operation needs; `auth: null`: the document does not say. */
export interface OperationSecurity {
  readonly auth: 'none' | 'required' | null;
  readonly scopes: readonly string[];
}

/** Reads `security` of the document and its operations. */
export interface SecurityReader {
  /** @param value the field `security`, which is there @param path its path */
  read(value: unknown, path: FieldPath): OperationSecurity;
}

/** The types of security schemes; those with scopes are `true`. */
const SCHEME_TYPES: Readonly<Record<string, boolean>> = {
  apiKey: false,
  http: false,
  mutualTLS: false,
  oauth2: true,
  openIdConnect: true,
};

/** Creates the reader, which has the security schemes of the document. */
export function createSecurityReader(reading: DocumentReading): SecurityReader {
  const { report } = reading;
  const schemes = readSchemes(reading);
  let warned = false;
  return {
    read(value, path) {
      const alternatives = readAlternatives(value, path, report);
      if (alternatives === null || alternatives.length === 0) return { auth: 'none', scopes: [] };
      const needed = alternatives.map((alternative, index) => {
        const names = Object.keys(alternative);
        if (names.length > 1 && !warned) {
          warned = true;
          const message =
            'needs several credentials together; a gateway accepts any of them unless `auth.require` is `all`';
          report.add('warning', [...path, index], { code: 'openapi_security', message });
        }
        return readAlternative(alternative, [...path, index], { schemes, report });
      });
      if (alternatives.some((alternative) => Object.keys(alternative).length === 0))
        return { auth: 'none', scopes: [] };
      return { auth: 'required', scopes: joinScopes(needed, path, report) };
    },
  };
}

/** Types of the document's schemes by name; `null`: the scheme has a mistake, which is reported. */
function readSchemes(reading: DocumentReading): ReadonlyMap<string, string | null> {
  const { root, report } = reading;
  const components = root['components'];
  const written = isObject(components) ? components['securitySchemes'] : undefined;
  const schemes = new Map<string, string | null>();
  if (!isObject(written)) return schemes;
  for (const [name, scheme] of Object.entries(written)) {
    if (report.full()) break;
    if (name.startsWith('x-')) continue;
    const path = ['components', 'securitySchemes', name];
    schemes.set(name, null);
    if (!isObject(scheme)) {
      report.add('error', path, {
        code: 'invalid_type',
        message: 'must be an object',
        found: quoteValue(scheme),
      });
      continue;
    }
    const last = followReferences({ value: scheme, path }, reading)?.at(-1);
    if (last === undefined) continue;
    const { type } = last.value;
    if (typeof type === 'string' && Object.hasOwn(SCHEME_TYPES, type)) schemes.set(name, type);
    else {
      const allowed = Object.keys(SCHEME_TYPES).map((one) => `\`${one}\``);
      const message = `must be one of ${allowed.join(', ')}`;
      report.add('error', [...last.path, 'type'], {
        code: 'openapi_security',
        message,
        found: quoteValue(type),
      });
    }
  }
  return schemes;
}

/** The alternatives; `null`: the value has another type, which is reported. */
function readAlternatives(
  value: unknown,
  path: FieldPath,
  report: Report,
): readonly Readonly<Record<string, unknown>>[] | null {
  if (!Array.isArray(value)) {
    const message = 'must be a list of security requirements';
    report.add('error', path, { code: 'invalid_type', message, found: quoteValue(value) });
    return null;
  }
  if (value.length > MAX_ALTERNATIVES) {
    const message = `must have at most ${MAX_ALTERNATIVES} entries`;
    report.add('error', path, { code: 'too_many', message, found: `${value.length}` });
    return null;
  }
  const at = value.findIndex((entry) => !isObject(entry));
  if (at < 0) return value;
  const message = 'must be an object of lists of scopes by the name of a security scheme';
  report.add('error', [...path, at], { code: 'invalid_type', message, found: quoteValue(value[at]) });
  return null;
}

/** The scopes that an alternative needs. */
function readAlternative(
  alternative: Readonly<Record<string, unknown>>,
  path: FieldPath,
  { schemes, report }: { readonly schemes: ReadonlyMap<string, string | null>; readonly report: Report },
): readonly string[] {
  const scopes = new Set<string>();
  const names = Object.keys(alternative);
  if (names.length > MAX_ALTERNATIVES) {
    const message = `must have at most ${MAX_ALTERNATIVES} schemes`;
    report.add('error', path, { code: 'too_many', message, found: `${names.length}` });
    return [];
  }
  for (const name of names) {
    const type = schemes.get(name);
    if (type === undefined) {
      const meant = nearest(name, schemes.keys());
      const remedy =
        meant === null ? 'declare it in `components.securitySchemes`' : `did you mean \`${meant}\`?`;
      const message = 'is no security scheme of this document';
      report.add('error', [...path, name], { code: 'openapi_security', message, remedy });
      continue;
    }
    const read = readNames(alternative[name], [...path, name], { report, what: 'scopes' });
    if (type === null || read.length === 0) continue;
    if (SCHEME_TYPES[type] === true) for (const scope of read) scopes.add(scope);
    else {
      const message = `lists roles of a scheme of type \`${type}\`, which a gateway does not check`;
      const remedy = 'limit the operation by `acl` of consumers';
      report.add('warning', [...path, name], { code: 'openapi_security', message, remedy });
    }
  }
  return [...scopes];
}

/** The scopes of all alternatives; a warning where they differ. */
function joinScopes(
  needed: readonly (readonly string[])[],
  path: FieldPath,
  report: Report,
): readonly string[] {
  const all = [...new Set(needed.flat())];
  if (needed.some((scopes) => scopes.length !== all.length)) {
    const message = 'has alternatives with different scopes; a request needs the scopes of all of them';
    const remedy = 'write the same scopes in each alternative, or give consumers all of them';
    report.add('warning', path, { code: 'openapi_scopes', message, remedy });
  }
  if (all.length > MAX_OPERATION_NAMES) {
    const message = `must need at most ${MAX_OPERATION_NAMES} scopes`;
    report.add('error', path, { code: 'too_many', message, found: `${all.length}` });
  }
  return all;
}

/** Reads a list of names, such as scopes or tags; repeated ones count once. */
export function readNames(
  value: unknown,
  path: FieldPath,
  { report, what }: { readonly report: Report; readonly what: 'scopes' | 'tags' },
): readonly string[] {
  if (!Array.isArray(value)) {
    const message = `must be a list of ${what}`;
    report.add('error', path, { code: 'invalid_type', message, found: quoteValue(value) });
    return [];
  }
  if (value.length > MAX_OPERATION_NAMES) {
    const message = `must have at most ${MAX_OPERATION_NAMES} entries`;
    report.add('error', path, { code: 'too_many', message, found: `${value.length}` });
    return [];
  }
  const names = new Set<string>();
  for (const [index, name] of value.entries()) {
    const problem = nameProblem(name, what);
    if (problem === null) names.add(name);
    else report.add('error', [...path, index], { ...problem, found: quoteValue(name) });
  }
  return [...names];
}

/** What is wrong with an `operationId`, a tag or a scope; `null`: nothing. */
export function nameProblem(
  name: unknown,
  what: 'scopes' | 'tags' | 'ids',
): { readonly code: 'invalid_type' | 'openapi_name'; readonly message: string } | null {
  if (typeof name !== 'string') return { code: 'invalid_type', message: 'must be text' };
  if (name === '' || name.length > MAX_OPERATION_NAME)
    return { code: 'openapi_name', message: `must have 1 to ${MAX_OPERATION_NAME} characters` };
  if (/[\u0000-\u001f\u007f-\u009f\p{Cs}]/u.test(name))
    return { code: 'openapi_name', message: 'must have no control character and no half of a character' };
  if (what === 'scopes' && !SCOPE.test(name))
    return { code: 'openapi_name', message: 'must be visible ASCII without `"`, `\\` and blanks' };
  return null;
}
