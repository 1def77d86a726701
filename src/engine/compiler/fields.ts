/**
 * The fields of each rule type as words (layout in `engine/plan/layout.ts`), and the number of a rule's action for its flags. Text
 * is a string number; `true` is 1; closed vocabularies are the index in their list (`base/vocabulary/vocabulary.ts`).
 */
import { unreachable } from '../../base/diagnostics/assert.ts';
import { decodeEscapes } from '../../base/octets/octets.ts';
import {
  BOT_ACTIONS,
  BREACH_ACTIONS,
  CACHE_MODES,
  CACHE_QUERY_MODES,
  ERROR_PAGE_MODES,
  FINGERPRINT_ACTIONS,
  LB_TYPES,
  ORIGIN_SCHEMES,
  REWRITE_QUERY_MODES,
  UNINSPECTED_MODES,
} from '../../base/vocabulary/vocabulary.ts';
import type { CacheRule, ErrorPageRule, OriginPoolRule, Rule, WafRule } from '../../rules/model/types.ts';
import { DEFAULT_EJECTION, DEFAULT_PORTS, NONE } from '../plan/layout.ts';
import { type PlanDraft, placeString, placeWords } from './draft.ts';
import { placePattern } from './patterns.ts';

/** The index of the rule's action or mode in its vocabulary; 0 for types that have none. */
export function actionNumber(rule: Rule): number {
  switch (rule.type) {
    case 'fingerprint':
      return FINGERPRINT_ACTIONS.indexOf(rule.action);
    case 'bot_route':
      return BOT_ACTIONS.indexOf(rule.action);
    case 'rate_limit':
      return BREACH_ACTIONS.indexOf(rule.on_breach);
    case 'rewrite':
      return REWRITE_QUERY_MODES.indexOf(rule.query_mode);
    case 'cache':
      return CACHE_MODES.indexOf(rule.mode);
    case 'error_page':
      return ERROR_PAGE_MODES.indexOf(rule.mode);
    case 'waf':
      return UNINSPECTED_MODES.indexOf(rule.on_uninspected);
    case 'drop':
    case 'redirect':
    case 'captcha':
    case 'origin_route':
    case 'origin_pool':
      return 0;
    default:
      return unreachable(rule);
  }
}

/** The offset of the rule's own fields in `words`; NONE for types that have none. */
export function placeFields(draft: PlanDraft, rule: Rule): number {
  const string = (text: string): number => placeString(draft.strings, text);
  switch (rule.type) {
    case 'drop':
    case 'fingerprint':
      return NONE;
    case 'bot_route': {
      const scheme = ORIGIN_SCHEMES.indexOf(rule.alt_scheme);
      const port = rule.alt_port ?? DEFAULT_PORTS[scheme]!;
      return placeWords(draft.words, [rule.status, string(rule.body), string(rule.alt_dest), port, scheme]);
    }
    case 'rate_limit': {
      const perPath = rule.key_by === 'ip_path' ? 1 : 0;
      return placeWords(draft.words, [rule.limit, rule.burst, rule.window_sec, perPath]);
    }
    case 'waf': {
      const excludes = rule.rule_excludes.map(string);
      const exclusions = placeExclusions(draft, rule);
      const settings = [rule.paranoia, rule.threshold, rule.body_cap_kb, exclusions];
      return placeWords(draft.words, [...settings, excludes.length, ...excludes]);
    }
    case 'redirect': {
      const preserved = [rule.preserve_query ? 1 : 0, rule.preserve_path ? 1 : 0];
      return placeWords(draft.words, [rule.status_code, string(rule.target), ...preserved]);
    }
    case 'captcha':
      return placeWords(draft.words, [rule.ttl_sec]);
    case 'rewrite': {
      const regex = rule.path_match_type === 'regex' ? 1 : 0;
      return placeWords(draft.words, [string(rule.path_target), string(rule.query_target), regex]);
    }
    case 'cache':
      return placeCache(draft, rule);
    case 'origin_route': {
      const scheme = ORIGIN_SCHEMES.indexOf(rule.scheme);
      const port = rule.port ?? DEFAULT_PORTS[scheme]!;
      return placeWords(draft.words, [string(rule.address), port, scheme, string(rule.host_header)]);
    }
    case 'origin_pool':
      return placePool(draft, rule);
    case 'error_page':
      return placePages(draft, rule);
    default:
      return unreachable(rule);
  }
}

