/** The base path of gateways and their path filter, for code that pages load, without the form. */
import { decodeEscapes } from '../../base/octets/octets.ts';
import type { PathFilter } from './common.ts';
import type { GatewayRule } from './rules/gateway.ts';

/** The base path in canonical form; empty for `/`. */
export function gatewayBase({ base_path }: Pick<GatewayRule, 'base_path'>): string {
  return base_path === '/' ? '' : decodeEscapes(base_path);
}

/** The path filter that a base path makes. */
export function gatewayPaths({ base_path }: Pick<GatewayRule, 'base_path'>): PathFilter {
  const path_includes = base_path === '/' ? ['/*'] : [base_path, `${base_path}/*`];
  return { path_match_type: 'wildcard', path_includes, path_excludes: [] };
}
