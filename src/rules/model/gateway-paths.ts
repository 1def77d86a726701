/** The path filter of gateways, for code that pages load, without the form. */
import type { PathFilter } from './common.ts';
import type { GatewayRule } from './rules/gateway.ts';

/** The path filter that a base path makes. */
export function gatewayPaths({ base_path }: Pick<GatewayRule, 'base_path'>): PathFilter {
  const path_includes = base_path === '/' ? ['/*'] : [base_path, `${base_path}/*`];
  return { path_match_type: 'wildcard', path_includes, path_excludes: [] };
}
