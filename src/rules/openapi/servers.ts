/** `servers` of an OpenAPI document: the paths of their URLs, which are a hint for `base_path` of the gateway. */
import { type FieldPath, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { isObject } from '../../base/text/json-object.ts';
import type { Report } from '../model/report.ts';
import { MAX_REFERENCE_CHARACTERS, MAX_SERVERS } from './limits.ts';

/** The distinct base paths, in order; a document without servers is served at `/`. `path`: that of the field `servers`. */
export function readBasePaths(servers: unknown, path: FieldPath, report: Report): readonly string[] {
  if (servers === undefined || (Array.isArray(servers) && servers.length === 0)) return ['/'];
  if (!Array.isArray(servers)) {
    const message = 'must be a list of servers';
    report.add('error', path, { code: 'invalid_type', message, found: quoteValue(servers) });
    return [];
  }
  if (servers.length > MAX_SERVERS) {
    const message = `must have at most ${MAX_SERVERS} entries`;
    report.add('error', path, { code: 'too_many', message, found: `${servers.length}` });
    return [];
  }
  const found = new Set<string>();
  for (const [index, server] of servers.entries()) {
    const url = isObject(server) ? server['url'] : undefined;
    const base = typeof url === 'string' ? basePath(withDefaults(url, server['variables'])) : null;
    if (base !== null) found.add(base);
    else {
      // The gateway's own `base_path` decides, so a server that has no path does not refuse the document.
      const message = 'has no `url` with a path, so it gives no base path';
      report.add('warning', [...path, index], { code: 'openapi_server', message, found: quoteValue(url) });
    }
  }
  return [...found];
}

/** The URL with the default of each of its variables; one without a default remains as it is. */
function withDefaults(url: string, variables: unknown): string {
  if (url.length > MAX_REFERENCE_CHARACTERS) return '';
  return url.replace(/\{([^{}]*)\}/g, (whole, name: string) => {
    const variable = isObject(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined;
    const value = isObject(variable) ? variable['default'] : undefined;
    return typeof value === 'string' && value.length <= MAX_REFERENCE_CHARACTERS ? value : whole;
  });
}

/** The path of a URL or relative reference, without a slash at its end unless it is `/`; `null`: it has no path. */
function basePath(url: string): string | null {
  // Scheme, host and port may have variables whose defaults are numbers or missing.
  const path = url.replace(/^(?:[^/?#]*:)?\/\/[^/?#]*/, '');
  if (url === '' || /[{}?#]/.test(path)) return null;
  try {
    const { pathname } = new URL(path, 'https://localhost/');
    return pathname === '/' ? '/' : pathname.replace(/\/$/, '');
  } catch {
    // The only error of `URL` is a malformed text.
    return null;
  }
}
