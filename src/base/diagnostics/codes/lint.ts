/** Codes of `edgeplan lint` and of the API's analysis: rules that are valid and very likely do something else than meant. */
import type { CodeList } from './code.ts';

export const LINT_CODES = {
  action_mode_on_cache: {
    severity: null,
    meaning: 'a cache rule is always enforced, so `action_mode` has no effect',
    remedy: 'remove the field; disable the rule to try without it',
  },
  application_record: {
    severity: 'info',
    meaning: 'the record has no `destination`: the application that embeds the edge answers its requests',
    remedy: 'give `type` and `destination` if an edge node is to serve the record',
  },
  bare_host_missed: {
    severity: 'warning',
    meaning: '`*.example.com` does not match `example.com`, which the domain serves',
    remedy: 'list the bare name too',
  },
  bare_path_missed: {
    severity: null,
    meaning: '`/admin/*` does not match `/admin`, which many origins answer alike',
    remedy: 'list the path without `/*` too',
  },
  base_path_case: {
    severity: 'warning',
    meaning:
      'the path differs from the base path of a gateway in letter case alone, so its requests come to no gateway, and an origin that ignores case answers them',
    remedy: 'write the path as the gateway does, or drop the other spellings',
  },
  captcha_on_gateway: {
    severity: 'warning',
    meaning:
      'every request of the record belongs to a gateway, which admits API clients, so its captcha never acts',
    remedy: 'write `captcha: false`, or give the gateway a `base_path`',
  },
  closed_gateway: {
    severity: 'warning',
    meaning: 'the gateway requires credentials, and no consumer has any that it takes',
    remedy: 'add a consumer or a key, or write `require: none`',
  },
  consumer_without_credentials: {
    severity: 'warning',
    meaning: 'the consumer has no key that is valid, and no gateway takes other credentials of it',
    remedy: 'add a key, or remove the consumer',
  },
  decided_by_id: {
    severity: 'info',
    meaning:
      'two rules of equal `priority` match the same request with different effects, so the lower id, or the place in the edge file, decides',
    remedy: 'give the rule that is to win the lower `priority`',
  },
  deprecated_field: {
    severity: 'warning',
    meaning: 'the field is deprecated and does what another field does',
    remedy: 'use the field that the message names',
  },
  empty_list: {
    severity: 'warning',
    meaning: 'the only entries of an allowlist are lists without entries, so every visitor is dropped',
    remedy: 'add the entries that are to be let through, or remove the filter',
  },
  empty_scope: {
    severity: 'error',
    meaning: 'no proxied record is in the scope of the rule, so it matches no request',
    remedy: 'proxy a record, or correct the scope',
  },
  exact_path_guard: {
    severity: 'warning',
    meaning:
      'the rule guards one spelling of a path, and many origins answer others alike: a trailing slash, other letter case',
    remedy: 'list the folder too, or use `(?i)` in a regex where the origin ignores case',
  },
  exclude_swallows_includes: {
    severity: 'error',
    meaning: 'the excluded entries cover every included one, so the rule matches nothing',
    remedy: 'narrow the excluded entries',
  },
  expired_credential: {
    severity: 'info',
    meaning: 'the time from which on a key or a consumer is refused is past',
    remedy: 'remove the key or the consumer, or set a later time',
  },
  foreign_host: {
    severity: 'warning',
    meaning: 'the host is not of this domain, so no request of the domain has it',
    remedy: 'write a host of the domain, or move the rule to its domain',
  },
  google_extended: {
    severity: 'warning',
    meaning: '`Google-Extended` is a word for robots.txt; no request carries it',
    remedy: 'control it in robots.txt',
  },
  literal_glob: {
    severity: null,
    meaning: 'the entry has `?`, `[…]` or `{…}`, which are ordinary characters: only `*` is special',
    remedy: 'write one entry for each, or set `path_match_type` to `regex`',
  },
  literal_target: {
    severity: 'warning',
    meaning:
      "a redirect's `target` has a `*`, a group such as `$1` or a placeholder, which are literal text there",
    remedy:
      'set `path_match_type` to `regex` and `target_mode` to `captures`, and write the varying part as a group, `$1`',
  },
  missing_key: {
    severity: 'info',
    meaning:
      'the rule has no `key`, so it is identified by its content, and an edit resets what it remembers: counters, clearances, health',
    remedy: 'give it a short key',
  },
  needless_entry: {
    severity: 'info',
    meaning:
      'the rule matches the same requests without the entry: another entry, or several together, match all that it matches',
    remedy: 'remove it',
  },
  path_in_host: {
    severity: 'warning',
    meaning: 'the host entry has a path or a query, so it never matches',
    remedy: 'leave it out; paths go to `path_includes`',
  },
  port_in_host: {
    severity: 'warning',
    meaning: 'the host entry has a port, so it never matches',
    remedy: 'leave it out; hosts match on every port',
  },
  port_in_path: {
    severity: null,
    meaning: 'the path entry starts with a host and a port, so it never matches',
    remedy: 'write the path alone; hosts go to `host_includes`',
  },
  redirect_circle: {
    severity: 'error',
    meaning: 'redirects of several rules lead from one to the next and back to the first',
    remedy: 'let one of the rules lead elsewhere, or exclude the path it leads to',
  },
  redirect_loop: {
    severity: 'error',
    meaning: 'the target, with the path appended, is matched by the rule again, each time with a longer path',
    remedy: 'list the target in `path_excludes`, or set `preserve_path` to false',
  },
  scheme_in_host: {
    severity: 'warning',
    meaning: 'the host entry has a scheme, so it never matches',
    remedy: 'leave out `https://`',
  },
  scheme_in_path: {
    severity: null,
    meaning: 'the path entry has a scheme, so it never matches',
    remedy: 'write the path alone; hosts go to `host_includes`',
  },
  self_redirect: {
    severity: null,
    meaning:
      'the redirect leads to an address that it matches itself; such a match does nothing. As a warning: other spellings of the path are redirected',
    remedy: 'write where the visitor should go',
  },
  shadowed_rule: {
    severity: null,
    meaning:
      'earlier rules take every request that the rule matches, which is proved, so the rule never acts',
    remedy: 'remove it, give it a lower `priority`, or narrow the earlier rules',
  },
  shared_names: {
    severity: 'info',
    meaning:
      'tokens of several issuers of the gateway name consumers alike: a subject of the one is that of the other',
    remedy:
      'write `consumer_prefix` in all of these issuers but one, unless their subjects are assigned together',
  },
  shared_response: {
    severity: null,
    meaning:
      'the cache rule has `mode: force` and stores responses to consumers that a gateway admits, and its key lacks their credentials, so consumers get responses to others. As information: it acts on such requests alone',
    remedy: 'exclude the base path of the gateway, unless its responses are the same for every consumer',
  },
  suffix_exclude: {
    severity: 'warning',
    meaning: 'paths that end in a suffix are excluded, and a visitor may append it to a protected path',
    remedy: 'exclude the folder in which such files are',
  },
  unanchored_host_regex: {
    severity: 'warning',
    meaning: 'the pattern is not anchored, so longer names match too',
    remedy: 'write `^` and `$` around it',
  },
  uncached_rule: {
    severity: 'warning',
    meaning:
      'gateways that require credentials take every request of the cache rule, and responses to consumers are stored only under `mode: force`',
    remedy: 'remove the rule, or write `mode: force` where responses are the same for every consumer',
  },
  uncallable_operation: {
    severity: 'warning',
    meaning: 'no consumer may call the operation, by its `acl` or by its scopes',
    remedy: 'name the operation in `acl` of a consumer, or list its scopes in `scopes`',
  },
  unknown_acl_entry: {
    severity: 'warning',
    meaning: 'the entry of `acl` is no id and no tag of an operation of any gateway',
    remedy: 'name an operation by its `operation_id` or one of its tags',
  },
  unknown_signature: {
    severity: 'warning',
    meaning: 'the exclusion names a signature that the loaded set does not have',
    remedy: 'remove it, or name the set that has it with `--signatures` or `--crs`',
  },
  unknown_tag: {
    severity: 'warning',
    meaning: 'the exclusion names a tag that no signature of the loaded set has',
    remedy: 'remove it, or name the set that has it with `--signatures` or `--crs`',
  },
  unmatched_rule: {
    severity: 'error',
    meaning: 'no request passes all filters of the rule, which is proved',
    remedy: 'widen its filters, or remove it',
  },
  unproved_rule: {
    severity: 'info',
    meaning:
      'neither a request that reaches the rule nor a proof that none does was found within the budget of steps',
    remedy: 'simplify its patterns, or try a request with `edgeplan simulate`',
  },
  unproxied_record: {
    severity: null,
    meaning: 'the rule names a record that is not proxied, so the edge never sees its requests',
    remedy: 'proxy the record, or remove it from the rule',
  },
  unreachable_operation: {
    severity: 'warning',
    meaning: 'another gateway with a longer base path takes every request of the operation',
    remedy: 'move the operation to that gateway, or remove it',
  },
  unused_scope: {
    severity: 'info',
    meaning: 'no operation asks for the scope of the consumer',
    remedy: 'remove it, or list it in `scopes` of an operation',
  },
  unused_token_issuer: {
    severity: 'info',
    meaning: 'no gateway names the token issuer, so its tokens are taken nowhere',
    remedy: 'name it in `auth.jwt.issuers` of a gateway, or remove it',
  },
  unused_usage_plan: {
    severity: 'info',
    meaning: 'no consumer and no gateway names the usage plan',
    remedy: 'name it in `usage_plan` of a consumer or `default_plan` of a gateway, or remove it',
  },
  waf_no_body: {
    severity: 'info',
    meaning: '`body_cap_kb` is 0, so bodies are not inspected, which most signatures above paranoia 1 do',
    remedy: 'write 128',
  },
  waf_no_signatures: {
    severity: 'warning',
    meaning:
      'lint was given `--signatures none`: with no signatures a waf rule inspects nothing, so attacks pass',
    remedy: 'name a set with --signatures or --crs, or give neither for the starter set',
  },
  waf_threshold: {
    severity: 'info',
    meaning:
      'the threshold is above the score of one critical match, so an attack that one signature detects passes',
    remedy: 'write 5, or try it first with `action_mode: dry_run`',
  },
  wildcard_in_regex: {
    severity: null,
    meaning: 'the pattern looks like a wildcard: `/*` repeats a slash there',
    remedy: 'set `path_match_type` to `wildcard`, or write `.*`',
  },
} as const satisfies CodeList;