/** The exclusions of a waf rule: their count, then a row of id, tag, target and path pattern each. */
function placeExclusions(draft: PlanDraft, rule: WafRule): number {
  const rows = rule.exclusions.flatMap(({ id, tag, target, path }) => [
    id ?? NONE,
    placeString(draft.strings, tag),
    placeString(draft.strings, target),
    placePattern(draft.patterns, 'path_wildcard', path),
  ]);
  return placeWords(draft.words, [rule.exclusions.length, ...rows]);
}

/** The fields of a cache rule. A lifetime is stored as seconds + 1, so that 0 is `null` (the origin's own). */
function placeCache(draft: PlanDraft, rule: CacheRule): number {
  const ttl = (seconds: number | null): number => (seconds === null ? 0 : seconds + 1);
  // Names are compared decoded: `a%62` and `ab` are one parameter.
  const params = rule.query_params.map((name) => placeString(draft.strings, decodeEscapes(name)));
  const mode = CACHE_QUERY_MODES.indexOf(rule.query_mode);
  const lifetimes = [ttl(rule.edge_ttl_sec), ttl(rule.browser_ttl_sec)];
  return placeWords(draft.words, [...lifetimes, mode, params.length, ...params]);
}

/** The fields of an origin pool: a head of four words, then a row (`POOL_ORIGIN`) for each origin. */
function placePool(draft: PlanDraft, rule: OriginPoolRule): number {
  const rows = rule.origins.flatMap((origin) => {
    const scheme = ORIGIN_SCHEMES.indexOf(origin.scheme);
    const nodes = placeWords(draft.words, [origin.node_ids.length, ...origin.node_ids]);
    const address = placeString(draft.strings, origin.address);
    return [address, origin.port ?? DEFAULT_PORTS[scheme]!, scheme, origin.weight, nodes];
  });
  const hostHeader = placeString(draft.strings, rule.host_header);
  const head = [LB_TYPES.indexOf(rule.lb_type), hostHeader, placeHealth(draft, rule), rule.origins.length];
  const { unhealthy_threshold, eject_sec } = rule.health_check;
  const ejection = draft.ejections ? [unhealthy_threshold, eject_sec] : [];
  return placeWords(draft.words, [...head, ...rows, ...ejection]);
}

/** Whether a rule is a pool without probes that ejects origins otherwise than `DEFAULT_EJECTION`. */
export function hasOwnEjection(rule: Rule): boolean {
  if (rule.type !== 'origin_pool' || rule.health_check.enabled) return false;
  const { unhealthy_threshold, eject_sec } = rule.health_check;
  return unhealthy_threshold !== DEFAULT_EJECTION.failures || eject_sec !== DEFAULT_EJECTION.seconds;
}

/** The settings of the active health check (`POOL_HEALTH`); NONE if it is switched off. */
function placeHealth(draft: PlanDraft, { health_check: check }: OriginPoolRule): number {
  if (!check.enabled) return NONE;
  return placeWords(draft.words, [
    placeString(draft.strings, check.path),
    placeString(draft.strings, check.host),
    check.interval_sec,
    check.timeout_sec,
    check.unhealthy_threshold,
    check.healthy_threshold,
    check.eject_sec,
  ]);
}

/**
 * The fields of an error_page rule: a counted list of statuses, then the count of pages, then pairs of status (0: all
 * others) and string number.
 */
function placePages(draft: PlanDraft, rule: ErrorPageRule): number {
  const pages = Object.entries(rule.content).map(([code, html]) => [
    Number(code),
    placeString(draft.strings, html),
  ]);
  return placeWords(draft.words, [rule.codes.length, ...rule.codes, pages.length, ...pages.flat()]);
}
