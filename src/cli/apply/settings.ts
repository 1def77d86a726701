/** The settings of a domain that `export` writes and `apply` changes: what the API takes, in its order. */
import type { DomainSettings } from '../../model/settings.ts';

/** The API's field names, in the API's order. */
export const SETTING_NAMES = [
  'cache_l2_max_gb',
  'cache_l2_ttl_days',
  'cache_cap_mb',
  'sec_no_sniff',
  'sec_referrer_policy',
  'sec_strip_headers',
  'markdown_for_agents',
  'outage_alerts',
  'uptime_threshold_pct',
  'uptime_window_min',
  'uptime_min_requests',
  'uptime_min_active_min',
  'uptime_recover_min',
] as const satisfies readonly (keyof DomainSettings)[];
