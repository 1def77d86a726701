/**
 * Finds the named location to which `try_files` hands requests that are of no file, or `error_page 404 =` behind it: what guards
 * it, rewrites in it and its origin apply to the requests of the location around `try_files`.
 */
import { loseDirective, type NginxImport } from './context.ts';
import { missingFilePage } from './error-pages.ts';
import { lastOf, type NginxDirective } from './parse-nginx.ts';
import { isRedirect } from './rewrite-directive.ts';

/** A `try_files` that ends in a named location, or the `error_page` for the 404 in which it ends. */
export interface NginxFallback {
  readonly directive: NginxDirective;
  readonly location: NginxDirective;
}

/** The named locations of a server. */
function namedLocations(server: readonly NginxDirective[]): readonly NginxDirective[] {
  return server.filter(({ name, args }) => name === 'location' && args[0]?.startsWith('@') === true);
}

/** The fallback of a block; `null`: it has none, or it hands requests on itself. `outer`: the blocks around it. */
export function fallbackOf(
  block: readonly NginxDirective[],
  server: readonly NginxDirective[],
  outer: readonly (readonly NginxDirective[])[],
): NginxFallback | null {
  const files = lastOf(block, 'try_files');
  const directive = files?.args.at(-1) === '=404' ? missingFilePage([block, ...outer]) : files;
  if (directive === undefined || block.some(({ name }) => name.endsWith('_pass'))) return null;
  // A request that an `if` takes is answered without `try_files`, which `if` does not inherit.
  if (block.some((one) => one.name === 'if' && !endsRequests(one))) return null;
  const location = namedLocations(server).find(({ args }) => args[0] === directive.args.at(-1));
  return location === undefined ? null : { directive, location };
}

/** Whether the last directive of an `if` answers its requests. */
function endsRequests({ block }: NginxDirective): boolean {
  const last = block?.at(-1);
  return last !== undefined && (last.name === 'return' || (last.name === 'rewrite' && isRedirect(last)));
}

/** Reports the named locations that nothing carried over leads to. */
export function loseNamed(
  state: NginxImport,
  server: readonly NginxDirective[],
  used: readonly NginxDirective[],
): void {
  for (const one of namedLocations(server)) {
    if (used.includes(one)) continue;
    const reason =
      'no `try_files` that is carried over leads to it, and no rule hands requests on by a status: none of its requests reaches an origin';
    loseDirective(state, one, reason);
  }
}
