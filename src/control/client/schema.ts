/**
 * Every operation of the API with its parameters, bodies and answers, from `/docs/openapi.yaml`. Generated: `npm run
 * generate` writes it, and a test compares it with the document.
 */
export interface paths {
    readonly "/domains/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Domains the account owns or is a member of, by name
         * @description Any key may.
         */
        readonly get: operations["getDomains"];
        readonly put?: never;
        /**
         * Add a domain, or claim a name that another account has added and nobody has proved
         * @description Any key may.
         */
        readonly post: operations["postDomains"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/ns-sets": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The nameserver sets a managed domain can be delegated to, the recommended one first
         * @description Any key may.
         */
        readonly get: operations["getDomainsNsSets"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One domain with its settings, progress and what the caller may do
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomain"];
        /**
         * Change settings of a domain; fields left out keep their value
         * @description Needs the permission `domain.settings` on the domain.
         */
        readonly put: operations["putDomain"];
        readonly post?: never;
        /**
         * Delete a domain with its records, rules and zone, for good
         * @description Needs the permission `domain.delete` on the domain. Also on a disabled domain.
         */
        readonly delete: operations["deleteDomain"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/developer-mode": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Bypass the cache for three hours from now
         * @description Needs the permission `domain.settings` on the domain.
         */
        readonly post: operations["postDomainDeveloperMode"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/verify": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Prove ownership of the name once the TXT record of `verification` is published
         * @description Needs the permission `domain.settings` on the domain.
         */
        readonly post: operations["postDomainVerify"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/enable": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Bring a disabled domain back: active when the proof still holds, else where a new domain starts
         * @description Needs the permission `domain.settings` on the domain. Also on a disabled domain.
         */
        readonly post: operations["postDomainEnable"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/check-ns": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Look at the delegation now; once an hour
         * @description Needs the permission `domain.settings` on the domain.
         */
        readonly post: operations["postDomainCheckNs"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/features": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * What the plan of a domain includes, and current usage against its limits
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainFeatures"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/cache/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * How much nodes have cached of a domain, by their last reports
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainCache"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Purge a domain's cache on every node
         * @description Needs the permission `rules.edit` on the domain. The domain's subscription must allow it.
         */
        readonly delete: operations["deleteDomainCache"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/cache/entries": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The cached URLs of a domain, by the last reports of nodes, page by page
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainCacheEntries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/cache/purge": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Purge cached responses by URL, prefix or tag on every node
         * @description Needs the permission `rules.edit` on the domain. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainCachePurge"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/cache/refresh": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Mark cached responses as stale on every node: the next request revalidates them with the origin
         * @description Needs the permission `rules.edit` on the domain. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainCacheRefresh"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/records/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Records of a domain by id
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainRecords"];
        readonly put?: never;
        /**
         * Add a record
         * @description Needs the permission `records.edit` on the domain. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRecords"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/records/batch-update": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Change many records; each by itself, and 200 even when some fail
         * @description Needs the permission `records.edit` on the domain.
         */
        readonly post: operations["postDomainRecordsBatchUpdate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/records/batch-delete": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Delete many records; 200 even when some are not there
         * @description Needs the permission `records.edit` on the domain.
         */
        readonly post: operations["postDomainRecordsBatchDelete"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/records/import": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Add the records of a BIND zone file; `problems` lists the lines that were not added
         * @description Needs the permission `records.edit` on the domain.
         */
        readonly post: operations["postDomainRecordsImport"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/records/export": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * All records as a BIND zone file
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainRecordsExport"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/records/{recordId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One record
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainRecordsByRecordId"];
        /**
         * Change a record; fields left out keep their value
         * @description Needs the permission `records.edit` on the domain.
         */
        readonly put: operations["putDomainRecordsByRecordId"];
        readonly post?: never;
        /**
         * Delete a record and take it out of every rule that names it
         * @description Needs the permission `records.edit` on the domain.
         */
        readonly delete: operations["deleteDomainRecordsByRecordId"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Rules of all types, by type and in evaluation order within each; `Link` leads to the next page
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRules"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/hits/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * How often every rule matched, in evaluation order, and what dry_run rules would have changed; `Link` leads to the next page
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesHits"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/drop/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Rules of type drop in evaluation order: all, or page by page
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesDrop"];
        readonly put?: never;
        /**
         * Add a rule of type drop
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesDrop"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/drop/reorder": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /**
         * Give rules of type drop a new order: priorities 10, 20, 30 …
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesDropReorder"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/drop/{ruleId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One rule of type drop
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesDropByRuleId"];
        /**
         * Change a rule of type drop; fields left out keep their value
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesDropByRuleId"];
        readonly post?: never;
        /**
         * Delete a rule of type drop
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly delete: operations["deleteDomainRulesDropByRuleId"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/drop/{ruleId}/toggle": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /**
         * Turn a rule of type drop on or off
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly patch: operations["patchDomainRulesDropByRuleIdToggle"];
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/fingerprint/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Rules of type fingerprint in evaluation order: all, or page by page
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesFingerprint"];
        readonly put?: never;
        /**
         * Add a rule of type fingerprint
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesFingerprint"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/fingerprint/reorder": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /**
         * Give rules of type fingerprint a new order: priorities 10, 20, 30 …
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesFingerprintReorder"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/fingerprint/{ruleId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One rule of type fingerprint
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesFingerprintByRuleId"];
        /**
         * Change a rule of type fingerprint; fields left out keep their value
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesFingerprintByRuleId"];
        readonly post?: never;
        /**
         * Delete a rule of type fingerprint
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly delete: operations["deleteDomainRulesFingerprintByRuleId"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/fingerprint/{ruleId}/toggle": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /**
         * Turn a rule of type fingerprint on or off
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly patch: operations["patchDomainRulesFingerprintByRuleIdToggle"];
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/bot-route/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Rules of type bot_route in evaluation order: all, or page by page
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesBotRoute"];
        readonly put?: never;
        /**
         * Add a rule of type bot_route
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesBotRoute"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/bot-route/reorder": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /**
         * Give rules of type bot_route a new order: priorities 10, 20, 30 …
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesBotRouteReorder"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/bot-route/{ruleId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One rule of type bot_route
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesBotRouteByRuleId"];
        /**
         * Change a rule of type bot_route; fields left out keep their value
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesBotRouteByRuleId"];
        readonly post?: never;
        /**
         * Delete a rule of type bot_route
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly delete: operations["deleteDomainRulesBotRouteByRuleId"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/bot-route/{ruleId}/toggle": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /**
         * Turn a rule of type bot_route on or off
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly patch: operations["patchDomainRulesBotRouteByRuleIdToggle"];
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/rate-limit/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Rules of type rate_limit in evaluation order: all, or page by page
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesRateLimit"];
        readonly put?: never;
        /**
         * Add a rule of type rate_limit
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesRateLimit"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/rate-limit/reorder": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /**
         * Give rules of type rate_limit a new order: priorities 10, 20, 30 …
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesRateLimitReorder"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/rate-limit/{ruleId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One rule of type rate_limit
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesRateLimitByRuleId"];
        /**
         * Change a rule of type rate_limit; fields left out keep their value
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesRateLimitByRuleId"];
        readonly post?: never;
        /**
         * Delete a rule of type rate_limit
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly delete: operations["deleteDomainRulesRateLimitByRuleId"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/rate-limit/{ruleId}/toggle": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /**
         * Turn a rule of type rate_limit on or off
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly patch: operations["patchDomainRulesRateLimitByRuleIdToggle"];
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/waf/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Rules of type waf in evaluation order: all, or page by page
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesWaf"];
        readonly put?: never;
        /**
         * Add a rule of type waf
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesWaf"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/waf/reorder": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /**
         * Give rules of type waf a new order: priorities 10, 20, 30 …
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesWafReorder"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/waf/{ruleId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One rule of type waf
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesWafByRuleId"];
        /**
         * Change a rule of type waf; fields left out keep their value
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesWafByRuleId"];
        readonly post?: never;
        /**
         * Delete a rule of type waf
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly delete: operations["deleteDomainRulesWafByRuleId"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/waf/{ruleId}/toggle": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /**
         * Turn a rule of type waf on or off
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly patch: operations["patchDomainRulesWafByRuleIdToggle"];
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/redirect/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Rules of type redirect in evaluation order: all, or page by page
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesRedirect"];
        readonly put?: never;
        /**
         * Add a rule of type redirect
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesRedirect"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/redirect/reorder": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /**
         * Give rules of type redirect a new order: priorities 10, 20, 30 …
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesRedirectReorder"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/redirect/{ruleId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One rule of type redirect
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesRedirectByRuleId"];
        /**
         * Change a rule of type redirect; fields left out keep their value
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesRedirectByRuleId"];
        readonly post?: never;
        /**
         * Delete a rule of type redirect
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly delete: operations["deleteDomainRulesRedirectByRuleId"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/redirect/{ruleId}/toggle": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /**
         * Turn a rule of type redirect on or off
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly patch: operations["patchDomainRulesRedirectByRuleIdToggle"];
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/captcha/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Rules of type captcha in evaluation order: all, or page by page
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesCaptcha"];
        readonly put?: never;
        /**
         * Add a rule of type captcha
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesCaptcha"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/captcha/reorder": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /**
         * Give rules of type captcha a new order: priorities 10, 20, 30 …
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesCaptchaReorder"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/captcha/{ruleId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One rule of type captcha
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesCaptchaByRuleId"];
        /**
         * Change a rule of type captcha; fields left out keep their value
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesCaptchaByRuleId"];
        readonly post?: never;
        /**
         * Delete a rule of type captcha
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly delete: operations["deleteDomainRulesCaptchaByRuleId"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/captcha/{ruleId}/toggle": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /**
         * Turn a rule of type captcha on or off
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly patch: operations["patchDomainRulesCaptchaByRuleIdToggle"];
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/rewrite/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Rules of type rewrite in evaluation order: all, or page by page
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesRewrite"];
        readonly put?: never;
        /**
         * Add a rule of type rewrite
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesRewrite"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/rewrite/reorder": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /**
         * Give rules of type rewrite a new order: priorities 10, 20, 30 …
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesRewriteReorder"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/rewrite/{ruleId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One rule of type rewrite
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesRewriteByRuleId"];
        /**
         * Change a rule of type rewrite; fields left out keep their value
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesRewriteByRuleId"];
        readonly post?: never;
        /**
         * Delete a rule of type rewrite
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly delete: operations["deleteDomainRulesRewriteByRuleId"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/rewrite/{ruleId}/toggle": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /**
         * Turn a rule of type rewrite on or off
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly patch: operations["patchDomainRulesRewriteByRuleIdToggle"];
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/cache/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Rules of type cache in evaluation order: all, or page by page
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesCache"];
        readonly put?: never;
        /**
         * Add a rule of type cache
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesCache"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/cache/reorder": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /**
         * Give rules of type cache a new order: priorities 10, 20, 30 …
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesCacheReorder"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/cache/{ruleId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One rule of type cache
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesCacheByRuleId"];
        /**
         * Change a rule of type cache; fields left out keep their value
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesCacheByRuleId"];
        readonly post?: never;
        /**
         * Delete a rule of type cache
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly delete: operations["deleteDomainRulesCacheByRuleId"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/cache/{ruleId}/toggle": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /**
         * Turn a rule of type cache on or off
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly patch: operations["patchDomainRulesCacheByRuleIdToggle"];
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/origin_route/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Rules of type origin_route in evaluation order: all, or page by page
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesOriginRoute"];
        readonly put?: never;
        /**
         * Add a rule of type origin_route
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesOriginRoute"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/origin_route/reorder": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /**
         * Give rules of type origin_route a new order: priorities 10, 20, 30 …
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesOriginRouteReorder"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/origin_route/{ruleId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One rule of type origin_route
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesOriginRouteByRuleId"];
        /**
         * Change a rule of type origin_route; fields left out keep their value
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesOriginRouteByRuleId"];
        readonly post?: never;
        /**
         * Delete a rule of type origin_route
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly delete: operations["deleteDomainRulesOriginRouteByRuleId"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/origin_route/{ruleId}/toggle": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /**
         * Turn a rule of type origin_route on or off
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly patch: operations["patchDomainRulesOriginRouteByRuleIdToggle"];
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/origin_pool/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Rules of type origin_pool in evaluation order: all, or page by page
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesOriginPool"];
        readonly put?: never;
        /**
         * Add a rule of type origin_pool
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesOriginPool"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/origin_pool/reorder": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /**
         * Give rules of type origin_pool a new order: priorities 10, 20, 30 …
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesOriginPoolReorder"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/origin_pool/{ruleId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One rule of type origin_pool
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesOriginPoolByRuleId"];
        /**
         * Change a rule of type origin_pool; fields left out keep their value
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesOriginPoolByRuleId"];
        readonly post?: never;
        /**
         * Delete a rule of type origin_pool
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly delete: operations["deleteDomainRulesOriginPoolByRuleId"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/origin_pool/{ruleId}/toggle": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /**
         * Turn a rule of type origin_pool on or off
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly patch: operations["patchDomainRulesOriginPoolByRuleIdToggle"];
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/error-page/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Rules of type error_page in evaluation order: all, or page by page
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesErrorPage"];
        readonly put?: never;
        /**
         * Add a rule of type error_page
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesErrorPage"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/error-page/reorder": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /**
         * Give rules of type error_page a new order: priorities 10, 20, 30 …
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesErrorPageReorder"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/error-page/{ruleId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One rule of type error_page
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesErrorPageByRuleId"];
        /**
         * Change a rule of type error_page; fields left out keep their value
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesErrorPageByRuleId"];
        readonly post?: never;
        /**
         * Delete a rule of type error_page
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly delete: operations["deleteDomainRulesErrorPageByRuleId"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/error-page/{ruleId}/toggle": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /**
         * Turn a rule of type error_page on or off
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly patch: operations["patchDomainRulesErrorPageByRuleIdToggle"];
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/headers/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Rules of type headers in evaluation order: all, or page by page
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesHeaders"];
        readonly put?: never;
        /**
         * Add a rule of type headers
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesHeaders"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/headers/reorder": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /**
         * Give rules of type headers a new order: priorities 10, 20, 30 …
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesHeadersReorder"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/headers/{ruleId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One rule of type headers
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainRulesHeadersByRuleId"];
        /**
         * Change a rule of type headers; fields left out keep their value
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainRulesHeadersByRuleId"];
        readonly post?: never;
        /**
         * Delete a rule of type headers
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly delete: operations["deleteDomainRulesHeadersByRuleId"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/headers/{ruleId}/toggle": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /**
         * Turn a rule of type headers on or off
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly patch: operations["patchDomainRulesHeadersByRuleIdToggle"];
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/drop/batch-create": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Add rules of type drop, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesDropBatchCreate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/drop/batch-update": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Change rules of type drop, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesDropBatchUpdate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/drop/batch-delete": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Delete rules of type drop, at most 100; 200 even when some are not there
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesDropBatchDelete"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/fingerprint/batch-create": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Add rules of type fingerprint, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesFingerprintBatchCreate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/fingerprint/batch-update": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Change rules of type fingerprint, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesFingerprintBatchUpdate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/fingerprint/batch-delete": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Delete rules of type fingerprint, at most 100; 200 even when some are not there
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesFingerprintBatchDelete"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/bot-route/batch-create": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Add rules of type bot_route, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesBotRouteBatchCreate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/bot-route/batch-update": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Change rules of type bot_route, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesBotRouteBatchUpdate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/bot-route/batch-delete": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Delete rules of type bot_route, at most 100; 200 even when some are not there
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesBotRouteBatchDelete"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/rate-limit/batch-create": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Add rules of type rate_limit, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesRateLimitBatchCreate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/rate-limit/batch-update": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Change rules of type rate_limit, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesRateLimitBatchUpdate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/rate-limit/batch-delete": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Delete rules of type rate_limit, at most 100; 200 even when some are not there
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesRateLimitBatchDelete"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/waf/batch-create": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Add rules of type waf, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesWafBatchCreate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/waf/batch-update": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Change rules of type waf, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesWafBatchUpdate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/waf/batch-delete": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Delete rules of type waf, at most 100; 200 even when some are not there
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesWafBatchDelete"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/redirect/batch-create": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Add rules of type redirect, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesRedirectBatchCreate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/redirect/batch-update": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Change rules of type redirect, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesRedirectBatchUpdate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/redirect/batch-delete": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Delete rules of type redirect, at most 100; 200 even when some are not there
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesRedirectBatchDelete"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/captcha/batch-create": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Add rules of type captcha, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesCaptchaBatchCreate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/captcha/batch-update": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Change rules of type captcha, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesCaptchaBatchUpdate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/captcha/batch-delete": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Delete rules of type captcha, at most 100; 200 even when some are not there
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesCaptchaBatchDelete"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/rewrite/batch-create": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Add rules of type rewrite, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesRewriteBatchCreate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/rewrite/batch-update": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Change rules of type rewrite, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesRewriteBatchUpdate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/rewrite/batch-delete": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Delete rules of type rewrite, at most 100; 200 even when some are not there
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesRewriteBatchDelete"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/cache/batch-create": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Add rules of type cache, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesCacheBatchCreate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/cache/batch-update": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Change rules of type cache, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesCacheBatchUpdate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/cache/batch-delete": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Delete rules of type cache, at most 100; 200 even when some are not there
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesCacheBatchDelete"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/origin_route/batch-create": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Add rules of type origin_route, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesOriginRouteBatchCreate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/origin_route/batch-update": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Change rules of type origin_route, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesOriginRouteBatchUpdate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/origin_route/batch-delete": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Delete rules of type origin_route, at most 100; 200 even when some are not there
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesOriginRouteBatchDelete"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/origin_pool/batch-create": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Add rules of type origin_pool, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesOriginPoolBatchCreate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/origin_pool/batch-update": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Change rules of type origin_pool, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesOriginPoolBatchUpdate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/origin_pool/batch-delete": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Delete rules of type origin_pool, at most 100; 200 even when some are not there
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesOriginPoolBatchDelete"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/error-page/batch-create": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Add rules of type error_page, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesErrorPageBatchCreate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/error-page/batch-update": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Change rules of type error_page, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesErrorPageBatchUpdate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/error-page/batch-delete": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Delete rules of type error_page, at most 100; 200 even when some are not there
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesErrorPageBatchDelete"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/headers/batch-create": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Add rules of type headers, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainRulesHeadersBatchCreate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/headers/batch-update": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Change rules of type headers, at most 100; each by itself, and 200 even when some fail
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesHeadersBatchUpdate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/rules/headers/batch-delete": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Delete rules of type headers, at most 100; 200 even when some are not there
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainRulesHeadersBatchDelete"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/lists/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Named lists of the domain, by name
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainLists"];
        readonly put?: never;
        /**
         * Add a named list of the domain; rules name it by `@` and its name
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainLists"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/lists/{listName}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One named list of the domain, with the rules that name it
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainListsByListName"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Delete a named list of the domain that no rule names
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly delete: operations["deleteDomainListsByListName"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/lists/{listName}/entries": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Entries of a named list of the domain in order, page by page
         * @description Needs the permission `domain.view` on the domain. A role without it is answered 404.
         */
        readonly get: operations["getDomainListsByListNameEntries"];
        /**
         * Replace all entries of a named list of the domain; all or none
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainListsByListNameEntries"];
        /**
         * Add entries, or replace those that match the same, of a named list of the domain; all or none
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainListsByListNameEntries"];
        /**
         * Remove entries of a named list of the domain; all or none
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly delete: operations["deleteDomainListsByListNameEntries"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/lists/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Named lists of the account, by name
         * @description Any key may.
         */
        readonly get: operations["getLists"];
        readonly put?: never;
        /**
         * Add a named list of the account; rules name it by `@` and its name
         * @description Any key may.
         */
        readonly post: operations["postLists"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/lists/{listName}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One named list of the account, with the rules that name it
         * @description Any key may.
         */
        readonly get: operations["getListsByListName"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Delete a named list of the account that no rule names
         * @description Any key may.
         */
        readonly delete: operations["deleteListsByListName"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/lists/{listName}/entries": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Entries of a named list of the account in order, page by page
         * @description Any key may.
         */
        readonly get: operations["getListsByListNameEntries"];
        /**
         * Replace all entries of a named list of the account; all or none
         * @description Any key may.
         */
        readonly put: operations["putListsByListNameEntries"];
        /**
         * Add entries, or replace those that match the same, of a named list of the account; all or none
         * @description Any key may.
         */
        readonly post: operations["postListsByListNameEntries"];
        /**
         * Remove entries of a named list of the account; all or none
         * @description Any key may.
         */
        readonly delete: operations["deleteListsByListNameEntries"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/lists/{listName}/feed": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /**
         * Set the feed of a named list of the domain, which its entries are read from; it is fetched within seconds
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly put: operations["putDomainListsByListNameFeed"];
        readonly post?: never;
        /**
         * Remove the feed of a named list of the domain; the entries stay
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly delete: operations["deleteDomainListsByListNameFeed"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/lists/{listName}/feed/refresh": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Fetch the feed of a named list of the domain within seconds
         * @description Needs the permission `rules.edit` on the domain. A role without it is answered 404.
         */
        readonly post: operations["postDomainListsByListNameFeedRefresh"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/lists/{listName}/feed": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /**
         * Set the feed of a named list of the account, which its entries are read from; it is fetched within seconds
         * @description Any key may.
         */
        readonly put: operations["putListsByListNameFeed"];
        readonly post?: never;
        /**
         * Remove the feed of a named list of the account; the entries stay
         * @description Any key may.
         */
        readonly delete: operations["deleteListsByListNameFeed"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/lists/{listName}/feed/refresh": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Fetch the feed of a named list of the account within seconds
         * @description Any key may.
         */
        readonly post: operations["postListsByListNameFeedRefresh"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/ssl/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the certificates of a domain
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainSsl"];
        readonly put?: never;
        /**
         * Upload a certificate with its private key
         * @description Needs the permission `domain.settings` on the domain. The domain's subscription must allow it.
         */
        readonly post: operations["postDomainSsl"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/ssl/parse": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Say what a certificate is and what is wrong with it, without storing it
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly post: operations["postDomainSslParse"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/ssl/issue": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Obtain a certificate for names of a domain
         * @description Needs the permission `domain.settings` on the domain.
         */
        readonly post: operations["postDomainSslIssue"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/ssl/{certificateId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /**
         * Delete a certificate
         * @description Needs the permission `domain.settings` on the domain.
         */
        readonly delete: operations["deleteDomainSslByCertificateId"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/members/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The owner and the members of a domain
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainMembers"];
        readonly put?: never;
        /**
         * Invite an account to the domain; it becomes a member when it accepts, within 14 days
         * @description Needs the permission `domain.settings` on the domain.
         */
        readonly post: operations["postDomainMembers"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/members/{userId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One member of a domain
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainMembersByUserId"];
        /**
         * Change a member's role
         * @description Needs the permission `domain.settings` on the domain.
         */
        readonly put: operations["putDomainMembersByUserId"];
        readonly post?: never;
        /**
         * Take a member off a domain; anybody may take themselves off
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly delete: operations["deleteDomainMembersByUserId"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/invitations/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Pending invitations to the domain
         * @description Needs the permission `domain.settings` on the domain.
         */
        readonly get: operations["getDomainInvitations"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/invitations/{invitationId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /**
         * Withdraw a pending invitation
         * @description Needs the permission `domain.settings` on the domain.
         */
        readonly delete: operations["deleteDomainInvitationsByInvitationId"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/invitations/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Pending invitations of the account
         * @description Any key may.
         */
        readonly get: operations["getInvitations"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/invitations/{invitationId}/accept": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Accept an invitation: the account becomes a member of the domain
         * @description Any key may.
         */
        readonly post: operations["postInvitationsByInvitationIdAccept"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/invitations/{invitationId}/decline": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Decline an invitation
         * @description Any key may.
         */
        readonly post: operations["postInvitationsByInvitationIdDecline"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/audit/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The audit log of a domain, newest first; `before` an entry id goes on from there
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainAudit"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/traffic": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Traffic of the last minutes, and which rules matched how often; nodes report once a minute
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainTraffic"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/analytics/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Traffic of a period: totals, a point for each step, and requests divided by one dimension
         * @description Needs the permission `domain.view` on the domain. The domain's subscription must allow it.
         */
        readonly get: operations["getDomainAnalytics"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/analytics/top/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The most frequent paths, addresses, countries, User-Agents, JA4 fingerprints or referrers
         * @description Needs the permission `domain.view` on the domain. The domain's subscription must allow it.
         */
        readonly get: operations["getDomainAnalyticsTop"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/notifications/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Notifications of the account, newest first; `cursor` is the `next_cursor` of the page before
         * @description Any key may.
         */
        readonly get: operations["getNotifications"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/notifications/read": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Mark several notifications as read, or all of them
         * @description Any key may.
         */
        readonly post: operations["postNotificationsRead"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/notifications/test": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Send a test to every contact of the account; at most 30 e-mails and 10 SMS an hour
         * @description Any key may.
         */
        readonly post: operations["postNotificationsTest"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/notifications/{notificationId}/read": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /**
         * Mark a notification as read
         * @description Any key may.
         */
        readonly patch: operations["patchNotificationsByNotificationIdRead"];
        readonly trace?: never;
    };
    readonly "/notifications/contact": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The e-mail address and the phone number that notifications are sent to
         * @description Any key may.
         */
        readonly get: operations["getNotificationsContact"];
        /**
         * Set an address; it gets a code, valid for 30 minutes, and is in use once the code was sent back
         * @description Any key may.
         */
        readonly put: operations["putNotificationsContact"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/notifications/contact/confirm": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Confirm an address by its code; void after 5 wrong ones
         * @description Any key may.
         */
        readonly post: operations["postNotificationsContactConfirm"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/notifications/preferences": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Which notifications go out on which channel; the feed has all of them
         * @description Any key may.
         */
        readonly get: operations["getNotificationsPreferences"];
        /**
         * Choose which notifications go out on which channel
         * @description Any key may.
         */
        readonly put: operations["putNotificationsPreferences"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/webhooks/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Webhooks of the account
         * @description Any key may.
         */
        readonly get: operations["getWebhooks"];
        readonly put?: never;
        /**
         * Add a webhook, at most 5; requests are signed by the Standard Webhooks scheme
         * @description Any key may.
         */
        readonly post: operations["postWebhooks"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/webhooks/{webhookId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /**
         * Remove a webhook
         * @description Any key may.
         */
        readonly delete: operations["deleteWebhooksByWebhookId"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/wallet": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The wallet of the account, and the domains that are suspended because of it
         * @description Any key may.
         */
        readonly get: operations["getWallet"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/invoices/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Invoices of the account, newest first
         * @description Any key may.
         */
        readonly get: operations["getInvoices"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/invoices/{invoiceId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One invoice of the account
         * @description Any key may.
         */
        readonly get: operations["getInvoicesByInvoiceId"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/subscriptions/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * What the domains that the account owns have bought, with their traffic against the quota
         * @description Any key may.
         */
        readonly get: operations["getSubscriptions"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/subscriptions/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * What the domain has bought, with its traffic against the quota
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainSubscriptions"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/tickets/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Support tickets of the account, newest first
         * @description Any key may.
         */
        readonly get: operations["getTickets"];
        readonly put?: never;
        /**
         * Open a support ticket
         * @description Any key may.
         */
        readonly post: operations["postTickets"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/tickets/{ticketId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One support ticket with its messages
         * @description Any key may.
         */
        readonly get: operations["getTicketsByTicketId"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/tickets/{ticketId}/messages": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Write to a support ticket; a closed one is opened again
         * @description Any key may.
         */
        readonly post: operations["postTicketsByTicketIdMessages"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/tickets/{ticketId}/close": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Close a support ticket
         * @description Any key may.
         */
        readonly post: operations["postTicketsByTicketIdClose"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/publishing": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * How changes of rules are published: each at once, or together as a draft
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainPublishing"];
        /**
         * Publish changes of rules each at once, or collect them in a draft; 409 while a draft has changes
         * @description Needs the permission `domain.settings` on the domain.
         */
        readonly put: operations["putDomainPublishing"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/draft": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Show the draft of a domain: the rules that it changes, with time and author; `Link` leads to the next page
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainDraft"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Throw a draft away: the rules are again those that are published
         * @description Needs the permission `rules.edit` on the domain.
         */
        readonly delete: operations["deleteDomainDraft"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/draft/diff": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * What a draft would change: rules field by field, and proved outcomes, each with a request that shows it; page by page
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainDraftDiff"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/draft/publish": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Publish a draft; with `If-Match`, only the one that was read
         * @description Needs the permission `rules.edit` on the domain.
         */
        readonly post: operations["postDomainDraftPublish"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/invariants": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * What must be proved of the rules before a draft is published
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainInvariants"];
        /**
         * Require invariants of every draft before it is published; replaces the list
         * @description Needs the permission `domain.settings` on the domain.
         */
        readonly put: operations["putDomainInvariants"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/invariants/proof": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Prove the invariants of the stored rules, which are those of the draft
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainInvariantsProof"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/plans/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List what was published, newest first
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainPlans"];
        readonly put?: never;
        /**
         * Publish the domain again as it is stored
         * @description Needs the permission `rules.edit` on the domain.
         */
        readonly post: operations["postDomainPlans"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/plans/{revision}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read one revision: its printed plan, page by page, and how far it has come
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainPlansByRevision"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/plans/{revision}/diff/{other}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Compare two revisions, as a unified diff of their printed plans; `Link` leads to the next page of whole lines
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainPlansByRevisionDiffByOther"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/plans/{revision}/bytes": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Fetch the sealed plan of a revision, as nodes evaluate it; `edgeplan-digest` is its SHA-256, `edgeplan-signatures` that of the signatures of its `waf` rules
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainPlansByRevisionBytes"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/plans/{revision}/signatures": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Fetch the sealed signatures that `waf` rules of a revision inspect with; `edgeplan-digest` is their SHA-256
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainPlansByRevisionSignatures"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/plans/{revision}/lists/{digest}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Fetch a sealed list that the plan of a revision names by digest, as nodes evaluate it; `edgeplan-digest` is its SHA-256
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainPlansByRevisionListsByDigest"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/plans/{revision}/rollback": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Publish the content of an old revision as a new, higher one
         * @description Needs the permission `rules.edit` on the domain.
         */
        readonly post: operations["postDomainPlansByRevisionRollback"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/simulate": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Ask what a request would meet: the rules that had their say, then the skipped ones, page by page
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly post: operations["postDomainSimulate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/diff": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Compare two revisions by their rules: added, removed, changed field by field, or only moved; page by page
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainDiff"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/analysis": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Look for mistakes in the stored rules: what can never match, what is never reached, what is meant otherwise; `Link` leads to the next page
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainAnalysis"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/recommendations/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * What should be changed, with evidence and the change, the most severe first; `Link` leads to the next page, and `X-Left-Out` names what was not read: `counts`, `logs`
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainRecommendations"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/zone": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The zone of a domain as name servers transfer it: serial, records, problems
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainZone"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/zone/check": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Compare what each name server answers with the zone: serial and record sets
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainZoneCheck"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/dnssec": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The DS records that the parent zone needs, where the name servers sign the zone
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainDnssec"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/uptime/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The uptime of a domain: whether an incident is open and why, and availability by hour
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainUptime"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/uptime/incidents/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The incidents of a domain, newest first; `before` an incident id goes on from there
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainUptimeIncidents"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/logs/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Search the logged decisions, newest first; of requests that were only forwarded a sample is logged
         * @description Needs the permission `domain.view` on the domain. The domain's subscription must allow it.
         */
        readonly get: operations["getDomainLogs"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/logs/{decisionId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read one logged decision, or one counted line
         * @description Needs the permission `domain.view` on the domain. The domain's subscription must allow it.
         */
        readonly get: operations["getDomainLogsByDecisionId"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/logs/{decisionId}/trace": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Explain a logged decision by the plan that made it, rule by rule, page by page
         * @description Needs the permission `domain.view` on the domain. The domain's subscription must allow it.
         */
        readonly get: operations["getDomainLogsByDecisionIdTrace"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/domains/{domain}/nodes/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List what each node of the domain's groups said last of its plan
         * @description Needs the permission `domain.view` on the domain.
         */
        readonly get: operations["getDomainNodes"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/nodes/": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the nodes
         * @description Any key may.
         */
        readonly get: operations["getNodes"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        readonly AuditEntry: {
            /** @description the id of the entry; later entries have higher ones */
            readonly id: number;
            /**
             * Format: date-time
             * @description when it happened
             */
            readonly at: string;
            /** @description the account that acted; `null`: the service, or its operator */
            readonly user_id: number | null;
            /** @description the name of that account */
            readonly user: string | null;
            /** @description the API key that was used; `null`: none */
            readonly key_id: number | null;
            /** @description what was done, such as `rule.update` */
            readonly action: string;
            /** @description what it was done to, such as `drop/7`; empty: the domain */
            readonly subject: string;
            /** @description the fields before; `null`: there was no object */
            readonly before: unknown | null;
            /** @description the fields after; `null`: there is no object any more */
            readonly after: unknown | null;
        };
        readonly BatchCreateResult: {
            readonly succeeded: number;
            readonly failed: number;
            readonly results: readonly {
                /** @description place in `creates`, from 0 */
                readonly index: number;
                /** @description of the rule; null when ok is false */
                readonly id: number | null;
                readonly ok: boolean;
                /** @description only when ok is false */
                readonly error?: string;
            }[];
        };
        readonly BatchResult: {
            readonly succeeded: number;
            readonly failed: number;
            readonly results: readonly {
                readonly id: number;
                readonly ok: boolean;
                /** @description only when ok is false */
                readonly error?: string;
            }[];
        };
        readonly BotRouteRule: {
            readonly id: number;
            readonly domain_id: number;
            /** @constant */
            readonly type: "bot_route";
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids: readonly number[];
            /** @description `false`: the rule matches no request */
            readonly enabled: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditions"];
            /** @description kinds of bots that the rule applies to; `*` is every classified bot */
            readonly bot_kinds: readonly ("*" | "gptbot" | "oai-searchbot" | "chatgpt-user" | "claudebot" | "claude-user" | "perplexitybot" | "perplexity-user" | "googlebot" | "google-extended" | "bingbot" | "ccbot" | "bytespider" | "meta-externalagent" | "amazonbot" | "applebot" | "duckduckbot" | "yandexbot" | "ahrefsbot" | "semrushbot" | "mj12bot" | "generic-bot")[];
            /** @description only bots whose identity was verified, by forward-confirmed reverse DNS or published address ranges */
            readonly require_verified: boolean;
            /**
             * @description `block` answers 403, `alt_content` answers with `body`, `alt_origin` forwards to `alt_dest`, `tag` only marks the request
             * @enum {string}
             */
            readonly action: "block" | "alt_content" | "alt_origin" | "tag";
            /** @description status under `alt_content` */
            readonly status: number;
            /** @description response body under `alt_content` */
            readonly body: string;
            /** @description IP address or host name of the origin under `alt_origin` */
            readonly alt_dest: string;
            /** @description port under `alt_origin`; null: as `alt_scheme` says */
            readonly alt_port: number | null;
            /**
             * @description protocol of connections under `alt_origin`
             * @enum {string}
             */
            readonly alt_scheme: "http" | "https";
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
        };
        readonly BotRouteRuleCreate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /**
             * @description `false`: the rule matches no request
             * @default true
             */
            readonly enabled?: boolean;
            /**
             * @description order of evaluation within the type: lower first, then the lower id
             * @default 100
             */
            readonly priority?: number;
            /**
             * @description legacy: one more entry of `host_includes`
             * @default
             */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /**
             * @description hosts that the rule applies to; empty: every host
             * @default []
             */
            readonly host_includes?: readonly string[];
            /**
             * @description hosts that the rule does not apply to; they win over `host_includes`
             * @default []
             */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @default enforce
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /** @description kinds of bots that the rule applies to; `*` is every classified bot */
            readonly bot_kinds: readonly ("*" | "gptbot" | "oai-searchbot" | "chatgpt-user" | "claudebot" | "claude-user" | "perplexitybot" | "perplexity-user" | "googlebot" | "google-extended" | "bingbot" | "ccbot" | "bytespider" | "meta-externalagent" | "amazonbot" | "applebot" | "duckduckbot" | "yandexbot" | "ahrefsbot" | "semrushbot" | "mj12bot" | "generic-bot")[];
            /**
             * @description only bots whose identity was verified, by forward-confirmed reverse DNS or published address ranges
             * @default false
             */
            readonly require_verified?: boolean;
            /**
             * @description `block` answers 403, `alt_content` answers with `body`, `alt_origin` forwards to `alt_dest`, `tag` only marks the request
             * @enum {string}
             */
            readonly action: "block" | "alt_content" | "alt_origin" | "tag";
            /**
             * @description status under `alt_content`
             * @default 200
             */
            readonly status?: number;
            /**
             * @description response body under `alt_content`
             * @default
             */
            readonly body?: string;
            /**
             * @description IP address or host name of the origin under `alt_origin`
             * @default
             */
            readonly alt_dest?: string;
            /**
             * @description port under `alt_origin`; null: as `alt_scheme` says
             * @default null
             */
            readonly alt_port?: number | null;
            /**
             * @description protocol of connections under `alt_origin`
             * @default https
             * @enum {string}
             */
            readonly alt_scheme?: "http" | "https";
        };
        readonly BotRouteRuleUpdate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /** @description `false`: the rule matches no request */
            readonly enabled?: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority?: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes?: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /** @description kinds of bots that the rule applies to; `*` is every classified bot */
            readonly bot_kinds?: readonly ("*" | "gptbot" | "oai-searchbot" | "chatgpt-user" | "claudebot" | "claude-user" | "perplexitybot" | "perplexity-user" | "googlebot" | "google-extended" | "bingbot" | "ccbot" | "bytespider" | "meta-externalagent" | "amazonbot" | "applebot" | "duckduckbot" | "yandexbot" | "ahrefsbot" | "semrushbot" | "mj12bot" | "generic-bot")[];
            /** @description only bots whose identity was verified, by forward-confirmed reverse DNS or published address ranges */
            readonly require_verified?: boolean;
            /**
             * @description `block` answers 403, `alt_content` answers with `body`, `alt_origin` forwards to `alt_dest`, `tag` only marks the request
             * @enum {string}
             */
            readonly action?: "block" | "alt_content" | "alt_origin" | "tag";
            /** @description status under `alt_content` */
            readonly status?: number;
            /** @description response body under `alt_content` */
            readonly body?: string;
            /** @description IP address or host name of the origin under `alt_origin` */
            readonly alt_dest?: string;
            /** @description port under `alt_origin`; null: as `alt_scheme` says */
            readonly alt_port?: number | null;
            /**
             * @description protocol of connections under `alt_origin`
             * @enum {string}
             */
            readonly alt_scheme?: "http" | "https";
        };
        readonly CacheFootprint: {
            /** @description responses in memory, or on disk and used since the node started */
            readonly entries: number;
            /** @description octets of their bodies */
            readonly octets: number;
            /** @description files of the disk cache, also those of before the start of the node */
            readonly disk_files: number;
            /** @description octets of these files */
            readonly disk_octets: number;
            /**
             * Format: date-time
             * @description when the oldest report arrived; `null`: no node has reported
             */
            readonly oldest_at: string | null;
            /**
             * Format: date-time
             * @description when the newest report arrived
             */
            readonly newest_at: string | null;
            /** @description nodes that have stored responses of the domain, by name */
            readonly nodes: readonly {
                readonly name: string;
                /**
                 * Format: date-time
                 * @description when the oldest report of its processes arrived
                 */
                readonly at: string;
                /** @description responses in memory, or on disk and used since the node started */
                readonly entries: number;
                /** @description octets of their bodies */
                readonly octets: number;
                /** @description files of the disk cache, also those of before the start of the node */
                readonly disk_files: number;
                /** @description octets of these files */
                readonly disk_octets: number;
            }[];
        };
        readonly CacheRule: {
            readonly id: number;
            readonly domain_id: number;
            /** @constant */
            readonly type: "cache";
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids: readonly number[];
            /** @description `false`: the rule matches no request */
            readonly enabled: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditions"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @enum {string}
             */
            readonly path_match_type: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes: readonly string[];
            /** @description paths that the rule does not apply to; they win over `path_includes` */
            readonly path_excludes: readonly string[];
            /**
             * @description `standard` follows the origin's headers, `force` caches without them, `bypass` does not cache
             * @enum {string}
             */
            readonly mode: "standard" | "force" | "bypass";
            /** @description seconds for which the edge reuses a response; null: as the origin says */
            readonly edge_ttl_sec: number | null;
            /** @description seconds for which browsers reuse a response (`Cache-Control: max-age`); null: as the origin says */
            readonly browser_ttl_sec: number | null;
            /**
             * @description which query parameters are part of the cache key and reach the origin: `all`, `none`, or those that `query_params` lists (`include`)
             * @enum {string}
             */
            readonly query_mode: "all" | "none" | "include";
            /** @description parameter names under `query_mode: include` */
            readonly query_params: readonly string[];
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
        };
        readonly CacheRuleCreate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /**
             * @description `false`: the rule matches no request
             * @default true
             */
            readonly enabled?: boolean;
            /**
             * @description order of evaluation within the type: lower first, then the lower id
             * @default 100
             */
            readonly priority?: number;
            /**
             * @description legacy: one more entry of `host_includes`
             * @default
             */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /**
             * @description hosts that the rule applies to; empty: every host
             * @default []
             */
            readonly host_includes?: readonly string[];
            /**
             * @description hosts that the rule does not apply to; they win over `host_includes`
             * @default []
             */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @default enforce
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @default wildcard
             * @enum {string}
             */
            readonly path_match_type?: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes?: readonly string[];
            /**
             * @description paths that the rule does not apply to; they win over `path_includes`
             * @default []
             */
            readonly path_excludes?: readonly string[];
            /**
             * @description `standard` follows the origin's headers, `force` caches without them, `bypass` does not cache
             * @default standard
             * @enum {string}
             */
            readonly mode?: "standard" | "force" | "bypass";
            /**
             * @description seconds for which the edge reuses a response; null: as the origin says
             * @default null
             */
            readonly edge_ttl_sec?: number | null;
            /**
             * @description seconds for which browsers reuse a response (`Cache-Control: max-age`); null: as the origin says
             * @default null
             */
            readonly browser_ttl_sec?: number | null;
            /**
             * @description which query parameters are part of the cache key and reach the origin: `all`, `none`, or those that `query_params` lists (`include`)
             * @default all
             * @enum {string}
             */
            readonly query_mode?: "all" | "none" | "include";
            /**
             * @description parameter names under `query_mode: include`
             * @default []
             */
            readonly query_params?: readonly string[];
        };
        readonly CacheRuleUpdate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /** @description `false`: the rule matches no request */
            readonly enabled?: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority?: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes?: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @enum {string}
             */
            readonly path_match_type?: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes?: readonly string[];
            /** @description paths that the rule does not apply to; they win over `path_includes` */
            readonly path_excludes?: readonly string[];
            /**
             * @description `standard` follows the origin's headers, `force` caches without them, `bypass` does not cache
             * @enum {string}
             */
            readonly mode?: "standard" | "force" | "bypass";
            /** @description seconds for which the edge reuses a response; null: as the origin says */
            readonly edge_ttl_sec?: number | null;
            /** @description seconds for which browsers reuse a response (`Cache-Control: max-age`); null: as the origin says */
            readonly browser_ttl_sec?: number | null;
            /**
             * @description which query parameters are part of the cache key and reach the origin: `all`, `none`, or those that `query_params` lists (`include`)
             * @enum {string}
             */
            readonly query_mode?: "all" | "none" | "include";
            /** @description parameter names under `query_mode: include` */
            readonly query_params?: readonly string[];
        };
        readonly CachedEntry: {
            /** @description of the cache key, without the parameters that the cache rule leaves out */
            readonly url: string;
            /** @description of the newest response */
            readonly status: number;
            /** @description octets of the bodies of all copies */
            readonly octets: number;
            /** @description stored responses: one for each variant, process and node */
            readonly copies: number;
            /** @description nodes that have stored it */
            readonly nodes: number;
            /**
             * Format: date-time
             * @description when the newest response was stored
             */
            readonly stored_at: string;
            /**
             * Format: date-time
             * @description until when the newest response is fresh; past: it is revalidated
             */
            readonly fresh_until: string;
            /** @description tags of the newest response, at most 30 of them */
            readonly tags: readonly string[];
            /**
             * Format: date-time
             * @description when the newest report with it arrived
             */
            readonly at: string;
        };
        readonly CaptchaRule: {
            readonly id: number;
            readonly domain_id: number;
            /** @constant */
            readonly type: "captcha";
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids: readonly number[];
            /** @description `false`: the rule matches no request */
            readonly enabled: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditions"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @enum {string}
             */
            readonly path_match_type: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes: readonly string[];
            /** @description paths that the rule does not apply to; they win over `path_includes` */
            readonly path_excludes: readonly string[];
            /** @description seconds for which a solved challenge is remembered for the visitor */
            readonly ttl_sec: number;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
        };
        readonly CaptchaRuleCreate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /**
             * @description `false`: the rule matches no request
             * @default true
             */
            readonly enabled?: boolean;
            /**
             * @description order of evaluation within the type: lower first, then the lower id
             * @default 100
             */
            readonly priority?: number;
            /**
             * @description legacy: one more entry of `host_includes`
             * @default
             */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /**
             * @description hosts that the rule applies to; empty: every host
             * @default []
             */
            readonly host_includes?: readonly string[];
            /**
             * @description hosts that the rule does not apply to; they win over `host_includes`
             * @default []
             */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @default enforce
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @default wildcard
             * @enum {string}
             */
            readonly path_match_type?: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes?: readonly string[];
            /**
             * @description paths that the rule does not apply to; they win over `path_includes`
             * @default []
             */
            readonly path_excludes?: readonly string[];
            /**
             * @description seconds for which a solved challenge is remembered for the visitor
             * @default 1800
             */
            readonly ttl_sec?: number;
        };
        readonly CaptchaRuleUpdate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /** @description `false`: the rule matches no request */
            readonly enabled?: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority?: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes?: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @enum {string}
             */
            readonly path_match_type?: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes?: readonly string[];
            /** @description paths that the rule does not apply to; they win over `path_includes` */
            readonly path_excludes?: readonly string[];
            /** @description seconds for which a solved challenge is remembered for the visitor */
            readonly ttl_sec?: number;
        };
        readonly Certificate: {
            /** @description the id of the certificate */
            readonly id: number;
            /**
             * @description `custom`: uploaded; `acme`: issued for the domain
             * @enum {string}
             */
            readonly source: "acme" | "custom";
            /** @description its DNS names */
            readonly names: readonly string[];
            /** @description the name of its issuer */
            readonly issuer?: string;
            /**
             * Format: date-time
             * @description when it begins to be in force; absent, as the next three: it is not issued
             */
            readonly not_before?: string;
            /**
             * Format: date-time
             * @description when it expires
             */
            readonly not_after?: string;
            /** @description the type of its key */
            readonly key_type?: string;
            /** @description SHA-256 of the certificate, lower-case hex */
            readonly sha256?: string;
            /**
             * @description `active`: nodes serve it; `pending`: it is being obtained; `failed`: it is tried again, or has lost its key
             * @enum {string}
             */
            readonly status: "pending" | "active" | "failed" | "expired" | "revoked";
            /** @description why it failed, or is not renewed */
            readonly error?: string;
            /**
             * Format: date-time
             * @description when it is renewed; absent: nothing renews it
             */
            readonly renew_at?: string;
        };
        readonly Certificates: {
            /**
             * @description of the certificate that is in force for longest; `expiring`: for 14 days at most
             * @enum {string}
             */
            readonly status: "none" | "pending" | "active" | "expiring" | "expired" | "failed";
            /** @description by id */
            readonly certificates: readonly components["schemas"]["Certificate"][];
            /** @description proxied names that no certificate in force covers; absent: there are none */
            readonly uncovered_hostnames?: readonly string[];
        };
        readonly DnsRecord: {
            readonly id: number;
            readonly domain_id: number;
            /** @description host name, relative to the domain or absolute; `@` is the apex */
            readonly name: string;
            /**
             * @description type of the record; only A, AAAA, CNAME and ALIAS can be proxied
             * @enum {string}
             */
            readonly type: "A" | "AAAA" | "CNAME" | "ALIAS" | "MX" | "TXT" | "NS" | "SRV" | "CAA" | "PTR" | "HTTPS" | "SVCB" | "TLSA";
            /** @description data of the record: an address, a host name or text, as the type says; of a proxied record the edge's origin */
            readonly destination: string;
            /** @description preference of an MX record: lower first; null for other types */
            readonly mx_priority: number | null;
            /** @description whether requests for the name go through the edge */
            readonly proxied: boolean;
            /** @description challenges every visitor of the name, whatever the rules say */
            readonly captcha: boolean;
            /**
             * @description protocol towards the origin of a proxied record: `Default` follows the request's, `Auto` finds out, `Http`, `Https`
             * @enum {string}
             */
            readonly scheme: "Default" | "Auto" | "Http" | "Https";
            /** @description port of the origin; null follows the scheme */
            readonly port: number | null;
            /** @description Host header and TLS server name that the origin gets; empty: the request's own host */
            readonly host_header: string;
            /** @description counts requests of the name for the uptime of the domain */
            readonly monitor: boolean;
            /** @description seconds that the edge waits for the origin before it answers 504; null: the default of the node */
            readonly timeout: number | null;
            /** @description note without effect */
            readonly comment: string;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
        };
        readonly DnsRecordCreate: {
            /** @description host name, relative to the domain or absolute; `@` is the apex */
            readonly name: string;
            /**
             * @description type of the record; only A, AAAA, CNAME and ALIAS can be proxied
             * @enum {string}
             */
            readonly type: "A" | "AAAA" | "CNAME" | "ALIAS" | "MX" | "TXT" | "NS" | "SRV" | "CAA" | "PTR" | "HTTPS" | "SVCB" | "TLSA";
            /** @description data of the record: an address, a host name or text, as the type says; of a proxied record the edge's origin */
            readonly destination: string;
            /**
             * @description preference of an MX record: lower first; null for other types
             * @default null
             */
            readonly mx_priority?: number | null;
            /**
             * @description whether requests for the name go through the edge
             * @default false
             */
            readonly proxied?: boolean;
            /**
             * @description challenges every visitor of the name, whatever the rules say
             * @default false
             */
            readonly captcha?: boolean;
            /**
             * @description protocol towards the origin of a proxied record: `Default` follows the request's, `Auto` finds out, `Http`, `Https`
             * @default Default
             * @enum {string}
             */
            readonly scheme?: "Default" | "Auto" | "Http" | "Https";
            /**
             * @description port of the origin; null follows the scheme
             * @default null
             */
            readonly port?: number | null;
            /**
             * @description Host header and TLS server name that the origin gets; empty: the request's own host
             * @default
             */
            readonly host_header?: string;
            /**
             * @description counts requests of the name for the uptime of the domain
             * @default false
             */
            readonly monitor?: boolean;
            /**
             * @description seconds that the edge waits for the origin before it answers 504; null: the default of the node
             * @default null
             */
            readonly timeout?: number | null;
            /**
             * @description note without effect
             * @default
             */
            readonly comment?: string;
        };
        readonly DnsRecordUpdate: {
            /** @description host name, relative to the domain or absolute; `@` is the apex */
            readonly name?: string;
            /**
             * @description type of the record; only A, AAAA, CNAME and ALIAS can be proxied
             * @enum {string}
             */
            readonly type?: "A" | "AAAA" | "CNAME" | "ALIAS" | "MX" | "TXT" | "NS" | "SRV" | "CAA" | "PTR" | "HTTPS" | "SVCB" | "TLSA";
            /** @description data of the record: an address, a host name or text, as the type says; of a proxied record the edge's origin */
            readonly destination?: string;
            /** @description preference of an MX record: lower first; null for other types */
            readonly mx_priority?: number | null;
            /** @description whether requests for the name go through the edge */
            readonly proxied?: boolean;
            /** @description challenges every visitor of the name, whatever the rules say */
            readonly captcha?: boolean;
            /**
             * @description protocol towards the origin of a proxied record: `Default` follows the request's, `Auto` finds out, `Http`, `Https`
             * @enum {string}
             */
            readonly scheme?: "Default" | "Auto" | "Http" | "Https";
            /** @description port of the origin; null follows the scheme */
            readonly port?: number | null;
            /** @description Host header and TLS server name that the origin gets; empty: the request's own host */
            readonly host_header?: string;
            /** @description counts requests of the name for the uptime of the domain */
            readonly monitor?: boolean;
            /** @description seconds that the edge waits for the origin before it answers 504; null: the default of the node */
            readonly timeout?: number | null;
            /** @description note without effect */
            readonly comment?: string;
        };
        readonly Dnssec: {
            /**
             * @description `unsigned`: the name servers publish no CDS records; `unknown`: none of them answered
             * @enum {string}
             */
            readonly status: "signed" | "unsigned" | "unknown";
            /** @description the DS records that the parent zone needs */
            readonly ds: readonly {
                /** @description key tag */
                readonly key_tag: number;
                /** @description the number of the algorithm */
                readonly algorithm: number;
                /** @description the number of the digest type */
                readonly digest_type: number;
                /** @description hexadecimal */
                readonly digest: string;
                /** @description the record for the registrar, in zone file form */
                readonly record: string;
            }[];
            /** @description why no name server answered */
            readonly fault: string | null;
        };
        readonly Domain: {
            /** @description the id of the domain */
            readonly id: number;
            /** @description the name, in lower case and Punycode */
            readonly name: string;
            /**
             * @description the state; nodes serve a domain that is `active` or `moved`
             * @enum {string}
             */
            readonly status: "pending" | "unverified" | "active" | "moved" | "disabled" | "banned";
            /**
             * @description `managed`: delegated to our nameservers; `external`: DNS elsewhere
             * @enum {string}
             */
            readonly dns_mode: "managed" | "external";
            /** @description the account that owns the domain */
            readonly user_id: number;
            /**
             * Format: date-time
             * @description when its current verification started
             */
            readonly verification_started_at?: string;
            /**
             * Format: date-time
             * @description since when the delegation is awaited
             */
            readonly pending_since?: string;
            /**
             * Format: date-time
             * @description since when the delegation leads elsewhere
             */
            readonly moved_since?: string;
            /**
             * Format: date-time
             * @description when the delegation is checked next
             */
            readonly next_check_at?: string;
            /**
             * Format: date-time
             * @description when check-ns was last called
             */
            readonly last_manual_ns_check_at?: string;
            /** @description whether the service has suspended the domain; nodes then refuse its requests */
            readonly suspended: boolean;
            /**
             * Format: date-time
             * @description when it was suspended
             */
            readonly suspended_at?: string;
            /**
             * Format: date-time
             * @description when the domain was added
             */
            readonly created_at: string;
            /**
             * Format: date-time
             * @description when it was last changed
             */
            readonly updated_at: string;
            /** @description its certificates in short */
            readonly ssl: {
                /**
                 * @description of the certificate that is in force for longest; `expiring`: for 14 days at most
                 * @enum {string}
                 */
                readonly status: "none" | "pending" | "active" | "expiring" | "expired" | "failed";
                /**
                 * Format: date-time
                 * @description when it expires
                 */
                readonly expires_at?: string;
                /** @description whole days until then */
                readonly days_remaining?: number;
                /** @description proxied names that no certificate in force covers; absent: there are none */
                readonly uncovered_hostnames?: readonly string[];
            };
            /** @description the subscription in force; absent: the default tier applies */
            readonly subscription?: {
                readonly id: number;
                readonly plan_slug: string;
                readonly plan_term_id: number | null;
                /** Format: date-time */
                readonly started_at: string;
                /** Format: date-time */
                readonly ends_at: string | null;
            };
            /**
             * @description the role of the account that asks
             * @enum {string}
             */
            readonly my_role: "viewer" | "editor" | "admin" | "owner";
            /** @description gigabytes that the disk cache of the domain may use */
            readonly cache_l2_max_gb: number;
            /** @description days after which the disk cache drops an entry at the latest */
            readonly cache_l2_ttl_days: number;
            /**
             * @description megabytes of the largest response body that is cached; larger ones stream through
             * @enum {number}
             */
            readonly cache_cap_mb: 128 | 256 | 512 | 2048 | 4096;
            /** @description adds `X-Content-Type-Options: nosniff` to responses */
            readonly sec_no_sniff: boolean;
            /** @description adds `Referrer-Policy: strict-origin-when-cross-origin` to responses */
            readonly sec_referrer_policy: boolean;
            /** @description removes headers that name the origin's software from responses */
            readonly sec_strip_headers: boolean;
            /** @description answers requests with `Accept: text/markdown` with a Markdown rendering of HTML pages; needs an active plan */
            readonly markdown_for_agents: boolean;
            /** @description notifies the owner of a sustained outage of the origin */
            readonly outage_alerts: boolean;
            /** @description percentage of origin errors from which on a minute counts as down */
            readonly uptime_threshold_pct: number;
            /** @description minutes that must be down before an incident opens */
            readonly uptime_window_min: number;
            /** @description requests to the origin that the window must hold before an incident opens */
            readonly uptime_min_requests: number;
            /** @description minutes with requests that the window must hold; at most `uptime_window_min` */
            readonly uptime_min_active_min: number;
            /** @description consecutive minutes with requests and not down after which an incident resolves */
            readonly uptime_recover_min: number;
            /** Format: date-time */
            readonly developer_mode_until?: string;
            readonly verification?: {
                readonly host: string;
                /** @constant */
                readonly type: "TXT";
                readonly value: string;
                readonly verified: boolean;
                /** Format: date-time */
                readonly expires_at?: string;
                readonly seconds_remaining?: number;
            };
            readonly permissions: readonly ("domain.view" | "records.edit" | "rules.edit" | "domain.settings" | "domain.delete")[];
        };
        readonly DomainSummary: {
            /** @description the id of the domain */
            readonly id: number;
            /** @description the name, in lower case and Punycode */
            readonly name: string;
            /**
             * @description the state; nodes serve a domain that is `active` or `moved`
             * @enum {string}
             */
            readonly status: "pending" | "unverified" | "active" | "moved" | "disabled" | "banned";
            /**
             * @description `managed`: delegated to our nameservers; `external`: DNS elsewhere
             * @enum {string}
             */
            readonly dns_mode: "managed" | "external";
            /** @description the account that owns the domain */
            readonly user_id: number;
            /**
             * Format: date-time
             * @description when its current verification started
             */
            readonly verification_started_at?: string;
            /**
             * Format: date-time
             * @description since when the delegation is awaited
             */
            readonly pending_since?: string;
            /**
             * Format: date-time
             * @description since when the delegation leads elsewhere
             */
            readonly moved_since?: string;
            /**
             * Format: date-time
             * @description when the delegation is checked next
             */
            readonly next_check_at?: string;
            /**
             * Format: date-time
             * @description when check-ns was last called
             */
            readonly last_manual_ns_check_at?: string;
            /** @description whether the service has suspended the domain; nodes then refuse its requests */
            readonly suspended: boolean;
            /**
             * Format: date-time
             * @description when it was suspended
             */
            readonly suspended_at?: string;
            /**
             * Format: date-time
             * @description when the domain was added
             */
            readonly created_at: string;
            /**
             * Format: date-time
             * @description when it was last changed
             */
            readonly updated_at: string;
            /** @description its certificates in short */
            readonly ssl: {
                /**
                 * @description of the certificate that is in force for longest; `expiring`: for 14 days at most
                 * @enum {string}
                 */
                readonly status: "none" | "pending" | "active" | "expiring" | "expired" | "failed";
                /**
                 * Format: date-time
                 * @description when it expires
                 */
                readonly expires_at?: string;
                /** @description whole days until then */
                readonly days_remaining?: number;
                /** @description proxied names that no certificate in force covers; absent: there are none */
                readonly uncovered_hostnames?: readonly string[];
            };
            /** @description the subscription in force; absent: the default tier applies */
            readonly subscription?: {
                readonly id: number;
                readonly plan_slug: string;
                readonly plan_term_id: number | null;
                /** Format: date-time */
                readonly started_at: string;
                /** Format: date-time */
                readonly ends_at: string | null;
            };
            /**
             * @description the role of the account that asks
             * @enum {string}
             */
            readonly my_role: "viewer" | "editor" | "admin" | "owner";
        };
        readonly Draft: {
            /**
             * @description `automatic`: there is no draft, and nothing waits
             * @enum {string}
             */
            readonly publish_mode: "automatic" | "manual";
            /** @description the number of the draft: it rises with every change, and is in `X-Draft` of each */
            readonly edit: number;
            /**
             * Format: date-time
             * @description the first change after the last publication
             */
            readonly since: string | null;
            /** @description what nodes should serve; `null`: nothing is published */
            readonly published_revision: number | null;
            /** @description that revision is a rollback, which the next publication ends; differences are those from the published rules */
            readonly rolled_back: boolean;
            /** @description rules that differ from the published ones, on all pages */
            readonly changed: number;
            /** @description by id of the rule */
            readonly changes: readonly {
                /** @description `<type>/<id>` */
                readonly rule: string;
                /**
                 * @description `reordered`: its priority alone differs
                 * @enum {string}
                 */
                readonly change: "created" | "changed" | "deleted" | "reordered";
                /**
                 * Format: date-time
                 * @description when it was changed last; `null`: not known any more
                 */
                readonly at: string | null;
                /** @description who changed it last; `null`: not known any more */
                readonly account_id: number | null;
                readonly account: string | null;
            }[];
        };
        readonly DropRule: {
            readonly id: number;
            readonly domain_id: number;
            /** @constant */
            readonly type: "drop";
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids: readonly number[];
            /** @description `false`: the rule matches no request */
            readonly enabled: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditions"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @enum {string}
             */
            readonly path_match_type: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes: readonly string[];
            /** @description paths that the rule does not apply to; they win over `path_includes` */
            readonly path_excludes: readonly string[];
            /**
             * @description `include`: `countries` are dropped; `exclude`: every other country is, unknown ones too
             * @enum {string}
             */
            readonly country_match_type: "include" | "exclude";
            /** @description ISO 3166-1 alpha-2 codes, or `@name` of a list; empty: no country filter */
            readonly countries: readonly string[];
            /**
             * @description `include`: `ips` are dropped; `exclude`: every other address is, unknown ones too
             * @enum {string}
             */
            readonly ip_match_type: "include" | "exclude";
            /** @description addresses, CIDR prefixes and ranges `first-last`, IPv4 or IPv6, stored in canonical form, or `@name` of a list; empty: no address filter */
            readonly ips: readonly string[];
            /**
             * @description what the edge answers; default: 403, which is stored as absent
             * @enum {number}
             */
            readonly status?: 403 | 404 | 410 | 421 | 429 | 451 | 503;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
        };
        readonly DropRuleCreate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /**
             * @description `false`: the rule matches no request
             * @default true
             */
            readonly enabled?: boolean;
            /**
             * @description order of evaluation within the type: lower first, then the lower id
             * @default 100
             */
            readonly priority?: number;
            /**
             * @description legacy: one more entry of `host_includes`
             * @default
             */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /**
             * @description hosts that the rule applies to; empty: every host
             * @default []
             */
            readonly host_includes?: readonly string[];
            /**
             * @description hosts that the rule does not apply to; they win over `host_includes`
             * @default []
             */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @default enforce
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @default wildcard
             * @enum {string}
             */
            readonly path_match_type?: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes?: readonly string[];
            /**
             * @description paths that the rule does not apply to; they win over `path_includes`
             * @default []
             */
            readonly path_excludes?: readonly string[];
            /**
             * @description `include`: `countries` are dropped; `exclude`: every other country is, unknown ones too
             * @default include
             * @enum {string}
             */
            readonly country_match_type?: "include" | "exclude";
            /**
             * @description ISO 3166-1 alpha-2 codes, or `@name` of a list; empty: no country filter
             * @default []
             */
            readonly countries?: readonly string[];
            /**
             * @description `include`: `ips` are dropped; `exclude`: every other address is, unknown ones too
             * @default include
             * @enum {string}
             */
            readonly ip_match_type?: "include" | "exclude";
            /**
             * @description addresses, CIDR prefixes and ranges `first-last`, IPv4 or IPv6, stored in canonical form, or `@name` of a list; empty: no address filter
             * @default []
             */
            readonly ips?: readonly string[];
            /**
             * @description what the edge answers; default: 403, which is stored as absent
             * @enum {number}
             */
            readonly status?: 403 | 404 | 410 | 421 | 429 | 451 | 503;
        };
        readonly DropRuleUpdate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /** @description `false`: the rule matches no request */
            readonly enabled?: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority?: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes?: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @enum {string}
             */
            readonly path_match_type?: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes?: readonly string[];
            /** @description paths that the rule does not apply to; they win over `path_includes` */
            readonly path_excludes?: readonly string[];
            /**
             * @description `include`: `countries` are dropped; `exclude`: every other country is, unknown ones too
             * @enum {string}
             */
            readonly country_match_type?: "include" | "exclude";
            /** @description ISO 3166-1 alpha-2 codes, or `@name` of a list; empty: no country filter */
            readonly countries?: readonly string[];
            /**
             * @description `include`: `ips` are dropped; `exclude`: every other address is, unknown ones too
             * @enum {string}
             */
            readonly ip_match_type?: "include" | "exclude";
            /** @description addresses, CIDR prefixes and ranges `first-last`, IPv4 or IPv6, stored in canonical form, or `@name` of a list; empty: no address filter */
            readonly ips?: readonly string[];
            /**
             * @description what the edge answers; default: 403, which is stored as absent
             * @enum {number}
             */
            readonly status?: 403 | 404 | 410 | 421 | 429 | 451 | 503;
        };
        readonly DryRunEvidence: {
            /** @description `<type>/<id>` of the rule */
            readonly rule: string;
            /**
             * Format: date-time
             * @description the last change of the rule
             */
            readonly unchanged_since: string;
            /**
             * Format: date-time
             * @description start of the period, inclusive
             */
            readonly from: string;
            /**
             * Format: date-time
             * @description end of the period, exclusive
             */
            readonly to: string;
            /** @description requests of the domain */
            readonly requests: number;
            /** @description requests that the rule matched */
            readonly hits: number;
            /** @description requests whose decision it would have changed */
            readonly would_change: number;
            /** @description of the requests of the domain that it would have changed */
            readonly share: number;
            /** @description those by change, the most requests first, at most 10 */
            readonly changes: readonly {
                readonly from: string;
                readonly to: string;
                readonly instead: string | null;
                readonly requests: number;
            }[];
        };
        readonly Error: {
            /** @description for people: what is wrong, where, and what helps */
            readonly error: string;
        };
        readonly ErrorPageRule: {
            readonly id: number;
            readonly domain_id: number;
            /** @constant */
            readonly type: "error_page";
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids: readonly number[];
            /** @description `false`: the rule matches no request */
            readonly enabled: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditions"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @enum {string}
             */
            readonly path_match_type: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes: readonly string[];
            /** @description paths that the rule does not apply to; they win over `path_includes` */
            readonly path_excludes: readonly string[];
            /**
             * @description `svc` shows the service's page, `custom` one of `content`, `origin` the origin's own
             * @enum {string}
             */
            readonly mode: "svc" | "custom" | "origin";
            /** @description status codes that the rule applies to */
            readonly codes: readonly number[];
            /** @description left out in lists */
            readonly content?: {
                readonly [key: string]: string;
            };
            readonly content_codes: readonly number[];
            /** @description empty in lists */
            readonly content_bytes: {
                readonly [key: string]: number;
            };
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
        };
        readonly ErrorPageRuleCreate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /**
             * @description `false`: the rule matches no request
             * @default true
             */
            readonly enabled?: boolean;
            /**
             * @description order of evaluation within the type: lower first, then the lower id
             * @default 100
             */
            readonly priority?: number;
            /**
             * @description legacy: one more entry of `host_includes`
             * @default
             */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /**
             * @description hosts that the rule applies to; empty: every host
             * @default []
             */
            readonly host_includes?: readonly string[];
            /**
             * @description hosts that the rule does not apply to; they win over `host_includes`
             * @default []
             */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @default enforce
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @default wildcard
             * @enum {string}
             */
            readonly path_match_type?: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes?: readonly string[];
            /**
             * @description paths that the rule does not apply to; they win over `path_includes`
             * @default []
             */
            readonly path_excludes?: readonly string[];
            /**
             * @description `svc` shows the service's page, `custom` one of `content`, `origin` the origin's own
             * @default svc
             * @enum {string}
             */
            readonly mode?: "svc" | "custom" | "origin";
            /** @description status codes that the rule applies to */
            readonly codes: readonly number[];
            /**
             * @description HTML by status code, `0` for the fallback, under `mode: custom`
             * @default {}
             */
            readonly content?: {
                readonly [key: string]: string;
            };
        };
        readonly ErrorPageRuleUpdate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /** @description `false`: the rule matches no request */
            readonly enabled?: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority?: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes?: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @enum {string}
             */
            readonly path_match_type?: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes?: readonly string[];
            /** @description paths that the rule does not apply to; they win over `path_includes` */
            readonly path_excludes?: readonly string[];
            /**
             * @description `svc` shows the service's page, `custom` one of `content`, `origin` the origin's own
             * @enum {string}
             */
            readonly mode?: "svc" | "custom" | "origin";
            /** @description status codes that the rule applies to */
            readonly codes?: readonly number[];
            /** @description HTML by status code, `0` for the fallback, under `mode: custom` */
            readonly content?: {
                readonly [key: string]: string;
            };
        };
        readonly Features: {
            /** @description the number of the tier */
            readonly plan_id: number;
            /** @description the name of the tier */
            readonly plan_name: string;
            /** @description the slug of the tier */
            readonly plan_slug: string;
            /** @description whether a subscription is in force, or the default tier is not `free` */
            readonly has_active_plan: boolean;
            /** @description DNS records; `null`: unlimited */
            readonly max_records: number | null;
            /** @description traffic in a quota period, GB of 10^9 octets; `null`: unlimited */
            readonly max_traffic_gb: number | null;
            /** @description rules of one type; `null`: unlimited */
            readonly max_rules_per_set: number | null;
            /** @description gateway requests in 30 days; `null`: unlimited */
            readonly max_gateway_requests_30d: number | null;
            /** @description the largest `cache_cap_mb` of the domain, MB */
            readonly max_cache_cap_mb: number;
            /** @description disk for cached responses, GB */
            readonly max_cache_disk_gb: number;
            /** @description the longest time that a response may be cached, days */
            readonly max_cache_ttl_days: number;
            /** @description types of which no rule can be created; existing rules stay in effect */
            readonly disabled_rule_types: readonly ("drop" | "fingerprint" | "bot_route" | "rate_limit" | "waf" | "redirect" | "captcha" | "rewrite" | "cache" | "origin_route" | "origin_pool" | "error_page" | "headers")[];
            /** @description whether gateways may be used */
            readonly gateways_enabled: boolean;
            /** @description whether logs may be used */
            readonly logs_enabled: boolean;
            /** @description whether monitoring may be used */
            readonly monitoring_enabled: boolean;
            /** @description whether rules may be created and changed */
            readonly rules_enabled: boolean;
            /** @description whether the cache may be purged */
            readonly cache_purge_enabled: boolean;
            /** @description whether certificates of the customer may be used */
            readonly custom_ssl_enabled: boolean;
            /** @description whether WebSockets are proxied; otherwise nodes answer 403 */
            readonly ws_enabled: boolean;
            /** @description whether the Host header to an origin may be changed */
            readonly host_header_edit_enabled: boolean;
            /** @description whether uptime alerts are sent by SMS */
            readonly uptime_sms_enabled: boolean;
            /** @description whether the tier includes dedicated support */
            readonly dedicated_support_enabled: boolean;
            /** @description the use of each limit that can be counted */
            readonly domain_usage: readonly {
                /** @description the limit's name; of `max_rules_per_set`, followed by the type */
                readonly name: string;
                /** @description the current use, in the unit of the limit */
                readonly used: number;
                /** @description the limit; `null`: unlimited */
                readonly limit: number | null;
            }[];
            /** @description the term of the subscription, or the usual one of the tier */
            readonly plan_term_id: number;
            /** @description days that one payment covers */
            readonly billing_duration_days: number;
            /** @description days of a quota period */
            readonly quota_reset_days: number;
            /**
             * Format: date-time
             * @description the start of the current quota period
             */
            readonly quota_period_start: string;
            /**
             * Format: date-time
             * @description the end of the current quota period
             */
            readonly quota_period_end: string;
        };
        readonly FingerprintRule: {
            readonly id: number;
            readonly domain_id: number;
            /** @constant */
            readonly type: "fingerprint";
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids: readonly number[];
            /** @description `false`: the rule matches no request */
            readonly enabled: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditions"];
            /** @description JA4 fingerprints of the TLS ClientHello: exact, or a prefix that ends in `*`; empty: no filter */
            readonly match_ja4: readonly string[];
            /** @description JA4H fingerprints of the HTTP request: exact, or a prefix that ends in `*`; empty: no filter */
            readonly match_ja4h: readonly string[];
            /**
             * @description `drop` answers 403, `challenge` shows a challenge, `tag` only marks the request
             * @enum {string}
             */
            readonly action: "drop" | "challenge" | "tag";
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
        };
        readonly FingerprintRuleCreate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /**
             * @description `false`: the rule matches no request
             * @default true
             */
            readonly enabled?: boolean;
            /**
             * @description order of evaluation within the type: lower first, then the lower id
             * @default 100
             */
            readonly priority?: number;
            /**
             * @description legacy: one more entry of `host_includes`
             * @default
             */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /**
             * @description hosts that the rule applies to; empty: every host
             * @default []
             */
            readonly host_includes?: readonly string[];
            /**
             * @description hosts that the rule does not apply to; they win over `host_includes`
             * @default []
             */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @default enforce
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description JA4 fingerprints of the TLS ClientHello: exact, or a prefix that ends in `*`; empty: no filter
             * @default []
             */
            readonly match_ja4?: readonly string[];
            /**
             * @description JA4H fingerprints of the HTTP request: exact, or a prefix that ends in `*`; empty: no filter
             * @default []
             */
            readonly match_ja4h?: readonly string[];
            /**
             * @description `drop` answers 403, `challenge` shows a challenge, `tag` only marks the request
             * @enum {string}
             */
            readonly action: "drop" | "challenge" | "tag";
        };
        readonly FingerprintRuleUpdate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /** @description `false`: the rule matches no request */
            readonly enabled?: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority?: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes?: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /** @description JA4 fingerprints of the TLS ClientHello: exact, or a prefix that ends in `*`; empty: no filter */
            readonly match_ja4?: readonly string[];
            /** @description JA4H fingerprints of the HTTP request: exact, or a prefix that ends in `*`; empty: no filter */
            readonly match_ja4h?: readonly string[];
            /**
             * @description `drop` answers 403, `challenge` shows a challenge, `tag` only marks the request
             * @enum {string}
             */
            readonly action?: "drop" | "challenge" | "tag";
        };
        readonly HeadersRule: {
            readonly id: number;
            readonly domain_id: number;
            /** @constant */
            readonly type: "headers";
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids: readonly number[];
            /** @description `false`: the rule matches no request */
            readonly enabled: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditions"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @enum {string}
             */
            readonly path_match_type: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes: readonly string[];
            /** @description paths that the rule does not apply to; they win over `path_includes` */
            readonly path_excludes: readonly string[];
            /** @description changes of the request that the origin gets; the key of the cache stays the same */
            readonly request?: {
                /** @description fields that replace those of the same name: values by name. `${client_ip}`, `${client_country}`, `${host}`, `${scheme}`, `${method}`, `${request_id}`, `${ja4}`, `${bot_kind}` and `${tag(<rule>)}` insert facts of the request, `$$` is a literal `$`; a value with an unknown fact removes the field */
                readonly set?: {
                    readonly [key: string]: string;
                };
                /** @description fields that are added to those of the same name: values as of `set`; one with an unknown fact adds nothing */
                readonly add?: {
                    readonly [key: string]: string;
                };
                /** @description names of fields to remove */
                readonly remove?: readonly string[];
            };
            /** @description changes of the response that the visitor gets, from the origin, the cache or the edge itself; caches of the edge store the response without them */
            readonly response?: {
                /** @description fields that replace those of the same name: values by name. `${client_ip}`, `${client_country}`, `${host}`, `${scheme}`, `${method}`, `${request_id}`, `${ja4}`, `${bot_kind}` and `${tag(<rule>)}` insert facts of the request, `$$` is a literal `$`; a value with an unknown fact removes the field */
                readonly set?: {
                    readonly [key: string]: string;
                };
                /** @description fields that are added to those of the same name: values as of `set`; one with an unknown fact adds nothing */
                readonly add?: {
                    readonly [key: string]: string;
                };
                /** @description names of fields to remove */
                readonly remove?: readonly string[];
            };
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
        };
        readonly HeadersRuleCreate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /**
             * @description `false`: the rule matches no request
             * @default true
             */
            readonly enabled?: boolean;
            /**
             * @description order of evaluation within the type: lower first, then the lower id
             * @default 100
             */
            readonly priority?: number;
            /**
             * @description legacy: one more entry of `host_includes`
             * @default
             */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /**
             * @description hosts that the rule applies to; empty: every host
             * @default []
             */
            readonly host_includes?: readonly string[];
            /**
             * @description hosts that the rule does not apply to; they win over `host_includes`
             * @default []
             */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @default enforce
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @default wildcard
             * @enum {string}
             */
            readonly path_match_type?: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes?: readonly string[];
            /**
             * @description paths that the rule does not apply to; they win over `path_includes`
             * @default []
             */
            readonly path_excludes?: readonly string[];
            /** @description changes of the request that the origin gets; the key of the cache stays the same */
            readonly request?: {
                /** @description fields that replace those of the same name: values by name. `${client_ip}`, `${client_country}`, `${host}`, `${scheme}`, `${method}`, `${request_id}`, `${ja4}`, `${bot_kind}` and `${tag(<rule>)}` insert facts of the request, `$$` is a literal `$`; a value with an unknown fact removes the field */
                readonly set?: {
                    readonly [key: string]: string;
                };
                /** @description fields that are added to those of the same name: values as of `set`; one with an unknown fact adds nothing */
                readonly add?: {
                    readonly [key: string]: string;
                };
                /** @description names of fields to remove */
                readonly remove?: readonly string[];
            };
            /** @description changes of the response that the visitor gets, from the origin, the cache or the edge itself; caches of the edge store the response without them */
            readonly response?: {
                /** @description fields that replace those of the same name: values by name. `${client_ip}`, `${client_country}`, `${host}`, `${scheme}`, `${method}`, `${request_id}`, `${ja4}`, `${bot_kind}` and `${tag(<rule>)}` insert facts of the request, `$$` is a literal `$`; a value with an unknown fact removes the field */
                readonly set?: {
                    readonly [key: string]: string;
                };
                /** @description fields that are added to those of the same name: values as of `set`; one with an unknown fact adds nothing */
                readonly add?: {
                    readonly [key: string]: string;
                };
                /** @description names of fields to remove */
                readonly remove?: readonly string[];
            };
        };
        readonly HeadersRuleUpdate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /** @description `false`: the rule matches no request */
            readonly enabled?: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority?: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes?: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @enum {string}
             */
            readonly path_match_type?: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes?: readonly string[];
            /** @description paths that the rule does not apply to; they win over `path_includes` */
            readonly path_excludes?: readonly string[];
            /** @description changes of the request that the origin gets; the key of the cache stays the same */
            readonly request?: {
                /** @description fields that replace those of the same name: values by name. `${client_ip}`, `${client_country}`, `${host}`, `${scheme}`, `${method}`, `${request_id}`, `${ja4}`, `${bot_kind}` and `${tag(<rule>)}` insert facts of the request, `$$` is a literal `$`; a value with an unknown fact removes the field */
                readonly set?: {
                    readonly [key: string]: string;
                };
                /** @description fields that are added to those of the same name: values as of `set`; one with an unknown fact adds nothing */
                readonly add?: {
                    readonly [key: string]: string;
                };
                /** @description names of fields to remove */
                readonly remove?: readonly string[];
            };
            /** @description changes of the response that the visitor gets, from the origin, the cache or the edge itself; caches of the edge store the response without them */
            readonly response?: {
                /** @description fields that replace those of the same name: values by name. `${client_ip}`, `${client_country}`, `${host}`, `${scheme}`, `${method}`, `${request_id}`, `${ja4}`, `${bot_kind}` and `${tag(<rule>)}` insert facts of the request, `$$` is a literal `$`; a value with an unknown fact removes the field */
                readonly set?: {
                    readonly [key: string]: string;
                };
                /** @description fields that are added to those of the same name: values as of `set`; one with an unknown fact adds nothing */
                readonly add?: {
                    readonly [key: string]: string;
                };
                /** @description names of fields to remove */
                readonly remove?: readonly string[];
            };
        };
        readonly Hits: {
            /**
             * Format: date-time
             * @description start of the first step, inclusive
             */
            readonly from: string;
            /**
             * Format: date-time
             * @description end of the last step, exclusive
             */
            readonly to: string;
            /**
             * @description the unit of the counts; days begin at midnight UTC
             * @enum {string}
             */
            readonly step: "minute" | "hour" | "day";
            /** @description all rules of the domain in evaluation order: by phase, priority, id; unused ones with zeros */
            readonly rules: readonly components["schemas"]["RuleHits"][];
            /** @description rules with hits that do not exist any more, the most hits first, at most 100 */
            readonly removed: readonly {
                /**
                 * @description the type of the rule
                 * @enum {string}
                 */
                readonly type: "drop" | "fingerprint" | "bot_route" | "rate_limit" | "waf" | "redirect" | "captcha" | "rewrite" | "cache" | "origin_route" | "origin_pool" | "error_page" | "headers";
                /** @description the id of the rule */
                readonly id: number;
                /** @description requests that the rule matched, under dry_run too */
                readonly hits: number;
                /** @description hits by the mode that the rule had and by effect; a dry_run effect is what the rule would have done; `unknown`: reported by an earlier release */
                readonly by_effect: {
                    readonly enforce: {
                        readonly [key: string]: number;
                    };
                    readonly dry_run: {
                        readonly [key: string]: number;
                    };
                };
                /**
                 * Format: date-time
                 * @description the last hit; `null`: none in this period
                 */
                readonly last_at: string | null;
            }[];
            /** @description what no rule above includes */
            readonly uncounted: {
                /** @description hits beyond the rules that are counted apart in a minute */
                readonly hits: number;
                /** @description changes beyond those that are counted apart in a minute */
                readonly changes: number;
            };
        };
        readonly IdleDryRunEvidence: {
            /** @description `<type>/<id>` of the rule */
            readonly rule: string;
            /**
             * Format: date-time
             * @description the last change of the rule
             */
            readonly unchanged_since: string;
            /**
             * Format: date-time
             * @description start of the period, inclusive
             */
            readonly from: string;
            /**
             * Format: date-time
             * @description end of the period, exclusive
             */
            readonly to: string;
            /** @description requests of the domain */
            readonly requests: number;
            /** @description requests that the rule matched */
            readonly hits: number;
            /** @description requests whose decision it would have changed */
            readonly would_change: number;
            /** @description of the requests of the domain that it would have changed */
            readonly share: number;
            /** @description those by change, the most requests first, at most 10 */
            readonly changes: readonly {
                readonly from: string;
                readonly to: string;
                readonly instead: string | null;
                readonly requests: number;
            }[];
            /** @description matches, at most, whose effect is not known because another dry_run rule changed the decision */
            readonly hidden_at_most: number;
        };
        readonly Incident: {
            /** @description the id of the incident; later incidents have higher ones */
            readonly id: number;
            /**
             * Format: date-time
             * @description the start of the first minute that was down
             */
            readonly began_at: string;
            /**
             * Format: date-time
             * @description when the settings of the domain made it an incident
             */
            readonly opened_at: string;
            /**
             * Format: date-time
             * @description when it resolved; `null`: it is open
             */
            readonly resolved_at: string | null;
            /** @description `recovered`: the origin answers again; `no_traffic`: 24 hours without a monitored request */
            readonly resolution: ("recovered" | "no_traffic") | null;
            /** @description monitored requests from `began_at` on */
            readonly requests: number;
            /** @description those of them that the origin did not answer, or answered with 500 or more */
            readonly errors: number;
        };
        readonly Invitation: {
            /** @description the id of the invitation */
            readonly id: number;
            /** @description the name of the invited account */
            readonly name: string;
            /**
             * @description the role that the member gets
             * @enum {string}
             */
            readonly role: "viewer" | "editor" | "admin";
            /**
             * Format: date-time
             * @description when it was made
             */
            readonly created_at: string;
            /**
             * Format: date-time
             * @description when it was last changed
             */
            readonly updated_at: string;
            /**
             * Format: date-time
             * @description when it can be accepted no more
             */
            readonly expires_at: string;
        };
        readonly Invoice: {
            /** @description the id of the invoice */
            readonly id: number;
            /** @description its id in the billing of the operator */
            readonly reference: string;
            /** @description the number on the invoice */
            readonly number: string;
            /** @description the domain that it is for; `null`: the account */
            readonly domain: string | null;
            /**
             * @description `open` waits for payment, `void` was withdrawn
             * @enum {string}
             */
            readonly status: "open" | "paid" | "void";
            /** @description the currency by ISO 4217 */
            readonly currency: string;
            /** @description the total in minor units of the currency */
            readonly total: number;
            /**
             * Format: date-time
             * @description the start of the period that it covers; `null`: none
             */
            readonly period_start: string | null;
            /**
             * Format: date-time
             * @description the end of that period; `null`: none
             */
            readonly period_end: string | null;
            /**
             * Format: date-time
             * @description when it was issued
             */
            readonly issued_at: string;
            /**
             * Format: date-time
             * @description when it is due; `null`: at once, or it is not to be paid
             */
            readonly due_at: string | null;
            /**
             * Format: date-time
             * @description when it was paid; `null`: it was not
             */
            readonly paid_at: string | null;
            /** @description the charges, as the operator listed them; they need not add up to the total */
            readonly lines: readonly {
                /** @description what is charged */
                readonly description: string;
                /** @description the amount in minor units */
                readonly amount: number;
            }[];
        };
        readonly List: {
            readonly id: number;
            /** @description `null`: a list of the account, for all of its domains */
            readonly domain_id: number | null;
            readonly name: string;
            /** @enum {string} */
            readonly kind: "ip" | "asn" | "country" | "host" | "path" | "user_agent" | "redirect";
            /** @description how many entries it has */
            readonly entry_count: number;
            /** @description of its compiled form, at most */
            readonly octets: number;
            /** @description rises with each change of the entries */
            readonly version: number;
            /** @description where the entries are read from; absent: they are written through the API */
            readonly feed?: components["schemas"]["ListFeed"];
            readonly feed_state?: components["schemas"]["ListFeedState"];
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
        };
        readonly ListFeed: {
            /**
             * Format: uri
             * @description http or https; where `auth_header` is sent, https
             */
            readonly url: string;
            /**
             * @description `text`: an entry a line, comments after `#` and `;`
             * @enum {string}
             */
            readonly format: "text" | "csv" | "json";
            /** @description of `csv` a column, by its name or its number from 1; of `json` the names that lead to the values, with dots between them and `*` for all, such as `prefixes.*.ip_prefix` */
            readonly path?: string;
            /** @description minutes between two fetches */
            readonly every_min: number;
            /** @description whether a header is sent; it is never answered */
            readonly auth_header: boolean;
        };
        readonly ListFeedState: {
            /**
             * Format: date-time
             * @description the last fetch
             */
            readonly attempted_at: string | null;
            /**
             * Format: date-time
             * @description the last fetch whose content is in force
             */
            readonly succeeded_at: string | null;
            /**
             * Format: date-time
             * @description the next fetch, at the earliest
             */
            readonly next_at: string;
            /** @description fetches since then that changed nothing */
            readonly failures: number;
            /** @description of the content in force */
            readonly etag?: string;
            /** @description why the last fetch changed nothing; `null`: it succeeded, or there was none */
            readonly error: {
                /** @enum {string} */
                readonly code: "unreachable" | "too_large" | "unparsable" | "over_limits" | "shrunk";
                readonly reason: string;
                /** Format: date-time */
                readonly at: string;
            } | null;
        };
        readonly LogCounted: {
            /** @constant */
            readonly format: "edgeplan.counted/v1";
            /**
             * Format: date-time
             * @description the arrival of the first of the requests
             */
            readonly time: string;
            /**
             * Format: date-time
             * @description the arrival of the last
             */
            readonly until: string;
            readonly id: string;
            readonly domain: string;
            /** @description the outcome of each: `block`, `challenge`, `refuse`, `fault`, or with `would-` what dry_run rules would have done */
            readonly action: string;
            /** @description `<type>/<id>` of the rule that settled it; `null`: none, or one of too many */
            readonly rule: string | null;
            /**
             * @description the /24 or /48 of the visitors; `null`: not known, or one of too many
             * @example 203.0.113.0/24
             */
            readonly network: string | null;
            /** @description their exact number */
            readonly requests: number;
            /** @description the name of the node; `null`: it was removed */
            readonly node: string | null;
        };
        readonly LogEntry: {
            /** @constant */
            readonly format: "edgeplan.decision/v1";
            /**
             * Format: date-time
             * @description the arrival of the request
             */
            readonly time: string;
            /**
             * @description the id of the decision, as in `X-Edgeplan-Id` and on its page
             * @example 0b7c9a52-3f0e-4c55-9a7d-2f1c8a4be6d1
             */
            readonly id: string;
            readonly domain: string;
            /** @description the revision of the plan that decided */
            readonly revision: number;
            /** @description SHA-256 of that plan, 64 hex digits */
            readonly digest: string;
            /**
             * @description the share of such requests that is logged; `null`: all are
             * @default null
             */
            readonly sampled: number | null;
            /**
             * @description the request without its secrets
             * @example {
             *       "scheme": "https",
             *       "method": "GET",
             *       "host": "shop.example.com",
             *       "target": "/admin/users",
             *       "ip": "203.0.113.7"
             *     }
             */
            readonly request: {
                readonly scheme?: string;
                readonly method: string;
                readonly host: string | readonly string[];
                readonly target: string;
                readonly protocol?: string;
                readonly port?: number;
                readonly headers?: {
                    readonly [key: string]: string | readonly string[];
                };
                readonly ip?: string | null;
                readonly country?: string | null;
                readonly asn?: number | null;
                readonly bot?: {
                    readonly kind: string;
                    readonly verified?: boolean;
                } | null;
                readonly ja4?: string | null;
                readonly now?: number;
                readonly cleared?: readonly string[];
            };
            /** @default null */
            readonly unserved: {
                readonly host: string;
                readonly server_name: string | null;
                readonly reason: string;
            } | null;
            /** @description what the request had and the entry lacks */
            readonly withheld: readonly string[];
            readonly decision: {
                readonly action: string;
                /** @default null */
                readonly status: number | null;
                /** @description `<type>/<id>` */
                readonly rule: string | null;
                /** @default null */
                readonly location: string | null;
                /** @default null */
                readonly origin: string | null;
                /** @default null */
                readonly host_header: string | null;
                /** @default null */
                readonly path: string | null;
                /** @default null */
                readonly cache: {
                    readonly mode: string;
                    /** @default null */
                    readonly edge_ttl_sec: number | null;
                    /** @default null */
                    readonly browser_ttl_sec: number | null;
                } | null;
                /** @default [] */
                readonly tags: readonly string[];
            };
            /** @description the rules that matched, dry_run ones too */
            readonly matches: readonly {
                readonly rule: string;
                readonly mode?: string;
                readonly effect?: string;
                readonly waf?: {
                    readonly score: number;
                    readonly ids: readonly number[];
                    readonly targets?: readonly string[];
                    readonly matches?: readonly {
                        readonly id: number;
                        /** @description the message of the signature */
                        readonly name: string;
                        readonly category: string;
                        /** @description what it added to the score */
                        readonly score: number;
                        /** @description the variable, `ARGS:id`; empty: the signature inspects none */
                        readonly target: string;
                        /** @description an excerpt around the match; not of what may be a secret */
                        readonly part: string;
                    }[];
                    readonly denied?: boolean;
                    readonly truncated?: boolean;
                    readonly exhausted?: boolean;
                    readonly body_error?: string;
                    readonly uninspected?: string;
                };
            }[];
            readonly page_matches?: readonly {
                readonly rule: string;
                readonly mode?: string;
                readonly effect?: string;
                readonly waf?: {
                    readonly score: number;
                    readonly ids: readonly number[];
                    readonly targets?: readonly string[];
                    readonly matches?: readonly {
                        readonly id: number;
                        /** @description the message of the signature */
                        readonly name: string;
                        readonly category: string;
                        /** @description what it added to the score */
                        readonly score: number;
                        /** @description the variable, `ARGS:id`; empty: the signature inspects none */
                        readonly target: string;
                        /** @description an excerpt around the match; not of what may be a secret */
                        readonly part: string;
                    }[];
                    readonly denied?: boolean;
                    readonly truncated?: boolean;
                    readonly exhausted?: boolean;
                    readonly body_error?: string;
                    readonly uninspected?: string;
                };
            }[];
            /** @description the decision had every dry_run rule been enforced */
            readonly shadow: {
                readonly action: string;
                /** @default null */
                readonly status: number | null;
                /** @description `<type>/<id>` */
                readonly rule: string | null;
                /** @default null */
                readonly location: string | null;
                /** @default null */
                readonly origin: string | null;
                /** @default null */
                readonly host_header: string | null;
                /** @default null */
                readonly path: string | null;
                /** @default null */
                readonly cache: {
                    readonly mode: string;
                    /** @default null */
                    readonly edge_ttl_sec: number | null;
                    /** @default null */
                    readonly browser_ttl_sec: number | null;
                } | null;
                /** @default [] */
                readonly tags: readonly string[];
            } | null;
            /**
             * @description the score of signatures, their ids, targets and what they matched
             * @default null
             */
            readonly waf: {
                readonly score: number;
                readonly ids: readonly number[];
                readonly targets?: readonly string[];
                readonly matches?: readonly {
                    readonly id: number;
                    /** @description the message of the signature */
                    readonly name: string;
                    readonly category: string;
                    /** @description what it added to the score */
                    readonly score: number;
                    /** @description the variable, `ARGS:id`; empty: the signature inspects none */
                    readonly target: string;
                    /** @description an excerpt around the match; not of what may be a secret */
                    readonly part: string;
                }[];
                readonly denied?: boolean;
                readonly truncated?: boolean;
                readonly exhausted?: boolean;
                readonly body_error?: string;
                readonly uninspected?: string;
            } | null;
            /** @description the status of the response */
            readonly status: number;
            /** @default null */
            readonly octets: number | null;
            /** @default null */
            readonly duration_ms: number | null;
            readonly octets_in?: number;
            readonly ttfb_ms?: number | null;
            readonly origin?: string | null;
            readonly origin_ms?: number | null;
            readonly monitored?: boolean;
            /** @default null */
            readonly cache: string | null;
            /** @default null */
            readonly markdown: string | null;
            /** @description why the request failed; `null`: it did not */
            readonly fault: string | null;
            /** @description the name of the node; `null`: it was removed */
            readonly node: string | null;
        };
        readonly LogGap: {
            /** @constant */
            readonly format: "edgeplan.gap/v1";
            /** Format: date-time */
            readonly time: string;
            readonly id: string;
            readonly domain: string;
            /** @description entries of the domain that are missing here, since there were too many */
            readonly dropped: number;
            /** @description the name of the node; `null`: it was removed */
            readonly node: string | null;
        };
        readonly Member: {
            /** @description the id of the account */
            readonly user_id: number;
            /** @description the name of the account */
            readonly name: string;
            /**
             * @description the role on the domain
             * @enum {string}
             */
            readonly role: "viewer" | "editor" | "admin" | "owner";
            /**
             * Format: date-time
             * @description when the account became a member
             */
            readonly created_at: string;
            /**
             * Format: date-time
             * @description when the role was last changed
             */
            readonly updated_at: string;
        };
        readonly Message: {
            readonly message: string;
        };
        readonly NewWebhook: {
            /** @description the id of the webhook */
            readonly id: number;
            /** @description where notifications are sent */
            readonly url: string;
            /**
             * Format: date-time
             * @description when it was added
             */
            readonly created_at: string;
            /** @description the key of its signatures (Standard Webhooks); it is shown only here */
            readonly secret: string;
        };
        readonly Notification: {
            /** @description the id of the notification; later ones have higher ids */
            readonly id: number;
            /** @description the id that e-mails, SMS and webhooks carry, the same at each attempt */
            readonly message_id: string;
            /** @description what happened */
            readonly kind: string;
            /**
             * @description `critical`: act now; `warning`: act soon; `info`: nothing to do
             * @enum {string}
             */
            readonly severity: "info" | "warning" | "critical";
            /** @description the domain that it is about; `null`: none */
            readonly domain: string | null;
            /** @description what happened, as one line */
            readonly message: string;
            /** @description the details, a paragraph each; what a person wrote has its lines */
            readonly text: readonly string[];
            /** @description what to do, in order; empty: nothing */
            readonly actions: readonly string[];
            /** @description the details as fields, which differ by kind */
            readonly data: {
                readonly [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description when it happened
             */
            readonly created_at: string;
            /**
             * Format: date-time
             * @description when it was marked as read; `null`: it is unread
             */
            readonly read_at: string | null;
            /** @description how it was sent; empty: it is in the feed only */
            readonly deliveries: readonly components["schemas"]["NotificationDelivery"][];
        };
        readonly NotificationContact: {
            /** @description the e-mail address */
            readonly email: {
                /** @description where notifications are sent; `null`: nowhere */
                readonly address: string | null;
                /** @description an address that waits for its code; `null`: none */
                readonly pending: string | null;
                /**
                 * Format: date-time
                 * @description until when the code is valid; `null`: none was sent
                 */
                readonly code_expires_at: string | null;
            };
            /** @description the phone number for SMS */
            readonly phone: {
                /** @description where notifications are sent; `null`: nowhere */
                readonly address: string | null;
                /** @description an address that waits for its code; `null`: none */
                readonly pending: string | null;
                /**
                 * Format: date-time
                 * @description until when the code is valid; `null`: none was sent
                 */
                readonly code_expires_at: string | null;
            };
            /** @description whether the account receives what concerns operators, such as `node.lost` */
            readonly operator: boolean;
        };
        readonly NotificationDelivery: {
            /**
             * @description how it is sent
             * @enum {string}
             */
            readonly channel: "email" | "sms" | "webhook";
            /** @description the webhook; `null`: the address or number of the account */
            readonly webhook_id: number | null;
            /**
             * @description `waiting`: it is attempted, or attempted again; `skipped`: it is not attempted
             * @enum {string}
             */
            readonly state: "waiting" | "delivered" | "failed" | "skipped";
            /** @description attempts so far */
            readonly tries: number;
            /**
             * Format: date-time
             * @description the next attempt; `null`: none
             */
            readonly next_at: string | null;
            /**
             * Format: date-time
             * @description when the target accepted it; `null`: not yet
             */
            readonly delivered_at: string | null;
            /** @description why the last attempt failed, or it was skipped; `null`: nothing failed */
            readonly error: string | null;
        };
        readonly NotificationPreference: {
            /**
             * @description the kind of notification
             * @enum {string}
             */
            readonly kind: "domain.activated" | "domain.moved" | "domain.disabled" | "domain.banned" | "domain.suspended" | "domain.resumed" | "domain.shared" | "outage.opened" | "outage.resolved" | "certificate.issued" | "certificate.expiring" | "certificate.expired" | "certificate.failed" | "publication.failed" | "node.lost" | "list.refused" | "quota.near" | "quota.reached" | "key.created" | "key.revoked" | "account.test" | "ticket.opened" | "ticket.answered" | "ticket.closed";
            /** @description what it reports */
            readonly meaning: string;
            /**
             * @description how urgent it is
             * @enum {string}
             */
            readonly severity: "info" | "warning" | "critical";
            /** @description whether it is sent by e-mail; `null`: never */
            readonly email: boolean | null;
            /** @description whether it is sent by SMS, where the plan has it; `null`: never */
            readonly sms: boolean | null;
            /** @description whether it is sent to webhooks; `null`: never */
            readonly webhook: boolean | null;
        };
        readonly OriginPoolRule: {
            readonly id: number;
            readonly domain_id: number;
            /** @constant */
            readonly type: "origin_pool";
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids: readonly number[];
            /** @description `false`: the rule matches no request */
            readonly enabled: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditions"];
            /**
             * @description `round_robin`: smooth weighted turns; `least_load`: fewest requests in flight by weight; `geo`: by edge node
             * @enum {string}
             */
            readonly lb_type: "round_robin" | "least_load" | "geo";
            /** @description the origins; at least one with a weight above 0 */
            readonly origins: readonly {
                /** @description IP address or host name of the origin */
                readonly address: string;
                /** @description port of the origin; null: 443 for `https`, 80 for `http` */
                readonly port: number | null;
                /**
                 * @description protocol of connections to the origin
                 * @enum {string}
                 */
                readonly scheme: "http" | "https";
                /** @description relative share under `round_robin` and `least_load`; 0 takes the origin out */
                readonly weight: number;
                /** @description edge nodes that use the origin under `geo`; empty: nodes that no other origin names */
                readonly node_ids: readonly number[];
                /** @description country of the origin (ISO 3166-1 alpha-2); a note without effect */
                readonly country: string;
            }[];
            /** @description active and passive health checks */
            readonly health_check: {
                /** @description whether nodes probe the origins */
                readonly enabled: boolean;
                /** @description path of the probe */
                readonly path: string;
                /** @description seconds between two probes */
                readonly interval_sec: number;
                /** @description seconds until a probe counts as failed */
                readonly timeout_sec: number;
                /** @description consecutive failures after which an origin is out */
                readonly unhealthy_threshold: number;
                /** @description consecutive successes after which it returns */
                readonly healthy_threshold: number;
                /** @description seconds for which an origin that failed requests stays out (passive ejection) */
                readonly eject_sec: number;
                /** @description Host header of the probe; empty: as for requests */
                readonly host: string;
            };
            /** @description Host header and TLS server name that the origins get; empty: the request's own host */
            readonly host_header: string;
            /** @description label without effect on routing */
            readonly name: string;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
        };
        readonly OriginPoolRuleCreate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /**
             * @description `false`: the rule matches no request
             * @default true
             */
            readonly enabled?: boolean;
            /**
             * @description order of evaluation within the type: lower first, then the lower id
             * @default 100
             */
            readonly priority?: number;
            /**
             * @description legacy: one more entry of `host_includes`
             * @default
             */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /**
             * @description hosts that the rule applies to; empty: every host
             * @default []
             */
            readonly host_includes?: readonly string[];
            /**
             * @description hosts that the rule does not apply to; they win over `host_includes`
             * @default []
             */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @default enforce
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description `round_robin`: smooth weighted turns; `least_load`: fewest requests in flight by weight; `geo`: by edge node
             * @default round_robin
             * @enum {string}
             */
            readonly lb_type?: "round_robin" | "least_load" | "geo";
            /** @description the origins; at least one with a weight above 0 */
            readonly origins: readonly {
                /** @description IP address or host name of the origin */
                readonly address: string;
                /**
                 * @description port of the origin; null: 443 for `https`, 80 for `http`
                 * @default null
                 */
                readonly port?: number | null;
                /**
                 * @description protocol of connections to the origin
                 * @default https
                 * @enum {string}
                 */
                readonly scheme?: "http" | "https";
                /**
                 * @description relative share under `round_robin` and `least_load`; 0 takes the origin out
                 * @default 1
                 */
                readonly weight?: number;
                /**
                 * @description edge nodes that use the origin under `geo`; empty: nodes that no other origin names
                 * @default []
                 */
                readonly node_ids?: readonly number[];
                /**
                 * @description country of the origin (ISO 3166-1 alpha-2); a note without effect
                 * @default
                 */
                readonly country?: string;
            }[];
            /**
             * @description active and passive health checks
             * @default {}
             */
            readonly health_check?: {
                /**
                 * @description whether nodes probe the origins
                 * @default false
                 */
                readonly enabled?: boolean;
                /**
                 * @description path of the probe
                 * @default /
                 */
                readonly path?: string;
                /**
                 * @description seconds between two probes
                 * @default 15
                 */
                readonly interval_sec?: number;
                /**
                 * @description seconds until a probe counts as failed
                 * @default 5
                 */
                readonly timeout_sec?: number;
                /**
                 * @description consecutive failures after which an origin is out
                 * @default 3
                 */
                readonly unhealthy_threshold?: number;
                /**
                 * @description consecutive successes after which it returns
                 * @default 2
                 */
                readonly healthy_threshold?: number;
                /**
                 * @description seconds for which an origin that failed requests stays out (passive ejection)
                 * @default 30
                 */
                readonly eject_sec?: number;
                /**
                 * @description Host header of the probe; empty: as for requests
                 * @default
                 */
                readonly host?: string;
            };
            /**
             * @description Host header and TLS server name that the origins get; empty: the request's own host
             * @default
             */
            readonly host_header?: string;
            /**
             * @description label without effect on routing
             * @default
             */
            readonly name?: string;
        };
        readonly OriginPoolRuleUpdate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /** @description `false`: the rule matches no request */
            readonly enabled?: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority?: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes?: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description `round_robin`: smooth weighted turns; `least_load`: fewest requests in flight by weight; `geo`: by edge node
             * @enum {string}
             */
            readonly lb_type?: "round_robin" | "least_load" | "geo";
            /** @description the origins; at least one with a weight above 0 */
            readonly origins?: readonly {
                /** @description IP address or host name of the origin */
                readonly address: string;
                /**
                 * @description port of the origin; null: 443 for `https`, 80 for `http`
                 * @default null
                 */
                readonly port?: number | null;
                /**
                 * @description protocol of connections to the origin
                 * @default https
                 * @enum {string}
                 */
                readonly scheme?: "http" | "https";
                /**
                 * @description relative share under `round_robin` and `least_load`; 0 takes the origin out
                 * @default 1
                 */
                readonly weight?: number;
                /**
                 * @description edge nodes that use the origin under `geo`; empty: nodes that no other origin names
                 * @default []
                 */
                readonly node_ids?: readonly number[];
                /**
                 * @description country of the origin (ISO 3166-1 alpha-2); a note without effect
                 * @default
                 */
                readonly country?: string;
            }[];
            /** @description active and passive health checks */
            readonly health_check?: {
                /** @description whether nodes probe the origins */
                readonly enabled?: boolean;
                /** @description path of the probe */
                readonly path?: string;
                /** @description seconds between two probes */
                readonly interval_sec?: number;
                /** @description seconds until a probe counts as failed */
                readonly timeout_sec?: number;
                /** @description consecutive failures after which an origin is out */
                readonly unhealthy_threshold?: number;
                /** @description consecutive successes after which it returns */
                readonly healthy_threshold?: number;
                /** @description seconds for which an origin that failed requests stays out (passive ejection) */
                readonly eject_sec?: number;
                /** @description Host header of the probe; empty: as for requests */
                readonly host?: string;
            };
            /** @description Host header and TLS server name that the origins get; empty: the request's own host */
            readonly host_header?: string;
            /** @description label without effect on routing */
            readonly name?: string;
        };
        readonly OriginRouteRule: {
            readonly id: number;
            readonly domain_id: number;
            /** @constant */
            readonly type: "origin_route";
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids: readonly number[];
            /** @description `false`: the rule matches no request */
            readonly enabled: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditions"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @enum {string}
             */
            readonly path_match_type: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes: readonly string[];
            /** @description paths that the rule does not apply to; they win over `path_includes` */
            readonly path_excludes: readonly string[];
            /** @description IP address or host name of the origin */
            readonly address: string;
            /** @description port of the origin; null: 443 for `https`, 80 for `http` */
            readonly port: number | null;
            /**
             * @description protocol of connections to the origin
             * @enum {string}
             */
            readonly scheme: "http" | "https";
            /** @description Host header and TLS server name that the origin gets; empty: the request's own host */
            readonly host_header: string;
            /** @description country of the origin (ISO 3166-1 alpha-2); a note without effect */
            readonly country: string;
            /** @description label without effect on routing */
            readonly name: string;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
        };
        readonly OriginRouteRuleCreate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /**
             * @description `false`: the rule matches no request
             * @default true
             */
            readonly enabled?: boolean;
            /**
             * @description order of evaluation within the type: lower first, then the lower id
             * @default 100
             */
            readonly priority?: number;
            /**
             * @description legacy: one more entry of `host_includes`
             * @default
             */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /**
             * @description hosts that the rule applies to; empty: every host
             * @default []
             */
            readonly host_includes?: readonly string[];
            /**
             * @description hosts that the rule does not apply to; they win over `host_includes`
             * @default []
             */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @default enforce
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @default wildcard
             * @enum {string}
             */
            readonly path_match_type?: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes?: readonly string[];
            /**
             * @description paths that the rule does not apply to; they win over `path_includes`
             * @default []
             */
            readonly path_excludes?: readonly string[];
            /** @description IP address or host name of the origin */
            readonly address: string;
            /**
             * @description port of the origin; null: 443 for `https`, 80 for `http`
             * @default null
             */
            readonly port?: number | null;
            /**
             * @description protocol of connections to the origin
             * @default https
             * @enum {string}
             */
            readonly scheme?: "http" | "https";
            /**
             * @description Host header and TLS server name that the origin gets; empty: the request's own host
             * @default
             */
            readonly host_header?: string;
            /**
             * @description country of the origin (ISO 3166-1 alpha-2); a note without effect
             * @default
             */
            readonly country?: string;
            /**
             * @description label without effect on routing
             * @default
             */
            readonly name?: string;
        };
        readonly OriginRouteRuleUpdate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /** @description `false`: the rule matches no request */
            readonly enabled?: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority?: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes?: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @enum {string}
             */
            readonly path_match_type?: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes?: readonly string[];
            /** @description paths that the rule does not apply to; they win over `path_includes` */
            readonly path_excludes?: readonly string[];
            /** @description IP address or host name of the origin */
            readonly address?: string;
            /** @description port of the origin; null: 443 for `https`, 80 for `http` */
            readonly port?: number | null;
            /**
             * @description protocol of connections to the origin
             * @enum {string}
             */
            readonly scheme?: "http" | "https";
            /** @description Host header and TLS server name that the origin gets; empty: the request's own host */
            readonly host_header?: string;
            /** @description country of the origin (ISO 3166-1 alpha-2); a note without effect */
            readonly country?: string;
            /** @description label without effect on routing */
            readonly name?: string;
        };
        readonly ParsedCertificate: {
            /** @description an upload would be accepted; without `key`: as far as that can be judged */
            readonly valid: boolean;
            /** @description the first certificate; `null`: it cannot be read */
            readonly certificate: {
                /** @description its DNS names */
                readonly names: readonly string[];
                /** @description the name of its issuer */
                readonly issuer: string;
                /**
                 * Format: date-time
                 * @description when it begins to be in force
                 */
                readonly not_before: string;
                /**
                 * Format: date-time
                 * @description when it expires
                 */
                readonly not_after: string;
                /** @description the type of its key */
                readonly key_type: string;
                /** @description SHA-256 of the certificate, lower-case hex */
                readonly sha256: string;
                /** @description certificates of the chain, without a root */
                readonly chain: number;
            } | null;
            /** @description `null`: it was not sent, or cannot be read */
            readonly key: {
                /** @description the type of the private key */
                readonly key_type: string;
                /** @description it belongs to the certificate */
                readonly fits: boolean;
            } | null;
            /** @description what is wrong, and what is worth knowing */
            readonly findings: readonly {
                /**
                 * @description an `error` refuses an upload
                 * @enum {string}
                 */
                readonly severity: "error" | "warning" | "info";
                /** @description stable across versions */
                readonly code: string;
                /** @description the field */
                readonly path: string;
                /** @description what is wrong */
                readonly message: string;
                /** @description what was found */
                readonly found: string | null;
                /** @description what would be right */
                readonly remedy: string | null;
            }[];
        };
        readonly Publishing: {
            /**
             * @description `automatic`: every change of rules is published; `manual`: changes wait in the draft
             * @enum {string}
             */
            readonly publish_mode: "automatic" | "manual";
        };
        readonly Quantiles: {
            /** @description half of them took at most so long */
            readonly p50: number | null;
            /** @description 90 % took at most so long */
            readonly p90: number | null;
            /** @description 95 % took at most so long */
            readonly p95: number | null;
            /** @description 99 % took at most so long */
            readonly p99: number | null;
        };
        readonly RateLimitRule: {
            readonly id: number;
            readonly domain_id: number;
            /** @constant */
            readonly type: "rate_limit";
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids: readonly number[];
            /** @description `false`: the rule matches no request */
            readonly enabled: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditions"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @enum {string}
             */
            readonly path_match_type: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes: readonly string[];
            /** @description paths that the rule does not apply to; they win over `path_includes` */
            readonly path_excludes: readonly string[];
            /** @description requests allowed per window and key */
            readonly limit: number;
            /** @description length of the sliding window in seconds */
            readonly window_sec: number;
            /**
             * @description `ip`: one count per address (IPv6: per /64); `ip_path`: one per address and canonical path
             * @enum {string}
             */
            readonly key_by: "ip" | "ip_path";
            /** @description what a count is for, in place of `key_by`: `ip` (IPv6: per /64), `path`, `country`, `asn`, `ja4`, `header:<name>`, `cookie:<name>`, `query:<name>`; of a repeated value the first, an absent one is the empty text. An empty list: as `key_by` says */
            readonly key_parts?: readonly string[];
            /** @description statuses of responses that count, made by the origin or by the edge; a request is judged when it comes and counts when its response has one of them. Default, and an empty list: every request counts */
            readonly count_statuses?: readonly number[];
            /** @description whether forwarded responses have the fields `RateLimit` and `RateLimit-Policy`, as the answers above the limit do; default: they do not */
            readonly headers?: boolean;
            /**
             * @description what happens above the limit: `drop` answers 429 with `Retry-After`, `captcha` challenges
             * @enum {string}
             */
            readonly on_breach: "drop" | "captcha";
            /** @description requests tolerated above `limit` in a window */
            readonly burst: number;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
        };
        readonly RateLimitRuleCreate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /**
             * @description `false`: the rule matches no request
             * @default true
             */
            readonly enabled?: boolean;
            /**
             * @description order of evaluation within the type: lower first, then the lower id
             * @default 100
             */
            readonly priority?: number;
            /**
             * @description legacy: one more entry of `host_includes`
             * @default
             */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /**
             * @description hosts that the rule applies to; empty: every host
             * @default []
             */
            readonly host_includes?: readonly string[];
            /**
             * @description hosts that the rule does not apply to; they win over `host_includes`
             * @default []
             */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @default enforce
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @default wildcard
             * @enum {string}
             */
            readonly path_match_type?: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes?: readonly string[];
            /**
             * @description paths that the rule does not apply to; they win over `path_includes`
             * @default []
             */
            readonly path_excludes?: readonly string[];
            /** @description requests allowed per window and key */
            readonly limit: number;
            /**
             * @description length of the sliding window in seconds
             * @default 60
             */
            readonly window_sec?: number;
            /**
             * @description `ip`: one count per address (IPv6: per /64); `ip_path`: one per address and canonical path
             * @default ip
             * @enum {string}
             */
            readonly key_by?: "ip" | "ip_path";
            /** @description what a count is for, in place of `key_by`: `ip` (IPv6: per /64), `path`, `country`, `asn`, `ja4`, `header:<name>`, `cookie:<name>`, `query:<name>`; of a repeated value the first, an absent one is the empty text. An empty list: as `key_by` says */
            readonly key_parts?: readonly string[];
            /** @description statuses of responses that count, made by the origin or by the edge; a request is judged when it comes and counts when its response has one of them. Default, and an empty list: every request counts */
            readonly count_statuses?: readonly number[];
            /** @description whether forwarded responses have the fields `RateLimit` and `RateLimit-Policy`, as the answers above the limit do; default: they do not */
            readonly headers?: boolean;
            /**
             * @description what happens above the limit: `drop` answers 429 with `Retry-After`, `captcha` challenges
             * @default drop
             * @enum {string}
             */
            readonly on_breach?: "drop" | "captcha";
            /**
             * @description requests tolerated above `limit` in a window
             * @default 0
             */
            readonly burst?: number;
        };
        readonly RateLimitRuleUpdate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /** @description `false`: the rule matches no request */
            readonly enabled?: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority?: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes?: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @enum {string}
             */
            readonly path_match_type?: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes?: readonly string[];
            /** @description paths that the rule does not apply to; they win over `path_includes` */
            readonly path_excludes?: readonly string[];
            /** @description requests allowed per window and key */
            readonly limit?: number;
            /** @description length of the sliding window in seconds */
            readonly window_sec?: number;
            /**
             * @description `ip`: one count per address (IPv6: per /64); `ip_path`: one per address and canonical path
             * @enum {string}
             */
            readonly key_by?: "ip" | "ip_path";
            /** @description what a count is for, in place of `key_by`: `ip` (IPv6: per /64), `path`, `country`, `asn`, `ja4`, `header:<name>`, `cookie:<name>`, `query:<name>`; of a repeated value the first, an absent one is the empty text. An empty list: as `key_by` says */
            readonly key_parts?: readonly string[];
            /** @description statuses of responses that count, made by the origin or by the edge; a request is judged when it comes and counts when its response has one of them. Default, and an empty list: every request counts */
            readonly count_statuses?: readonly number[];
            /** @description whether forwarded responses have the fields `RateLimit` and `RateLimit-Policy`, as the answers above the limit do; default: they do not */
            readonly headers?: boolean;
            /**
             * @description what happens above the limit: `drop` answers 429 with `Retry-After`, `captcha` challenges
             * @enum {string}
             */
            readonly on_breach?: "drop" | "captcha";
            /** @description requests tolerated above `limit` in a window */
            readonly burst?: number;
        };
        readonly ReceivedInvitation: {
            /** @description the id of the invitation */
            readonly id: number;
            /** @description the name of the domain */
            readonly domain: string;
            /**
             * @description the role that the member gets
             * @enum {string}
             */
            readonly role: "viewer" | "editor" | "admin";
            /**
             * Format: date-time
             * @description when it was made
             */
            readonly created_at: string;
            /**
             * Format: date-time
             * @description when it was last changed
             */
            readonly updated_at: string;
            /**
             * Format: date-time
             * @description when it can be accepted no more
             */
            readonly expires_at: string;
        };
        readonly Recommendation: {
            /** @description `<kind>:<object>`, the same for the same facts */
            readonly id: string;
            /** @constant */
            readonly kind: "unused_rule";
            /**
             * @description `error`: visitors notice it now; `warning`: it is a risk; `info`: it could be better
             * @enum {string}
             */
            readonly severity: "error" | "warning" | "info";
            /** @description one sentence for people */
            readonly message: string;
            readonly evidence: {
                /** @description `<type>/<id>` of the rule */
                readonly rule: string;
                /**
                 * Format: date-time
                 * @description the last change of the rule
                 */
                readonly unchanged_since: string;
                /**
                 * Format: date-time
                 * @description start of the period, inclusive
                 */
                readonly from: string;
                /**
                 * Format: date-time
                 * @description end of the period, exclusive
                 */
                readonly to: string;
                /** @description days of the period with requests */
                readonly traffic_days: number;
                /** @description requests of the domain */
                readonly requests: number;
                /**
                 * @description requests that the rule matched
                 * @constant
                 */
                readonly hits: 0;
            };
            /** @description the proposed change; `null`: no change of edge rules or records helps */
            readonly fix: components["schemas"]["RecommendationFix"] | null;
        } | {
            /** @description `<kind>:<object>`, the same for the same facts */
            readonly id: string;
            /** @constant */
            readonly kind: "dry_run_ready";
            /**
             * @description `error`: visitors notice it now; `warning`: it is a risk; `info`: it could be better
             * @enum {string}
             */
            readonly severity: "error" | "warning" | "info";
            /** @description one sentence for people */
            readonly message: string;
            readonly evidence: components["schemas"]["DryRunEvidence"];
            /** @description the proposed change; `null`: no change of edge rules or records helps */
            readonly fix: components["schemas"]["RecommendationFix"] | null;
        } | {
            /** @description `<kind>:<object>`, the same for the same facts */
            readonly id: string;
            /** @constant */
            readonly kind: "dry_run_without_effect";
            /**
             * @description `error`: visitors notice it now; `warning`: it is a risk; `info`: it could be better
             * @enum {string}
             */
            readonly severity: "error" | "warning" | "info";
            /** @description one sentence for people */
            readonly message: string;
            readonly evidence: components["schemas"]["IdleDryRunEvidence"];
            /** @description the proposed change; `null`: no change of edge rules or records helps */
            readonly fix: components["schemas"]["RecommendationFix"] | null;
        } | {
            /** @description `<kind>:<object>`, the same for the same facts */
            readonly id: string;
            /** @constant */
            readonly kind: "dry_run_too_broad";
            /**
             * @description `error`: visitors notice it now; `warning`: it is a risk; `info`: it could be better
             * @enum {string}
             */
            readonly severity: "error" | "warning" | "info";
            /** @description one sentence for people */
            readonly message: string;
            readonly evidence: components["schemas"]["DryRunEvidence"];
            /** @description the proposed change; `null`: no change of edge rules or records helps */
            readonly fix: components["schemas"]["RecommendationFix"] | null;
        } | {
            /** @description `<kind>:<object>`, the same for the same facts */
            readonly id: string;
            /** @constant */
            readonly kind: "waf_false_positive";
            /**
             * @description `error`: visitors notice it now; `warning`: it is a risk; `info`: it could be better
             * @enum {string}
             */
            readonly severity: "error" | "warning" | "info";
            /** @description one sentence for people */
            readonly message: string;
            readonly evidence: {
                /** @description `<type>/<id>` of the rule */
                readonly rule: string;
                /** @description the id of the signature */
                readonly signature: number;
                /**
                 * Format: date-time
                 * @description start of the period, inclusive
                 */
                readonly from: string;
                /**
                 * Format: date-time
                 * @description end of the period, exclusive
                 */
                readonly to: string;
                /** @description log entries of blocked requests of the rule that were read */
                readonly entries: number;
                /** @description those that the signature scored in these places */
                readonly requests: number;
                /** @description networks that they came from: IPv4 addresses and IPv6 /64 */
                readonly visitors: number;
                /** @description different hours in which they came */
                readonly hours: number;
                /** @description those that a page of the domain led to */
                readonly own_pages: number;
                /** @description what speaks for a false positive, and what does not, as `edgeplan waf tune` states it */
                readonly reasons: readonly string[];
                readonly places: readonly {
                    /** @description a wildcard over canonical paths */
                    readonly path: string;
                    readonly target: string;
                    readonly requests: number;
                    /** @description those that all exclusions proposed for the rule let through */
                    readonly let_through: number;
                    /** @description likely attacks among the latter */
                    readonly attacks: number;
                }[];
            };
            /** @description the proposed change; `null`: no change of edge rules or records helps */
            readonly fix: components["schemas"]["RecommendationFix"] | null;
        } | {
            /** @description `<kind>:<object>`, the same for the same facts */
            readonly id: string;
            /** @constant */
            readonly kind: "split_cache_key";
            /**
             * @description `error`: visitors notice it now; `warning`: it is a risk; `info`: it could be better
             * @enum {string}
             */
            readonly severity: "error" | "warning" | "info";
            /** @description one sentence for people */
            readonly message: string;
            readonly evidence: {
                /** @description `<type>/<id>` of the rule */
                readonly rule: string;
                /**
                 * Format: date-time
                 * @description start of the period, inclusive
                 */
                readonly from: string;
                /**
                 * Format: date-time
                 * @description end of the period, exclusive
                 */
                readonly to: string;
                /** @description log entries of the rule that were read, a sample of its requests */
                readonly entries: number;
                /** @description those whose response was not in the cache */
                readonly misses: number;
                /** @description misses with at least one of the parameters */
                readonly split_misses: number;
                readonly parameters: readonly {
                    readonly name: string;
                    /**
                     * @description `tracking`: known to be for statistics; `unique`: nearly every request has another value, and the responses are alike
                     * @enum {string}
                     */
                    readonly reason: "tracking" | "unique";
                    readonly misses: number;
                    /** @description different values */
                    readonly values: number;
                }[];
                /** @description the other parameters that the entries have */
                readonly other_parameters: readonly string[];
            };
            /** @description the proposed change; `null`: no change of edge rules or records helps */
            readonly fix: components["schemas"]["RecommendationFix"] | null;
        } | {
            /** @description `<kind>:<object>`, the same for the same facts */
            readonly id: string;
            /** @constant */
            readonly kind: "uncovered_names";
            /**
             * @description `error`: visitors notice it now; `warning`: it is a risk; `info`: it could be better
             * @enum {string}
             */
            readonly severity: "error" | "warning" | "info";
            /** @description one sentence for people */
            readonly message: string;
            readonly evidence: {
                /** @description at most 100 */
                readonly names: readonly string[];
                /** @description the number of all such names */
                readonly of: number;
                /** @description valid certificates of the domain */
                readonly certificates: number;
            };
            /** @description the proposed change; `null`: no change of edge rules or records helps */
            readonly fix: components["schemas"]["RecommendationFix"] | null;
        } | {
            /** @description `<kind>:<object>`, the same for the same facts */
            readonly id: string;
            /** @constant */
            readonly kind: "expiring_certificate";
            /**
             * @description `error`: visitors notice it now; `warning`: it is a risk; `info`: it could be better
             * @enum {string}
             */
            readonly severity: "error" | "warning" | "info";
            /** @description one sentence for people */
            readonly message: string;
            readonly evidence: {
                /** @description its id */
                readonly certificate: number;
                /** @description at most 100 */
                readonly names: readonly string[];
                /** Format: date-time */
                readonly expires_at: string;
            };
            /** @description the proposed change; `null`: no change of edge rules or records helps */
            readonly fix: components["schemas"]["RecommendationFix"] | null;
        } | {
            /** @description `<kind>:<object>`, the same for the same facts */
            readonly id: string;
            /** @constant */
            readonly kind: "exposed_origin";
            /**
             * @description `error`: visitors notice it now; `warning`: it is a risk; `info`: it could be better
             * @enum {string}
             */
            readonly severity: "error" | "warning" | "info";
            /** @description one sentence for people */
            readonly message: string;
            readonly evidence: {
                /** @description the id of the record that is not proxied */
                readonly record: number;
                readonly name: string;
                readonly type: string;
                readonly destination: string;
                /** @description proxied names of that origin, at most 100 */
                readonly proxied_names: readonly string[];
                /** @description records and rules that name it, such as `MX @` */
                readonly needed_by: readonly string[];
            };
            /** @description the proposed change; `null`: no change of edge rules or records helps */
            readonly fix: components["schemas"]["RecommendationFix"] | null;
        } | {
            /** @description `<kind>:<object>`, the same for the same facts */
            readonly id: string;
            /** @constant */
            readonly kind: "expiring_key";
            /**
             * @description `error`: visitors notice it now; `warning`: it is a risk; `info`: it could be better
             * @enum {string}
             */
            readonly severity: "error" | "warning" | "info";
            /** @description one sentence for people */
            readonly message: string;
            readonly evidence: {
                /** @description its id */
                readonly key: number;
                readonly name: string;
                /** Format: date-time */
                readonly expires_at: string;
                /** Format: date-time */
                readonly last_used_at: string | null;
            };
            /** @description the proposed change; `null`: no change of edge rules or records helps */
            readonly fix: components["schemas"]["RecommendationFix"] | null;
        } | {
            /** @description `<kind>:<object>`, the same for the same facts */
            readonly id: string;
            /** @constant */
            readonly kind: "mistaken_rule";
            /**
             * @description `error`: visitors notice it now; `warning`: it is a risk; `info`: it could be better
             * @enum {string}
             */
            readonly severity: "error" | "warning" | "info";
            /** @description one sentence for people */
            readonly message: string;
            readonly evidence: {
                /** @description `<type>/<id>` of the rule */
                readonly rule: string;
                /** @description the code of the finding */
                readonly code: string;
                /** @description where it is in the rule */
                readonly fields: readonly string[];
                /** @description what is wrong */
                readonly finding: string;
                readonly remedy: string | null;
            };
            /** @description the proposed change; `null`: no change of edge rules or records helps */
            readonly fix: components["schemas"]["RecommendationFix"] | null;
        } | {
            /** @description `<kind>:<object>`, the same for the same facts */
            readonly id: string;
            /** @constant */
            readonly kind: "redirect_circle";
            /**
             * @description `error`: visitors notice it now; `warning`: it is a risk; `info`: it could be better
             * @enum {string}
             */
            readonly severity: "error" | "warning" | "info";
            /** @description one sentence for people */
            readonly message: string;
            readonly evidence: {
                /** @description `<type>/<id>` of each rule, in the order of the way */
                readonly rules: readonly string[];
                /** @description what each of these rules redirects, in the same order */
                readonly urls: readonly string[];
            };
            /** @description the proposed change; `null`: no change of edge rules or records helps */
            readonly fix: components["schemas"]["RecommendationFix"] | null;
        };
        readonly RecommendationFix: {
            /** @description what the change does */
            readonly summary: string;
            /** @description the change as a fragment of an edge file, which `edgeplan apply -f` takes as it is */
            readonly edge_yaml: string;
            /** @description the command that makes the change */
            readonly command: string;
        };
        readonly RedirectRule: {
            readonly id: number;
            readonly domain_id: number;
            /** @constant */
            readonly type: "redirect";
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids: readonly number[];
            /** @description `false`: the rule matches no request */
            readonly enabled: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditions"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @enum {string}
             */
            readonly path_match_type: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes: readonly string[];
            /** @description paths that the rule does not apply to; they win over `path_includes` */
            readonly path_excludes: readonly string[];
            /** @description required without `targets`: an absolute `http` or `https` URL, or a path of the same site that starts with one `/`; literal text unless `target_mode` says otherwise */
            readonly target: string;
            /**
             * @description 301 and 308 are permanent: browsers cache them for long; 307 and 308 preserve the method
             * @enum {number}
             */
            readonly status_code: 301 | 302 | 307 | 308;
            /** @description appends the request's query to `target` */
            readonly preserve_query: boolean;
            /** @description appends the request's path to the path of `target` */
            readonly preserve_path: boolean;
            /**
             * @description default: `literal`, which is stored as absent. `captures`: `$1`, `${1}` and `${name}` in `target`, after its host, insert groups of the first include entry that matches; only with `path_match_type: regex`, without `preserve_path`
             * @enum {string}
             */
            readonly target_mode?: "literal" | "captures";
            /** @description `@name` of a list of redirects: the rule answers the entry of the path, and matches no other path; without `target`, `path_includes`, `preserve_path` and `target_mode`; empty: none */
            readonly targets?: string;
            /**
             * @description only in the answer to a create
             * @enum {string}
             */
            readonly www_record?: "created" | "created_external" | "covered" | "unproxied" | "no_apex" | "limit" | "failed";
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
        };
        readonly RedirectRuleCreate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /**
             * @description `false`: the rule matches no request
             * @default true
             */
            readonly enabled?: boolean;
            /**
             * @description order of evaluation within the type: lower first, then the lower id
             * @default 100
             */
            readonly priority?: number;
            /**
             * @description legacy: one more entry of `host_includes`
             * @default
             */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /**
             * @description hosts that the rule applies to; empty: every host
             * @default []
             */
            readonly host_includes?: readonly string[];
            /**
             * @description hosts that the rule does not apply to; they win over `host_includes`
             * @default []
             */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @default enforce
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @default wildcard
             * @enum {string}
             */
            readonly path_match_type?: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes?: readonly string[];
            /**
             * @description paths that the rule does not apply to; they win over `path_includes`
             * @default []
             */
            readonly path_excludes?: readonly string[];
            /**
             * @description required without `targets`: an absolute `http` or `https` URL, or a path of the same site that starts with one `/`; literal text unless `target_mode` says otherwise
             * @default
             */
            readonly target?: string;
            /**
             * @description 301 and 308 are permanent: browsers cache them for long; 307 and 308 preserve the method
             * @default 302
             * @enum {number}
             */
            readonly status_code?: 301 | 302 | 307 | 308;
            /**
             * @description appends the request's query to `target`
             * @default true
             */
            readonly preserve_query?: boolean;
            /**
             * @description appends the request's path to the path of `target`
             * @default false
             */
            readonly preserve_path?: boolean;
            /**
             * @description default: `literal`, which is stored as absent. `captures`: `$1`, `${1}` and `${name}` in `target`, after its host, insert groups of the first include entry that matches; only with `path_match_type: regex`, without `preserve_path`
             * @enum {string}
             */
            readonly target_mode?: "literal" | "captures";
            /** @description `@name` of a list of redirects: the rule answers the entry of the path, and matches no other path; without `target`, `path_includes`, `preserve_path` and `target_mode`; empty: none */
            readonly targets?: string;
        };
        readonly RedirectRuleUpdate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /** @description `false`: the rule matches no request */
            readonly enabled?: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority?: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes?: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @enum {string}
             */
            readonly path_match_type?: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes?: readonly string[];
            /** @description paths that the rule does not apply to; they win over `path_includes` */
            readonly path_excludes?: readonly string[];
            /** @description required without `targets`: an absolute `http` or `https` URL, or a path of the same site that starts with one `/`; literal text unless `target_mode` says otherwise */
            readonly target?: string;
            /**
             * @description 301 and 308 are permanent: browsers cache them for long; 307 and 308 preserve the method
             * @enum {number}
             */
            readonly status_code?: 301 | 302 | 307 | 308;
            /** @description appends the request's query to `target` */
            readonly preserve_query?: boolean;
            /** @description appends the request's path to the path of `target` */
            readonly preserve_path?: boolean;
            /**
             * @description default: `literal`, which is stored as absent. `captures`: `$1`, `${1}` and `${name}` in `target`, after its host, insert groups of the first include entry that matches; only with `path_match_type: regex`, without `preserve_path`
             * @enum {string}
             */
            readonly target_mode?: "literal" | "captures";
            /** @description `@name` of a list of redirects: the rule answers the entry of the path, and matches no other path; without `target`, `path_includes`, `preserve_path` and `target_mode`; empty: none */
            readonly targets?: string;
        };
        readonly RewriteRule: {
            readonly id: number;
            readonly domain_id: number;
            /** @constant */
            readonly type: "rewrite";
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids: readonly number[];
            /** @description `false`: the rule matches no request */
            readonly enabled: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditions"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @enum {string}
             */
            readonly path_match_type: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes: readonly string[];
            /** @description paths that the rule does not apply to; they win over `path_includes` */
            readonly path_excludes: readonly string[];
            /** @description path that the origin gets; empty: unchanged. Under `path_match_type: regex`, `$1`, `${1}` and `${name}` insert groups of the first include entry that matches */
            readonly path_target: string;
            /**
             * @description `preserve` forwards the query, `strip` drops it, `replace` sends `query_target`
             * @enum {string}
             */
            readonly query_mode: "preserve" | "replace" | "strip";
            /** @description query under `query_mode: replace`, without `?` */
            readonly query_target: string;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
        };
        readonly RewriteRuleCreate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /**
             * @description `false`: the rule matches no request
             * @default true
             */
            readonly enabled?: boolean;
            /**
             * @description order of evaluation within the type: lower first, then the lower id
             * @default 100
             */
            readonly priority?: number;
            /**
             * @description legacy: one more entry of `host_includes`
             * @default
             */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /**
             * @description hosts that the rule applies to; empty: every host
             * @default []
             */
            readonly host_includes?: readonly string[];
            /**
             * @description hosts that the rule does not apply to; they win over `host_includes`
             * @default []
             */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @default enforce
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @default wildcard
             * @enum {string}
             */
            readonly path_match_type?: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes?: readonly string[];
            /**
             * @description paths that the rule does not apply to; they win over `path_includes`
             * @default []
             */
            readonly path_excludes?: readonly string[];
            /**
             * @description path that the origin gets; empty: unchanged. Under `path_match_type: regex`, `$1`, `${1}` and `${name}` insert groups of the first include entry that matches
             * @default
             */
            readonly path_target?: string;
            /**
             * @description `preserve` forwards the query, `strip` drops it, `replace` sends `query_target`
             * @default preserve
             * @enum {string}
             */
            readonly query_mode?: "preserve" | "replace" | "strip";
            /**
             * @description query under `query_mode: replace`, without `?`
             * @default
             */
            readonly query_target?: string;
        };
        readonly RewriteRuleUpdate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /** @description `false`: the rule matches no request */
            readonly enabled?: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority?: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes?: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @enum {string}
             */
            readonly path_match_type?: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes?: readonly string[];
            /** @description paths that the rule does not apply to; they win over `path_includes` */
            readonly path_excludes?: readonly string[];
            /** @description path that the origin gets; empty: unchanged. Under `path_match_type: regex`, `$1`, `${1}` and `${name}` insert groups of the first include entry that matches */
            readonly path_target?: string;
            /**
             * @description `preserve` forwards the query, `strip` drops it, `replace` sends `query_target`
             * @enum {string}
             */
            readonly query_mode?: "preserve" | "replace" | "strip";
            /** @description query under `query_mode: replace`, without `?` */
            readonly query_target?: string;
        };
        /** @description what else must hold of a request: all members, and inside a member any entry; default: nothing */
        readonly RuleConditions: {
            /** @description methods that the rule applies to; case counts */
            readonly methods?: readonly string[];
            /** @description methods that the rule does not apply to, all others being meant; they win over `methods` */
            readonly except_methods?: readonly string[];
            /** @description schemes of the request */
            readonly schemes?: readonly ("http" | "https")[];
            /** @description addresses of visitors; an unknown one is in neither list */
            readonly ips?: {
                /** @description addresses, CIDR prefixes, ranges and names of lists (`@name`) that the rule applies to */
                readonly includes?: readonly string[];
                /** @description addresses, CIDR prefixes, ranges and names of lists (`@name`) that the rule does not apply to; they win over `includes` */
                readonly excludes?: readonly string[];
            };
            /** @description countries of visitors; an unknown one is in neither list */
            readonly countries?: {
                /** @description ISO 3166-1 alpha-2 codes and names of lists (`@name`) that the rule applies to */
                readonly includes?: readonly string[];
                /** @description ISO 3166-1 alpha-2 codes and names of lists (`@name`) that the rule does not apply to; they win over `includes` */
                readonly excludes?: readonly string[];
            };
            /** @description autonomous systems of visitors' addresses; an unknown one is in neither list */
            readonly asns?: {
                /** @description numbers of autonomous systems and names of lists (`@name`) that the rule applies to */
                readonly includes?: readonly (number | string)[];
                /** @description numbers of autonomous systems and names of lists (`@name`) that the rule does not apply to; they win over `includes` */
                readonly excludes?: readonly (number | string)[];
            };
            /** @description kinds of bots; a visitor that is no classified bot is in neither list */
            readonly bot_kinds?: {
                /** @description kinds of bots, `*` for every classified bot, that the rule applies to */
                readonly includes?: readonly ("*" | "gptbot" | "oai-searchbot" | "chatgpt-user" | "claudebot" | "claude-user" | "perplexitybot" | "perplexity-user" | "googlebot" | "google-extended" | "bingbot" | "ccbot" | "bytespider" | "meta-externalagent" | "amazonbot" | "applebot" | "duckduckbot" | "yandexbot" | "ahrefsbot" | "semrushbot" | "mj12bot" | "generic-bot")[];
                /** @description kinds of bots, `*` for every classified bot, that the rule does not apply to; they win over `includes` */
                readonly excludes?: readonly ("*" | "gptbot" | "oai-searchbot" | "chatgpt-user" | "claudebot" | "claude-user" | "perplexitybot" | "perplexity-user" | "googlebot" | "google-extended" | "bingbot" | "ccbot" | "bytespider" | "meta-externalagent" | "amazonbot" | "applebot" | "duckduckbot" | "yandexbot" | "ahrefsbot" | "semrushbot" | "mj12bot" | "generic-bot")[];
            };
            /** @description `true`: only bots whose identity was verified; `false`: everybody else */
            readonly verified_bot?: boolean;
            /** @description fingerprints of the TLS ClientHello; an unknown one is in neither list */
            readonly ja4?: {
                /** @description JA4 fingerprints, exact or a prefix that ends in `*`, that the rule applies to */
                readonly includes?: readonly string[];
                /** @description JA4 fingerprints, exact or a prefix that ends in `*`, that the rule does not apply to; they win over `includes` */
                readonly excludes?: readonly string[];
            };
            /** @description User-Agents; an absent one is in neither list */
            readonly user_agents?: {
                /** @description wildcards over the User-Agent, without regard to case, and names of lists (`@name`), that the rule applies to */
                readonly includes?: readonly string[];
                /** @description wildcards over the User-Agent, without regard to case, and names of lists (`@name`), that the rule does not apply to; they win over `includes` */
                readonly excludes?: readonly string[];
            };
            /** @description tags that `fingerprint` and `bot_route` rules of earlier phases gave the request */
            readonly tags?: {
                /** @description tagging rules of earlier phases, as `<type>/<id>` or by key, that the rule applies to */
                readonly includes?: readonly string[];
                /** @description tagging rules of earlier phases, as `<type>/<id>` or by key, that the rule does not apply to; they win over `includes` */
                readonly excludes?: readonly string[];
            };
            /** @description conditions on headers, all of which must hold; each line of a repeated header counts */
            readonly headers?: readonly {
                /** @description name of the header, in any case */
                readonly name: string;
                /**
                 * @description `present`, `absent`, or a comparison with `values`: `equals`, `prefix`, `suffix`, `contains`, `wildcard` (`*` is any run of characters), `regex` (RE2 syntax, unanchored). With `not_` before it: no value compares so, also without any value
                 * @enum {string}
                 */
                readonly op: "present" | "absent" | "equals" | "prefix" | "suffix" | "contains" | "wildcard" | "regex" | "not_equals" | "not_prefix" | "not_suffix" | "not_contains" | "not_wildcard" | "not_regex";
                /** @description what the value is compared with; one of them suffices */
                readonly values: readonly string[];
                /** @description whether letters compare without case */
                readonly ignore_case: boolean;
            }[];
            /** @description conditions on query parameters, all of which must hold; percent-decoded once, each occurrence counts */
            readonly query?: readonly {
                /** @description name of the parameter, not percent-encoded */
                readonly name: string;
                /**
                 * @description `present`, `absent`, or a comparison with `values`: `equals`, `prefix`, `suffix`, `contains`, `wildcard` (`*` is any run of characters), `regex` (RE2 syntax, unanchored). With `not_` before it: no value compares so, also without any value
                 * @enum {string}
                 */
                readonly op: "present" | "absent" | "equals" | "prefix" | "suffix" | "contains" | "wildcard" | "regex" | "not_equals" | "not_prefix" | "not_suffix" | "not_contains" | "not_wildcard" | "not_regex";
                /** @description what the value is compared with; one of them suffices */
                readonly values: readonly string[];
                /** @description whether letters compare without case */
                readonly ignore_case: boolean;
            }[];
            /** @description conditions on cookies, all of which must hold; each occurrence counts */
            readonly cookies?: readonly {
                /** @description name of the cookie */
                readonly name: string;
                /**
                 * @description `present`, `absent`, or a comparison with `values`: `equals`, `prefix`, `suffix`, `contains`, `wildcard` (`*` is any run of characters), `regex` (RE2 syntax, unanchored). With `not_` before it: no value compares so, also without any value
                 * @enum {string}
                 */
                readonly op: "present" | "absent" | "equals" | "prefix" | "suffix" | "contains" | "wildcard" | "regex" | "not_equals" | "not_prefix" | "not_suffix" | "not_contains" | "not_wildcard" | "not_regex";
                /** @description what the value is compared with; one of them suffices */
                readonly values: readonly string[];
                /** @description whether letters compare without case */
                readonly ignore_case: boolean;
            }[];
        };
        /** @description what else must hold of a request: all members, and inside a member any entry; default: nothing */
        readonly RuleConditionsWrite: {
            /** @description methods that the rule applies to; case counts */
            readonly methods?: readonly string[];
            /** @description methods that the rule does not apply to, all others being meant; they win over `methods` */
            readonly except_methods?: readonly string[];
            /** @description schemes of the request */
            readonly schemes?: readonly ("http" | "https")[];
            /** @description addresses of visitors; an unknown one is in neither list */
            readonly ips?: {
                /** @description addresses, CIDR prefixes, ranges and names of lists (`@name`) that the rule applies to */
                readonly includes?: readonly string[];
                /** @description addresses, CIDR prefixes, ranges and names of lists (`@name`) that the rule does not apply to; they win over `includes` */
                readonly excludes?: readonly string[];
            };
            /** @description countries of visitors; an unknown one is in neither list */
            readonly countries?: {
                /** @description ISO 3166-1 alpha-2 codes and names of lists (`@name`) that the rule applies to */
                readonly includes?: readonly string[];
                /** @description ISO 3166-1 alpha-2 codes and names of lists (`@name`) that the rule does not apply to; they win over `includes` */
                readonly excludes?: readonly string[];
            };
            /** @description autonomous systems of visitors' addresses; an unknown one is in neither list */
            readonly asns?: {
                /** @description numbers of autonomous systems and names of lists (`@name`) that the rule applies to */
                readonly includes?: readonly (number | string)[];
                /** @description numbers of autonomous systems and names of lists (`@name`) that the rule does not apply to; they win over `includes` */
                readonly excludes?: readonly (number | string)[];
            };
            /** @description kinds of bots; a visitor that is no classified bot is in neither list */
            readonly bot_kinds?: {
                /** @description kinds of bots, `*` for every classified bot, that the rule applies to */
                readonly includes?: readonly ("*" | "gptbot" | "oai-searchbot" | "chatgpt-user" | "claudebot" | "claude-user" | "perplexitybot" | "perplexity-user" | "googlebot" | "google-extended" | "bingbot" | "ccbot" | "bytespider" | "meta-externalagent" | "amazonbot" | "applebot" | "duckduckbot" | "yandexbot" | "ahrefsbot" | "semrushbot" | "mj12bot" | "generic-bot")[];
                /** @description kinds of bots, `*` for every classified bot, that the rule does not apply to; they win over `includes` */
                readonly excludes?: readonly ("*" | "gptbot" | "oai-searchbot" | "chatgpt-user" | "claudebot" | "claude-user" | "perplexitybot" | "perplexity-user" | "googlebot" | "google-extended" | "bingbot" | "ccbot" | "bytespider" | "meta-externalagent" | "amazonbot" | "applebot" | "duckduckbot" | "yandexbot" | "ahrefsbot" | "semrushbot" | "mj12bot" | "generic-bot")[];
            };
            /** @description `true`: only bots whose identity was verified; `false`: everybody else */
            readonly verified_bot?: boolean;
            /** @description fingerprints of the TLS ClientHello; an unknown one is in neither list */
            readonly ja4?: {
                /** @description JA4 fingerprints, exact or a prefix that ends in `*`, that the rule applies to */
                readonly includes?: readonly string[];
                /** @description JA4 fingerprints, exact or a prefix that ends in `*`, that the rule does not apply to; they win over `includes` */
                readonly excludes?: readonly string[];
            };
            /** @description User-Agents; an absent one is in neither list */
            readonly user_agents?: {
                /** @description wildcards over the User-Agent, without regard to case, and names of lists (`@name`), that the rule applies to */
                readonly includes?: readonly string[];
                /** @description wildcards over the User-Agent, without regard to case, and names of lists (`@name`), that the rule does not apply to; they win over `includes` */
                readonly excludes?: readonly string[];
            };
            /** @description tags that `fingerprint` and `bot_route` rules of earlier phases gave the request */
            readonly tags?: {
                /** @description tagging rules of earlier phases, as `<type>/<id>` or by key, that the rule applies to */
                readonly includes?: readonly string[];
                /** @description tagging rules of earlier phases, as `<type>/<id>` or by key, that the rule does not apply to; they win over `includes` */
                readonly excludes?: readonly string[];
            };
            /** @description conditions on headers, all of which must hold; each line of a repeated header counts */
            readonly headers?: readonly {
                /** @description name of the header, in any case */
                readonly name: string;
                /**
                 * @description `present`, `absent`, or a comparison with `values`: `equals`, `prefix`, `suffix`, `contains`, `wildcard` (`*` is any run of characters), `regex` (RE2 syntax, unanchored). With `not_` before it: no value compares so, also without any value
                 * @enum {string}
                 */
                readonly op: "present" | "absent" | "equals" | "prefix" | "suffix" | "contains" | "wildcard" | "regex" | "not_equals" | "not_prefix" | "not_suffix" | "not_contains" | "not_wildcard" | "not_regex";
                /**
                 * @description what the value is compared with; one of them suffices
                 * @default []
                 */
                readonly values?: readonly string[];
                /**
                 * @description whether letters compare without case
                 * @default false
                 */
                readonly ignore_case?: boolean;
            }[];
            /** @description conditions on query parameters, all of which must hold; percent-decoded once, each occurrence counts */
            readonly query?: readonly {
                /** @description name of the parameter, not percent-encoded */
                readonly name: string;
                /**
                 * @description `present`, `absent`, or a comparison with `values`: `equals`, `prefix`, `suffix`, `contains`, `wildcard` (`*` is any run of characters), `regex` (RE2 syntax, unanchored). With `not_` before it: no value compares so, also without any value
                 * @enum {string}
                 */
                readonly op: "present" | "absent" | "equals" | "prefix" | "suffix" | "contains" | "wildcard" | "regex" | "not_equals" | "not_prefix" | "not_suffix" | "not_contains" | "not_wildcard" | "not_regex";
                /**
                 * @description what the value is compared with; one of them suffices
                 * @default []
                 */
                readonly values?: readonly string[];
                /**
                 * @description whether letters compare without case
                 * @default false
                 */
                readonly ignore_case?: boolean;
            }[];
            /** @description conditions on cookies, all of which must hold; each occurrence counts */
            readonly cookies?: readonly {
                /** @description name of the cookie */
                readonly name: string;
                /**
                 * @description `present`, `absent`, or a comparison with `values`: `equals`, `prefix`, `suffix`, `contains`, `wildcard` (`*` is any run of characters), `regex` (RE2 syntax, unanchored). With `not_` before it: no value compares so, also without any value
                 * @enum {string}
                 */
                readonly op: "present" | "absent" | "equals" | "prefix" | "suffix" | "contains" | "wildcard" | "regex" | "not_equals" | "not_prefix" | "not_suffix" | "not_contains" | "not_wildcard" | "not_regex";
                /**
                 * @description what the value is compared with; one of them suffices
                 * @default []
                 */
                readonly values?: readonly string[];
                /**
                 * @description whether letters compare without case
                 * @default false
                 */
                readonly ignore_case?: boolean;
            }[];
        };
        readonly RuleHits: {
            /**
             * @description the type of the rule
             * @enum {string}
             */
            readonly type: "drop" | "fingerprint" | "bot_route" | "rate_limit" | "waf" | "redirect" | "captcha" | "rewrite" | "cache" | "origin_route" | "origin_pool" | "error_page" | "headers";
            /** @description the id of the rule */
            readonly id: number;
            /** @description its first filters, so that people recognise it; empty: it has none */
            readonly about: string;
            /** @description whether it is enabled now */
            readonly enabled: boolean;
            /**
             * @description its mode now
             * @enum {string}
             */
            readonly action_mode: "enforce" | "dry_run";
            /** @description its priority now */
            readonly priority: number;
            /** @description requests that the rule matched, under dry_run too */
            readonly hits: number;
            /** @description hits by the mode that the rule had and by effect; a dry_run effect is what the rule would have done; `unknown`: reported by an earlier release */
            readonly by_effect: {
                readonly enforce: {
                    readonly [key: string]: number;
                };
                readonly dry_run: {
                    readonly [key: string]: number;
                };
            };
            /**
             * Format: date-time
             * @description the last hit; `null`: none in this period
             */
            readonly last_at: string | null;
            /** @description requests whose decision the rule would have changed while it was under dry_run */
            readonly would_change: number;
            /** @description those by change, the most requests first, at most 20 */
            readonly changes: readonly components["schemas"]["ShadowChange"][];
            /** @description steps with hits, in order; only where the request has `step` */
            readonly series?: readonly {
                /**
                 * Format: date-time
                 * @description start of the step
                 */
                readonly at: string;
                /** @description hits in it */
                readonly hits: number;
            }[];
        };
        readonly ShadowChange: {
            /** @description the decision */
            readonly from: string;
            /** @description the decision had the rule been enforced */
            readonly to: string;
            /** @description `<type>/<id>` of the rule that settled the decision and would not have; `null`: none */
            readonly instead: string | null;
            /** @description how many requests */
            readonly requests: number;
        };
        readonly Subscription: {
            /** @description the id of the subscription; `null`: the default tier applies without one */
            readonly id: number | null;
            /** @description the id of the domain */
            readonly domain_id: number;
            /** @description the name of the domain */
            readonly domain: string;
            /** @description the tier that applies */
            readonly plan_slug: string;
            /** @description its name */
            readonly plan_name: string;
            /** @description whether a subscription applies; otherwise the tier is the default one */
            readonly in_force: boolean;
            /**
             * Format: date-time
             * @description when the subscription began; `null`: no subscription
             */
            readonly started_at: string | null;
            /**
             * Format: date-time
             * @description when it ends; `null`: it has no end, or no subscription exists
             */
            readonly ends_at: string | null;
            /**
             * Format: date-time
             * @description the start of the current quota period
             */
            readonly quota_period_start: string;
            /**
             * Format: date-time
             * @description the end of the current quota period
             */
            readonly quota_period_end: string;
            /** @description DNS records; `null`: unlimited */
            readonly max_records: number | null;
            /** @description traffic in a quota period, GB of 10^9 octets; `null`: unlimited */
            readonly max_traffic_gb: number | null;
            /** @description rules of one type; `null`: unlimited */
            readonly max_rules_per_set: number | null;
            /** @description traffic of the current period in octets */
            readonly traffic_octets: number;
            /** @description percent of `max_traffic_gb`, rounded down; `null`: unlimited */
            readonly traffic_percent: number | null;
            /**
             * @description what happens to traffic over the quota: it is served, or the domain is suspended until it fits
             * @enum {string}
             */
            readonly over_quota: "serve" | "refuse";
            /** @description whether the edge refuses its visitors */
            readonly suspended: boolean;
            /** @description why: by the operator, a wallet below zero, a quota that is reached; empty: it is not suspended */
            readonly suspended_for: readonly ("operator" | "wallet" | "quota")[];
        };
        readonly Ticket: {
            /** @description the id of the ticket */
            readonly id: number;
            /** @description what it is about */
            readonly subject: string;
            /** @description the domain that it is about; `null`: none */
            readonly domain: string | null;
            /**
             * @description `open` waits for support, `answered` for the account; a message opens a `closed` ticket again
             * @enum {string}
             */
            readonly status: "open" | "answered" | "closed";
            /**
             * Format: date-time
             * @description when it was opened
             */
            readonly created_at: string;
            /**
             * Format: date-time
             * @description when it was last written to or closed
             */
            readonly updated_at: string;
            /**
             * Format: date-time
             * @description when it was closed; `null`: it is not
             */
            readonly closed_at: string | null;
        };
        readonly TicketWithMessages: {
            /** @description the id of the ticket */
            readonly id: number;
            /** @description what it is about */
            readonly subject: string;
            /** @description the domain that it is about; `null`: none */
            readonly domain: string | null;
            /**
             * @description `open` waits for support, `answered` for the account; a message opens a `closed` ticket again
             * @enum {string}
             */
            readonly status: "open" | "answered" | "closed";
            /**
             * Format: date-time
             * @description when it was opened
             */
            readonly created_at: string;
            /**
             * Format: date-time
             * @description when it was last written to or closed
             */
            readonly updated_at: string;
            /**
             * Format: date-time
             * @description when it was closed; `null`: it is not
             */
            readonly closed_at: string | null;
            /** @description the messages, the oldest first */
            readonly messages: readonly {
                /** @description the id of the message */
                readonly id: number;
                /**
                 * @description who wrote it
                 * @enum {string}
                 */
                readonly author: "customer" | "operator";
                /** @description the text */
                readonly body: string;
                /**
                 * Format: date-time
                 * @description when it was written
                 */
                readonly created_at: string;
            }[];
        };
        readonly TopList: {
            /**
             * Format: date-time
             * @description start of the first step, inclusive
             */
            readonly from: string;
            /**
             * Format: date-time
             * @description end of the last step, exclusive
             */
            readonly to: string;
            /**
             * @description what the values are
             * @enum {string}
             */
            readonly of: "path" | "address" | "country" | "user_agent" | "ja4" | "referrer";
            /** @description requests that had a value */
            readonly total: number;
            /** @description a value outside of the summary, which has about 1,000, has at most this many requests */
            readonly unlisted_at_most: number;
            /** @description the most requests first */
            readonly values: readonly {
                /** @description the value */
                readonly value: string;
                /** @description at most this many requests had it; exact where `at_least` is the same */
                readonly requests: number;
                /** @description at least this many had it */
                readonly at_least: number;
            }[];
        };
        readonly TracePage: {
            readonly phases: readonly ({
                readonly name: string;
                readonly rules: readonly {
                    readonly [key: string]: unknown;
                }[];
            } & {
                readonly [key: string]: unknown;
            })[];
            readonly page: {
                readonly limit: number;
                readonly rules: number;
                readonly of: number;
                readonly next: string | null;
            };
            readonly shortened: readonly {
                readonly path: string;
                readonly of: number;
            }[];
        } & {
            readonly [key: string]: unknown;
        };
        readonly Traffic: {
            /**
             * Format: date-time
             * @description start of the first step, inclusive
             */
            readonly from: string;
            /**
             * Format: date-time
             * @description end of the last step, exclusive
             */
            readonly to: string;
            /**
             * @description the unit of the counts; days begin at midnight UTC
             * @enum {string}
             */
            readonly step: "minute" | "hour" | "day";
            /** @description what `values` divides requests by */
            readonly by: ("action" | "status" | "cache" | "country" | "bot") | null;
            /** @description the errors of estimated numbers; all others are exact */
            readonly precision: {
                /** @description standard error of visitors, relative */
                readonly visitors: number;
                /** @description largest error of a quantile, relative */
                readonly milliseconds: number;
            };
            /** @description the whole period; quantiles and visitors are of the period, not sums of points */
            readonly totals: {
                /** @description requests */
                readonly requests: number;
                /** @description octets of request bodies */
                readonly octets_in: number;
                /** @description octets of response bodies */
                readonly octets_out: number;
                /** @description requests that went to an origin */
                readonly origin_requests: number;
                /** @description those that an origin did not answer, or answered with 500 or above */
                readonly origin_errors: number;
                /** @description (hit + stale + revalidated + shared) ÷ (those + miss); requests that the cache does not take are neither; `null`: there was none */
                readonly cache_hit_ratio: number | null;
                /** @description different pairs of client address and User-Agent, an estimate, see `precision` */
                readonly visitors: number;
                /** @description milliseconds to the first octet of the response */
                readonly edge_ms: components["schemas"]["Quantiles"];
                /** @description milliseconds to the first octet of an origin's response */
                readonly origin_ms: components["schemas"]["Quantiles"];
                /** @description requests through gateways */
                readonly gateway_requests: number;
                /** @description requests by action of their decision; `none`: no rule set was evaluated */
                readonly actions: {
                    readonly [key: string]: number;
                };
                /** @description requests by status */
                readonly statuses: {
                    readonly [key: string]: number;
                };
                /** @description requests by result of the cache; `none`: they did not reach it */
                readonly cache: {
                    readonly [key: string]: number;
                };
            };
            /** @description every step in order, those without traffic too */
            readonly points: readonly {
                /**
                 * Format: date-time
                 * @description start of the step
                 */
                readonly at: string;
                /** @description requests */
                readonly requests: number;
                /** @description octets of request bodies */
                readonly octets_in: number;
                /** @description octets of response bodies */
                readonly octets_out: number;
                /** @description requests that went to an origin */
                readonly origin_requests: number;
                /** @description those that an origin did not answer, or answered with 500 or above */
                readonly origin_errors: number;
                /** @description (hit + stale + revalidated + shared) ÷ (those + miss); requests that the cache does not take are neither; `null`: there was none */
                readonly cache_hit_ratio: number | null;
                /** @description different pairs of client address and User-Agent, an estimate, see `precision` */
                readonly visitors: number;
                /** @description milliseconds to the first octet of the response */
                readonly edge_ms: components["schemas"]["Quantiles"];
                /** @description milliseconds to the first octet of an origin's response */
                readonly origin_ms: components["schemas"]["Quantiles"];
            }[];
            /** @description the 10 values with the most requests, then all others as one; only where the request has `by` */
            readonly values?: readonly {
                /** @description the value; `null`: all that are not listed */
                readonly value: string | null;
                /** @description requests with it */
                readonly requests: number;
                /** @description those by step, in the order of `points` */
                readonly points: readonly number[];
            }[];
        };
        readonly Uptime: {
            /**
             * @description `down`: an incident is open; `unknown`: no monitored request of late; `up`: neither
             * @enum {string}
             */
            readonly status: "up" | "down" | "unknown";
            /** @description why an incident is open, and what ends it; or why none is */
            readonly reasons: readonly string[];
            /**
             * Format: date-time
             * @description the end of the last judged minute; `null`: none was
             */
            readonly judged_through: string | null;
            /** @description the open incident */
            readonly incident: components["schemas"]["Incident"] | null;
            /** @description the share of monitored requests without an error over the hours, 0 to 1; `null`: there were none */
            readonly availability: number | null;
            /** @description monitored requests over the hours */
            readonly requests: number;
            /** @description errors over the hours */
            readonly errors: number;
            /** @description each hour, the oldest first; the last one is not over */
            readonly hours: readonly {
                /**
                 * Format: date-time
                 * @description the start of the hour
                 */
                readonly at: string;
                /** @description monitored requests */
                readonly requests: number;
                /** @description errors */
                readonly errors: number;
                /** @description as above, of this hour */
                readonly availability: number | null;
            }[];
        };
        readonly UsedList: {
            readonly id: number;
            /** @description `null`: a list of the account, for all of its domains */
            readonly domain_id: number | null;
            readonly name: string;
            /** @enum {string} */
            readonly kind: "ip" | "asn" | "country" | "host" | "path" | "user_agent" | "redirect";
            /** @description how many entries it has */
            readonly entry_count: number;
            /** @description of its compiled form, at most */
            readonly octets: number;
            /** @description rises with each change of the entries */
            readonly version: number;
            /** @description where the entries are read from; absent: they are written through the API */
            readonly feed?: components["schemas"]["ListFeed"];
            readonly feed_state?: components["schemas"]["ListFeedState"];
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
            /** @description rules that name it, stored or published; the first of them */
            readonly used_by: readonly {
                readonly domain: string;
                /** @description `<type>/<id>` */
                readonly rule: string;
            }[];
        };
        readonly WafRule: {
            readonly id: number;
            readonly domain_id: number;
            /** @constant */
            readonly type: "waf";
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids: readonly number[];
            /** @description `false`: the rule matches no request */
            readonly enabled: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditions"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @enum {string}
             */
            readonly path_match_type: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes: readonly string[];
            /** @description paths that the rule does not apply to; they win over `path_includes` */
            readonly path_excludes: readonly string[];
            /** @description paranoia level of the Core Rule Set: a higher one finds more attacks and more false positives */
            readonly paranoia: number;
            /** @description anomaly score from which on a request is blocked; a critical signature adds 5 */
            readonly threshold: number;
            /** @description KiB of the request body that are inspected; 0: the body is not inspected */
            readonly body_cap_kb: number;
            /** @description ids of signatures that do not count */
            readonly rule_excludes: readonly string[];
            /** @description signatures that leave out a target, or do not count, on some paths; each names one by `id` or a group by `tag` */
            readonly exclusions: readonly {
                /** @description the signature; null where `tag` names a group */
                readonly id: number | null;
                /** @description every signature with this tag, such as `attack-sqli`; empty where `id` is set */
                readonly tag: string;
                /** @description what the signatures do not inspect: `ARGS:comment`, `REQUEST_COOKIES:sess*`, `REQUEST_HEADERS`; empty: the signatures do not count at all */
                readonly target: string;
                /** @description paths where the exclusion applies: a wildcard over the canonical path */
                readonly path: string;
            }[];
            /**
             * @description what follows when a body cannot be parsed as its Content-Type says, is in a coding that does not inflate, was not read, or is longer than `body_cap_kb`: `score` adds 5 but for the part beyond the cap, `block` blocks, `pass` does nothing
             * @enum {string}
             */
            readonly on_uninspected: "score" | "block" | "pass";
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
        };
        readonly WafRuleCreate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /**
             * @description `false`: the rule matches no request
             * @default true
             */
            readonly enabled?: boolean;
            /**
             * @description order of evaluation within the type: lower first, then the lower id
             * @default 100
             */
            readonly priority?: number;
            /**
             * @description legacy: one more entry of `host_includes`
             * @default
             */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /**
             * @description hosts that the rule applies to; empty: every host
             * @default []
             */
            readonly host_includes?: readonly string[];
            /**
             * @description hosts that the rule does not apply to; they win over `host_includes`
             * @default []
             */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @default enforce
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @default wildcard
             * @enum {string}
             */
            readonly path_match_type?: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes?: readonly string[];
            /**
             * @description paths that the rule does not apply to; they win over `path_includes`
             * @default []
             */
            readonly path_excludes?: readonly string[];
            /**
             * @description paranoia level of the Core Rule Set: a higher one finds more attacks and more false positives
             * @default 1
             */
            readonly paranoia?: number;
            /**
             * @description anomaly score from which on a request is blocked; a critical signature adds 5
             * @default 5
             */
            readonly threshold?: number;
            /**
             * @description KiB of the request body that are inspected; 0: the body is not inspected
             * @default 128
             */
            readonly body_cap_kb?: number;
            /**
             * @description ids of signatures that do not count
             * @default []
             */
            readonly rule_excludes?: readonly string[];
            /**
             * @description signatures that leave out a target, or do not count, on some paths; each names one by `id` or a group by `tag`
             * @default []
             */
            readonly exclusions?: readonly {
                /**
                 * @description the signature; null where `tag` names a group
                 * @default null
                 */
                readonly id?: number | null;
                /**
                 * @description every signature with this tag, such as `attack-sqli`; empty where `id` is set
                 * @default
                 */
                readonly tag?: string;
                /**
                 * @description what the signatures do not inspect: `ARGS:comment`, `REQUEST_COOKIES:sess*`, `REQUEST_HEADERS`; empty: the signatures do not count at all
                 * @default
                 */
                readonly target?: string;
                /**
                 * @description paths where the exclusion applies: a wildcard over the canonical path
                 * @default /*
                 */
                readonly path?: string;
            }[];
            /**
             * @description what follows when a body cannot be parsed as its Content-Type says, is in a coding that does not inflate, was not read, or is longer than `body_cap_kb`: `score` adds 5 but for the part beyond the cap, `block` blocks, `pass` does nothing
             * @default score
             * @enum {string}
             */
            readonly on_uninspected?: "score" | "block" | "pass";
        };
        readonly WafRuleUpdate: {
            /**
             * @deprecated
             * @description deprecated: use `record_ids`; the one proxied record that the rule applies to
             */
            readonly record_id?: number | null;
            /** @description ids of the proxied records that the rule applies to; empty: every proxied record of the domain */
            readonly record_ids?: readonly number[] | null;
            /** @description `false`: the rule matches no request */
            readonly enabled?: boolean;
            /** @description order of evaluation within the type: lower first, then the lower id */
            readonly priority?: number;
            /** @description legacy: one more entry of `host_includes` */
            readonly host_pattern?: string;
            /**
             * @description how host entries match: `exact`; `wildcard`, where `*` is any run of characters, dots included, and `@name` is a list of hosts; `regex` in RE2 syntax, unanchored, without regard to case. Empty while no host is listed; `wildcard` where hosts are listed without it
             * @enum {string}
             */
            readonly host_match_type?: "" | "exact" | "wildcard" | "regex";
            /** @description hosts that the rule applies to; empty: every host */
            readonly host_includes?: readonly string[];
            /** @description hosts that the rule does not apply to; they win over `host_includes` */
            readonly host_excludes?: readonly string[];
            /**
             * @description `dry_run`: matches are recorded as what the rule would have done, and the request goes on unchanged; a cache rule is always enforced
             * @enum {string}
             */
            readonly action_mode?: "enforce" | "dry_run";
            readonly conditions?: components["schemas"]["RuleConditionsWrite"];
            /**
             * @description how path entries match the canonical path (decoded once, dot segments resolved, without the query): `wildcard`, where `*` is any run of characters, slashes included, and `@name` is a list of paths; `regex` in RE2 syntax, unanchored
             * @enum {string}
             */
            readonly path_match_type?: "wildcard" | "regex";
            /** @description paths that the rule applies to; default: every path (`/*`) */
            readonly path_includes?: readonly string[];
            /** @description paths that the rule does not apply to; they win over `path_includes` */
            readonly path_excludes?: readonly string[];
            /** @description paranoia level of the Core Rule Set: a higher one finds more attacks and more false positives */
            readonly paranoia?: number;
            /** @description anomaly score from which on a request is blocked; a critical signature adds 5 */
            readonly threshold?: number;
            /** @description KiB of the request body that are inspected; 0: the body is not inspected */
            readonly body_cap_kb?: number;
            /** @description ids of signatures that do not count */
            readonly rule_excludes?: readonly string[];
            /** @description signatures that leave out a target, or do not count, on some paths; each names one by `id` or a group by `tag` */
            readonly exclusions?: readonly {
                /**
                 * @description the signature; null where `tag` names a group
                 * @default null
                 */
                readonly id?: number | null;
                /**
                 * @description every signature with this tag, such as `attack-sqli`; empty where `id` is set
                 * @default
                 */
                readonly tag?: string;
                /**
                 * @description what the signatures do not inspect: `ARGS:comment`, `REQUEST_COOKIES:sess*`, `REQUEST_HEADERS`; empty: the signatures do not count at all
                 * @default
                 */
                readonly target?: string;
                /**
                 * @description paths where the exclusion applies: a wildcard over the canonical path
                 * @default /*
                 */
                readonly path?: string;
            }[];
            /**
             * @description what follows when a body cannot be parsed as its Content-Type says, is in a coding that does not inflate, was not read, or is longer than `body_cap_kb`: `score` adds 5 but for the part beyond the cap, `block` blocks, `pass` does nothing
             * @enum {string}
             */
            readonly on_uninspected?: "score" | "block" | "pass";
        };
        readonly Wallet: {
            /** @description the balance in minor units of the currency, such as cents; below zero all domains are suspended */
            readonly balance: number;
            /** @description the currency by ISO 4217; `null`: the account has no wallet */
            readonly currency: string | null;
            /**
             * Format: date-time
             * @description when the balance was true; `null`: the account has no wallet
             */
            readonly updated_at: string | null;
            /** @description domains of the account that are suspended because of the balance, by name */
            readonly suspended_domains: readonly string[];
        };
        readonly Webhook: {
            /** @description the id of the webhook */
            readonly id: number;
            /** @description where notifications are sent */
            readonly url: string;
            /**
             * Format: date-time
             * @description when it was added
             */
            readonly created_at: string;
        };
        readonly Zone: {
            /** @description the serial of the SOA */
            readonly serial: number;
            /** @description records of the zone without its SOA */
            readonly records: number;
            /** @description the first nameserver */
            readonly primary: string;
            /**
             * Format: date-time
             * @description when this version was made
             */
            readonly updated_at: string;
            /** @description whether changes wait for the next version */
            readonly changing: boolean;
            /** @description records that are not in the zone */
            readonly problems: number;
            /** @description the first of them */
            readonly problem_list: readonly {
                /** @description the name of the record */
                readonly name: string;
                /** @description its type */
                readonly type: string;
                /** @description why it is not in the zone */
                readonly message: string;
            }[];
            /** @description the name servers that transfer the zone */
            readonly secondaries: readonly {
                /** @description address and port */
                readonly address: string;
                /** @description whether it has not accepted the NOTIFY of this version yet */
                readonly notifying: boolean;
            }[];
        };
        readonly ZoneCheck: {
            /** @description the serial of the SOA */
            readonly serial: number;
            /** @description record sets of the zone */
            readonly sets: number;
            /** @description those that were compared */
            readonly compared: number;
            /** @description each secondary */
            readonly secondaries: readonly {
                /** @description address and port */
                readonly address: string;
                /**
                 * @description `same`: all compared sets are equal; `behind`: a set differs and the serial is older; `different`: a set differs; `unanswered`: no SOA of the zone
                 * @enum {string}
                 */
                readonly state: "same" | "behind" | "different" | "unanswered";
                /** @description the serial that it answers; one that signs the zone numbers its own versions */
                readonly serial: number | null;
                /** @description why it did not answer the SOA */
                readonly fault: string | null;
                /** @description sets that differ */
                readonly different: number;
                /** @description the first of them */
                readonly differences: readonly {
                    /** @description the name of the set */
                    readonly name: string;
                    /** @description its type */
                    readonly type: string;
                    /** @description data of the zone, in zone file form */
                    readonly expected: readonly string[];
                    /** @description data that the secondary answers */
                    readonly answered: readonly string[];
                    /** @description why it did not answer */
                    readonly fault: string | null;
                }[];
            }[];
        };
        readonly ZoneImport: {
            readonly imported: number;
            /** @description records that were not added; `problems` has the reasons */
            readonly skipped: number;
            /** @description of those, records that the domain lacks */
            readonly lost: number;
            readonly records: readonly components["schemas"]["DnsRecord"][];
            readonly problems: readonly {
                /**
                 * @description `lost`: the record is missing; `not_needed`: it exists already, or the service makes its own; `hint`: it is imported, and probably wrong
                 * @enum {string}
                 */
                readonly kind: "lost" | "not_needed" | "hint";
                /** @description of the file, from 1 */
                readonly line: number | null;
                readonly error: string;
            }[];
        };
    };
    responses: {
        /** @description malformed or invalid; the sentence names the field and what is wrong with it */
        readonly BadRequest: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": "limit: must be a whole number, found `ten`"
                 *     }
                 */
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description missing, malformed, revoked or expired key, or inactive owner */
        readonly Unauthorized: {
            headers: {
                /** @description `Bearer` where no key was sent, `Bearer error="invalid_token"` where it opens nothing */
                readonly "WWW-Authenticate": string;
                readonly [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": "invalid API key"
                 *     }
                 */
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description read-only key, insufficient role, or not in the plan */
        readonly Forbidden: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": "read-only API key"
                 *     }
                 */
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description not found, or not visible */
        readonly NotFound: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": "not found"
                 *     }
                 */
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description conflicts with the state of things */
        readonly Conflict: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": "domain is disabled"
                 *     }
                 */
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description the object is not what `If-Match` says */
        readonly PreconditionFailed: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": "the object is not what `If-Match` says"
                 *     }
                 */
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description the body is too large */
        readonly ContentTooLarge: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": "the body must be at most 4194304 octets"
                 *     }
                 */
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description the content type is not supported */
        readonly UnsupportedMediaType: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": "the content type must be `application/json`"
                 *     }
                 */
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description too many requests; nothing was done */
        readonly TooManyRequests: {
            headers: {
                /** @description seconds until a request is let through again */
                readonly "Retry-After": number;
                readonly [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": "rate limit exceeded"
                 *     }
                 */
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description the store is not available; the sentence says whether anything was changed */
        readonly ServiceUnavailable: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": "the store is not available at the moment; nothing was changed"
                 *     }
                 */
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description stored, but not published in time */
        readonly NotPublishedInTime: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": "the change is stored, but no revision that covers it was out within 20 s"
                 *     }
                 */
                readonly "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly getDomains: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Domains the account owns or is a member of, by name */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["DomainSummary"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomains: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
                /** @description `true`: also where another account has added the name and not proved it */
                readonly claim?: "true" | "false";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "name": "example.com",
                 *       "dns_mode": "managed"
                 *     }
                 */
                readonly "application/json": {
                    /** @description name of the domain, at least two labels */
                    readonly name: string;
                    /**
                     * @description `managed`: the name servers of the service answer for the domain; `external`: those of another provider
                     * @default managed
                     * @enum {string}
                     */
                    readonly dns_mode?: "managed" | "external";
                };
            };
        };
        readonly responses: {
            /** @description Add a domain, or claim a name that another account has added and nobody has proved */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Domain"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainsNsSets: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The nameserver sets a managed domain can be delegated to, the recommended one first */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly sets: readonly (readonly string[])[];
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomain: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One domain with its settings, progress and what the caller may do */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Domain"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly putDomain: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "sec_no_sniff": true,
                 *       "cache_l2_ttl_days": 1
                 *     }
                 */
                readonly "application/json": {
                    /**
                     * @description `managed`: the name servers of the service answer for the domain; `external`: those of another provider
                     * @enum {string}
                     */
                    readonly dns_mode?: "managed" | "external";
                    /**
                     * Format: date-time
                     * @description null ends developer mode; a time, as a GET shows it, is ignored
                     */
                    readonly developer_mode_until?: string | null;
                    /** @description gigabytes that the disk cache of the domain may use */
                    readonly cache_l2_max_gb?: number;
                    /** @description days after which the disk cache drops an entry at the latest */
                    readonly cache_l2_ttl_days?: number;
                    /**
                     * @description megabytes of the largest response body that is cached; larger ones stream through
                     * @enum {number}
                     */
                    readonly cache_cap_mb?: 128 | 256 | 512 | 2048 | 4096;
                    /** @description adds `X-Content-Type-Options: nosniff` to responses */
                    readonly sec_no_sniff?: boolean;
                    /** @description adds `Referrer-Policy: strict-origin-when-cross-origin` to responses */
                    readonly sec_referrer_policy?: boolean;
                    /** @description removes headers that name the origin's software from responses */
                    readonly sec_strip_headers?: boolean;
                    /** @description answers requests with `Accept: text/markdown` with a Markdown rendering of HTML pages; needs an active plan */
                    readonly markdown_for_agents?: boolean;
                    /** @description notifies the owner of a sustained outage of the origin */
                    readonly outage_alerts?: boolean;
                    /** @description percentage of origin errors from which on a minute counts as down */
                    readonly uptime_threshold_pct?: number;
                    /** @description minutes that must be down before an incident opens */
                    readonly uptime_window_min?: number;
                    /** @description requests to the origin that the window must hold before an incident opens */
                    readonly uptime_min_requests?: number;
                    /** @description minutes with requests that the window must hold; at most `uptime_window_min` */
                    readonly uptime_min_active_min?: number;
                    /** @description consecutive minutes with requests and not down after which an incident resolves */
                    readonly uptime_recover_min?: number;
                };
            };
        };
        readonly responses: {
            /** @description Change settings of a domain; fields left out keep their value */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Domain"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly deleteDomain: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a domain with its records, rules and zone, for good */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainDeveloperMode: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Bypass the cache for three hours from now */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** Format: date-time */
                        readonly developer_mode_until: string;
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainVerify: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Prove ownership of the name once the TXT record of `verification` is published */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Domain"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainEnable: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Bring a disabled domain back: active when the proof still holds, else where a new domain starts */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Domain"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainCheckNs: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Look at the delegation now; once an hour */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @enum {string} */
                        readonly state: "delegated" | "contested" | "other" | "none" | "unreachable" | "unchecked";
                        readonly found: readonly string[];
                        /** @enum {string} */
                        readonly status: "pending" | "unverified" | "active" | "moved" | "disabled" | "banned";
                        /** Format: date-time */
                        readonly last_manual_ns_check_at: string;
                        /** Format: date-time */
                        readonly next_check_at?: string;
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainFeatures: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description What the plan of a domain includes, and current usage against its limits */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Features"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainCache: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description How much nodes have cached of a domain, by their last reports */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CacheFootprint"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly deleteDomainCache: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Purge a domain's cache on every node */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainCacheEntries: {
        readonly parameters: {
            readonly query?: {
                /** @description only URLs under it: a host with the beginning of a path, as a purge names it */
                readonly prefix?: string;
                /** @description URLs, at most; without it 100 */
                readonly limit?: number;
                /** @description `next` of the page before */
                readonly cursor?: string;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The cached URLs of a domain, by the last reports of nodes, page by page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @description by URL */
                        readonly entries: readonly components["schemas"]["CachedEntry"][];
                        /** @description the `cursor` of the next page; `null`: nothing more */
                        readonly next: string | null;
                        /** @description `true`: nodes have more than they list; listed are the URLs that were used last */
                        readonly truncated: boolean;
                        /**
                         * Format: date-time
                         * @description when the oldest report arrived; `null`: no node has reported
                         */
                        readonly oldest_at: string | null;
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomainCachePurge: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description whole URLs; the parameters of the query that the cache rule ignores are left out */
                    readonly urls?: readonly string[];
                    /** @description hosts with the beginning of a path; a folder ends with `/` */
                    readonly prefixes?: readonly string[];
                    /** @description tags of the origin's `Cache-Tag` or `Surrogate-Key`, in any case of letters */
                    readonly tags?: readonly string[];
                };
            };
        };
        readonly responses: {
            /** @description Purge cached responses by URL, prefix or tag on every node */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainCacheRefresh: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description whole URLs, as of a purge */
                    readonly urls: readonly string[];
                };
            };
        };
        readonly responses: {
            /** @description Mark cached responses as stale on every node: the next request revalidates them with the origin */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRecords: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Records of a domain by id */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["DnsRecord"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomainRecords: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "name": "shop",
                 *       "type": "A",
                 *       "destination": "198.51.100.20",
                 *       "proxied": true
                 *     }
                 */
                readonly "application/json": components["schemas"]["DnsRecordCreate"];
            };
        };
        readonly responses: {
            /** @description Add a record */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DnsRecord"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRecordsBatchUpdate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description partial updates, each with the id of its record */
                    readonly updates: readonly {
                        /** @description id of the record to change */
                        readonly id: number;
                        /** @description host name, relative to the domain or absolute; `@` is the apex */
                        readonly name?: string;
                        /**
                         * @description type of the record; only A, AAAA, CNAME and ALIAS can be proxied
                         * @enum {string}
                         */
                        readonly type?: "A" | "AAAA" | "CNAME" | "ALIAS" | "MX" | "TXT" | "NS" | "SRV" | "CAA" | "PTR" | "HTTPS" | "SVCB" | "TLSA";
                        /** @description data of the record: an address, a host name or text, as the type says; of a proxied record the edge's origin */
                        readonly destination?: string;
                        /** @description preference of an MX record: lower first; null for other types */
                        readonly mx_priority?: number | null;
                        /** @description whether requests for the name go through the edge */
                        readonly proxied?: boolean;
                        /** @description challenges every visitor of the name, whatever the rules say */
                        readonly captcha?: boolean;
                        /**
                         * @description protocol towards the origin of a proxied record: `Default` follows the request's, `Auto` finds out, `Http`, `Https`
                         * @enum {string}
                         */
                        readonly scheme?: "Default" | "Auto" | "Http" | "Https";
                        /** @description port of the origin; null follows the scheme */
                        readonly port?: number | null;
                        /** @description Host header and TLS server name that the origin gets; empty: the request's own host */
                        readonly host_header?: string;
                        /** @description counts requests of the name for the uptime of the domain */
                        readonly monitor?: boolean;
                        /** @description seconds that the edge waits for the origin before it answers 504; null: the default of the node */
                        readonly timeout?: number | null;
                        /** @description note without effect */
                        readonly comment?: string;
                    }[];
                };
            };
        };
        readonly responses: {
            /** @description Change many records; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRecordsBatchDelete: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of the records to delete */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Delete many records; 200 even when some are not there */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRecordsImport: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "text/dns": string;
                readonly "text/plain": string;
            };
        };
        readonly responses: {
            /** @description Add the records of a BIND zone file; `problems` lists the lines that were not added */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ZoneImport"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRecordsExport: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description All records as a BIND zone file */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/dns": string;
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainRecordsByRecordId: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly recordId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One record */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DnsRecord"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly putDomainRecordsByRecordId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly recordId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "destination": "198.51.100.21"
                 *     }
                 */
                readonly "application/json": components["schemas"]["DnsRecordUpdate"];
            };
        };
        readonly responses: {
            /** @description Change a record; fields left out keep their value */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DnsRecord"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly deleteDomainRecordsByRecordId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly recordId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a record and take it out of every rule that names it */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRules: {
        readonly parameters: {
            readonly query?: {
                /** @description how many rules; `Link` leads to the next page */
                readonly limit?: number;
                /** @description where the page before left off */
                readonly cursor?: string;
                /** @description only rules that are enabled, or are not */
                readonly enabled?: "true" | "false";
                /** @description only rules one of whose texts holds this one */
                readonly q?: string;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Rules of all types, by type and in evaluation order within each; `Link` leads to the next page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly (components["schemas"]["DropRule"] | components["schemas"]["FingerprintRule"] | components["schemas"]["BotRouteRule"] | components["schemas"]["RateLimitRule"] | components["schemas"]["WafRule"] | components["schemas"]["RedirectRule"] | components["schemas"]["CaptchaRule"] | components["schemas"]["RewriteRule"] | components["schemas"]["CacheRule"] | components["schemas"]["OriginRouteRule"] | components["schemas"]["OriginPoolRule"] | components["schemas"]["ErrorPageRule"] | components["schemas"]["HeadersRule"])[];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainRulesHits: {
        readonly parameters: {
            readonly query?: {
                /** @description start, inclusive, moved to where its step begins; without it 24 hours before `to` */
                readonly from?: string;
                /** @description end, exclusive, moved to where the next step begins; without it now */
                readonly to?: string;
                /**
                 * @description the unit of the counts; without it the shortest that suits the period
                 * @example hour
                 */
                readonly step?: "minute" | "hour" | "day";
                /** @description rules, at most; without it 1000 */
                readonly limit?: number;
                /** @description rules before the page, from `Link` */
                readonly cursor?: number;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description How often every rule matched, in evaluation order, and what dry_run rules would have changed; `Link` leads to the next page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Hits"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainRulesDrop: {
        readonly parameters: {
            readonly query?: {
                /** @description how many rules; `Link` leads to the next page */
                readonly limit?: number;
                /** @description where the page before left off */
                readonly cursor?: string;
                /** @description only rules that are enabled, or are not */
                readonly enabled?: "true" | "false";
                /** @description only rules one of whose texts holds this one */
                readonly q?: string;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Rules of type drop in evaluation order: all, or page by page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["DropRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomainRulesDrop: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "path_includes": [
                 *         "/admin/*"
                 *       ],
                 *       "ip_match_type": "exclude",
                 *       "ips": [
                 *         "203.0.113.0/24"
                 *       ]
                 *     }
                 */
                readonly "application/json": components["schemas"]["DropRuleCreate"];
            };
        };
        readonly responses: {
            /** @description Add a rule of type drop */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DropRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly putDomainRulesDropReorder: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of all rules of the type, in their new order */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Give rules of type drop a new order: priorities 10, 20, 30 … */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["DropRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesDropByRuleId: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One rule of type drop */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DropRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly putDomainRulesDropByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "enabled": false,
                 *       "priority": 50
                 *     }
                 */
                readonly "application/json": components["schemas"]["DropRuleUpdate"];
            };
        };
        readonly responses: {
            /** @description Change a rule of type drop; fields left out keep their value */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DropRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly deleteDomainRulesDropByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a rule of type drop */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly patchDomainRulesDropByRuleIdToggle: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Turn a rule of type drop on or off */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DropRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesFingerprint: {
        readonly parameters: {
            readonly query?: {
                /** @description how many rules; `Link` leads to the next page */
                readonly limit?: number;
                /** @description where the page before left off */
                readonly cursor?: string;
                /** @description only rules that are enabled, or are not */
                readonly enabled?: "true" | "false";
                /** @description only rules one of whose texts holds this one */
                readonly q?: string;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Rules of type fingerprint in evaluation order: all, or page by page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["FingerprintRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomainRulesFingerprint: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "match_ja4": [
                 *         "t13d1516h2_8daaf6152771_b186095e22b6"
                 *       ],
                 *       "action": "challenge"
                 *     }
                 */
                readonly "application/json": components["schemas"]["FingerprintRuleCreate"];
            };
        };
        readonly responses: {
            /** @description Add a rule of type fingerprint */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["FingerprintRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly putDomainRulesFingerprintReorder: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of all rules of the type, in their new order */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Give rules of type fingerprint a new order: priorities 10, 20, 30 … */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["FingerprintRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesFingerprintByRuleId: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One rule of type fingerprint */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["FingerprintRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly putDomainRulesFingerprintByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "enabled": false,
                 *       "priority": 50
                 *     }
                 */
                readonly "application/json": components["schemas"]["FingerprintRuleUpdate"];
            };
        };
        readonly responses: {
            /** @description Change a rule of type fingerprint; fields left out keep their value */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["FingerprintRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly deleteDomainRulesFingerprintByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a rule of type fingerprint */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly patchDomainRulesFingerprintByRuleIdToggle: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Turn a rule of type fingerprint on or off */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["FingerprintRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesBotRoute: {
        readonly parameters: {
            readonly query?: {
                /** @description how many rules; `Link` leads to the next page */
                readonly limit?: number;
                /** @description where the page before left off */
                readonly cursor?: string;
                /** @description only rules that are enabled, or are not */
                readonly enabled?: "true" | "false";
                /** @description only rules one of whose texts holds this one */
                readonly q?: string;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Rules of type bot_route in evaluation order: all, or page by page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["BotRouteRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomainRulesBotRoute: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "bot_kinds": [
                 *         "gptbot",
                 *         "ccbot"
                 *       ],
                 *       "action": "block"
                 *     }
                 */
                readonly "application/json": components["schemas"]["BotRouteRuleCreate"];
            };
        };
        readonly responses: {
            /** @description Add a rule of type bot_route */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BotRouteRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly putDomainRulesBotRouteReorder: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of all rules of the type, in their new order */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Give rules of type bot_route a new order: priorities 10, 20, 30 … */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["BotRouteRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesBotRouteByRuleId: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One rule of type bot_route */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BotRouteRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly putDomainRulesBotRouteByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "enabled": false,
                 *       "priority": 50
                 *     }
                 */
                readonly "application/json": components["schemas"]["BotRouteRuleUpdate"];
            };
        };
        readonly responses: {
            /** @description Change a rule of type bot_route; fields left out keep their value */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BotRouteRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly deleteDomainRulesBotRouteByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a rule of type bot_route */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly patchDomainRulesBotRouteByRuleIdToggle: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Turn a rule of type bot_route on or off */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BotRouteRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesRateLimit: {
        readonly parameters: {
            readonly query?: {
                /** @description how many rules; `Link` leads to the next page */
                readonly limit?: number;
                /** @description where the page before left off */
                readonly cursor?: string;
                /** @description only rules that are enabled, or are not */
                readonly enabled?: "true" | "false";
                /** @description only rules one of whose texts holds this one */
                readonly q?: string;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Rules of type rate_limit in evaluation order: all, or page by page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["RateLimitRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomainRulesRateLimit: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "path_includes": [
                 *         "/api/*"
                 *       ],
                 *       "limit": 100,
                 *       "window_sec": 60,
                 *       "key_by": "ip"
                 *     }
                 */
                readonly "application/json": components["schemas"]["RateLimitRuleCreate"];
            };
        };
        readonly responses: {
            /** @description Add a rule of type rate_limit */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RateLimitRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly putDomainRulesRateLimitReorder: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of all rules of the type, in their new order */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Give rules of type rate_limit a new order: priorities 10, 20, 30 … */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["RateLimitRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesRateLimitByRuleId: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One rule of type rate_limit */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RateLimitRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly putDomainRulesRateLimitByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "enabled": false,
                 *       "priority": 50
                 *     }
                 */
                readonly "application/json": components["schemas"]["RateLimitRuleUpdate"];
            };
        };
        readonly responses: {
            /** @description Change a rule of type rate_limit; fields left out keep their value */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RateLimitRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly deleteDomainRulesRateLimitByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a rule of type rate_limit */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly patchDomainRulesRateLimitByRuleIdToggle: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Turn a rule of type rate_limit on or off */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RateLimitRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesWaf: {
        readonly parameters: {
            readonly query?: {
                /** @description how many rules; `Link` leads to the next page */
                readonly limit?: number;
                /** @description where the page before left off */
                readonly cursor?: string;
                /** @description only rules that are enabled, or are not */
                readonly enabled?: "true" | "false";
                /** @description only rules one of whose texts holds this one */
                readonly q?: string;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Rules of type waf in evaluation order: all, or page by page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["WafRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomainRulesWaf: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "paranoia": 1,
                 *       "threshold": 5,
                 *       "action_mode": "dry_run"
                 *     }
                 */
                readonly "application/json": components["schemas"]["WafRuleCreate"];
            };
        };
        readonly responses: {
            /** @description Add a rule of type waf */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WafRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly putDomainRulesWafReorder: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of all rules of the type, in their new order */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Give rules of type waf a new order: priorities 10, 20, 30 … */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["WafRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesWafByRuleId: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One rule of type waf */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WafRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly putDomainRulesWafByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "enabled": false,
                 *       "priority": 50
                 *     }
                 */
                readonly "application/json": components["schemas"]["WafRuleUpdate"];
            };
        };
        readonly responses: {
            /** @description Change a rule of type waf; fields left out keep their value */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WafRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly deleteDomainRulesWafByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a rule of type waf */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly patchDomainRulesWafByRuleIdToggle: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Turn a rule of type waf on or off */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WafRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesRedirect: {
        readonly parameters: {
            readonly query?: {
                /** @description how many rules; `Link` leads to the next page */
                readonly limit?: number;
                /** @description where the page before left off */
                readonly cursor?: string;
                /** @description only rules that are enabled, or are not */
                readonly enabled?: "true" | "false";
                /** @description only rules one of whose texts holds this one */
                readonly q?: string;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Rules of type redirect in evaluation order: all, or page by page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["RedirectRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomainRulesRedirect: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "path_includes": [
                 *         "/old/*"
                 *       ],
                 *       "target": "/new",
                 *       "status_code": 301
                 *     }
                 */
                readonly "application/json": components["schemas"]["RedirectRuleCreate"];
            };
        };
        readonly responses: {
            /** @description Add a rule of type redirect */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RedirectRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly putDomainRulesRedirectReorder: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of all rules of the type, in their new order */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Give rules of type redirect a new order: priorities 10, 20, 30 … */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["RedirectRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesRedirectByRuleId: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One rule of type redirect */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RedirectRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly putDomainRulesRedirectByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "enabled": false,
                 *       "priority": 50
                 *     }
                 */
                readonly "application/json": components["schemas"]["RedirectRuleUpdate"];
            };
        };
        readonly responses: {
            /** @description Change a rule of type redirect; fields left out keep their value */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RedirectRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly deleteDomainRulesRedirectByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a rule of type redirect */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly patchDomainRulesRedirectByRuleIdToggle: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Turn a rule of type redirect on or off */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RedirectRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesCaptcha: {
        readonly parameters: {
            readonly query?: {
                /** @description how many rules; `Link` leads to the next page */
                readonly limit?: number;
                /** @description where the page before left off */
                readonly cursor?: string;
                /** @description only rules that are enabled, or are not */
                readonly enabled?: "true" | "false";
                /** @description only rules one of whose texts holds this one */
                readonly q?: string;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Rules of type captcha in evaluation order: all, or page by page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["CaptchaRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomainRulesCaptcha: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "path_includes": [
                 *         "/login"
                 *       ],
                 *       "ttl_sec": 3600
                 *     }
                 */
                readonly "application/json": components["schemas"]["CaptchaRuleCreate"];
            };
        };
        readonly responses: {
            /** @description Add a rule of type captcha */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CaptchaRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly putDomainRulesCaptchaReorder: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of all rules of the type, in their new order */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Give rules of type captcha a new order: priorities 10, 20, 30 … */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["CaptchaRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesCaptchaByRuleId: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One rule of type captcha */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CaptchaRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly putDomainRulesCaptchaByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "enabled": false,
                 *       "priority": 50
                 *     }
                 */
                readonly "application/json": components["schemas"]["CaptchaRuleUpdate"];
            };
        };
        readonly responses: {
            /** @description Change a rule of type captcha; fields left out keep their value */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CaptchaRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly deleteDomainRulesCaptchaByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a rule of type captcha */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly patchDomainRulesCaptchaByRuleIdToggle: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Turn a rule of type captcha on or off */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CaptchaRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesRewrite: {
        readonly parameters: {
            readonly query?: {
                /** @description how many rules; `Link` leads to the next page */
                readonly limit?: number;
                /** @description where the page before left off */
                readonly cursor?: string;
                /** @description only rules that are enabled, or are not */
                readonly enabled?: "true" | "false";
                /** @description only rules one of whose texts holds this one */
                readonly q?: string;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Rules of type rewrite in evaluation order: all, or page by page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["RewriteRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomainRulesRewrite: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "path_match_type": "regex",
                 *       "path_includes": [
                 *         "^/shop/(.*)$"
                 *       ],
                 *       "path_target": "/store/$1",
                 *       "query_mode": "preserve"
                 *     }
                 */
                readonly "application/json": components["schemas"]["RewriteRuleCreate"];
            };
        };
        readonly responses: {
            /** @description Add a rule of type rewrite */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RewriteRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly putDomainRulesRewriteReorder: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of all rules of the type, in their new order */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Give rules of type rewrite a new order: priorities 10, 20, 30 … */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["RewriteRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesRewriteByRuleId: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One rule of type rewrite */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RewriteRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly putDomainRulesRewriteByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "enabled": false,
                 *       "priority": 50
                 *     }
                 */
                readonly "application/json": components["schemas"]["RewriteRuleUpdate"];
            };
        };
        readonly responses: {
            /** @description Change a rule of type rewrite; fields left out keep their value */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RewriteRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly deleteDomainRulesRewriteByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a rule of type rewrite */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly patchDomainRulesRewriteByRuleIdToggle: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Turn a rule of type rewrite on or off */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RewriteRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesCache: {
        readonly parameters: {
            readonly query?: {
                /** @description how many rules; `Link` leads to the next page */
                readonly limit?: number;
                /** @description where the page before left off */
                readonly cursor?: string;
                /** @description only rules that are enabled, or are not */
                readonly enabled?: "true" | "false";
                /** @description only rules one of whose texts holds this one */
                readonly q?: string;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Rules of type cache in evaluation order: all, or page by page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["CacheRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomainRulesCache: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "path_includes": [
                 *         "/assets/*"
                 *       ],
                 *       "edge_ttl_sec": 86400
                 *     }
                 */
                readonly "application/json": components["schemas"]["CacheRuleCreate"];
            };
        };
        readonly responses: {
            /** @description Add a rule of type cache */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CacheRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly putDomainRulesCacheReorder: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of all rules of the type, in their new order */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Give rules of type cache a new order: priorities 10, 20, 30 … */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["CacheRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesCacheByRuleId: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One rule of type cache */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CacheRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly putDomainRulesCacheByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "enabled": false,
                 *       "priority": 50
                 *     }
                 */
                readonly "application/json": components["schemas"]["CacheRuleUpdate"];
            };
        };
        readonly responses: {
            /** @description Change a rule of type cache; fields left out keep their value */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CacheRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly deleteDomainRulesCacheByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a rule of type cache */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly patchDomainRulesCacheByRuleIdToggle: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Turn a rule of type cache on or off */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CacheRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesOriginRoute: {
        readonly parameters: {
            readonly query?: {
                /** @description how many rules; `Link` leads to the next page */
                readonly limit?: number;
                /** @description where the page before left off */
                readonly cursor?: string;
                /** @description only rules that are enabled, or are not */
                readonly enabled?: "true" | "false";
                /** @description only rules one of whose texts holds this one */
                readonly q?: string;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Rules of type origin_route in evaluation order: all, or page by page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["OriginRouteRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomainRulesOriginRoute: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "path_includes": [
                 *         "/api/*"
                 *       ],
                 *       "address": "198.51.100.30",
                 *       "port": 8080,
                 *       "scheme": "http"
                 *     }
                 */
                readonly "application/json": components["schemas"]["OriginRouteRuleCreate"];
            };
        };
        readonly responses: {
            /** @description Add a rule of type origin_route */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["OriginRouteRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly putDomainRulesOriginRouteReorder: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of all rules of the type, in their new order */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Give rules of type origin_route a new order: priorities 10, 20, 30 … */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["OriginRouteRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesOriginRouteByRuleId: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One rule of type origin_route */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["OriginRouteRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly putDomainRulesOriginRouteByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "enabled": false,
                 *       "priority": 50
                 *     }
                 */
                readonly "application/json": components["schemas"]["OriginRouteRuleUpdate"];
            };
        };
        readonly responses: {
            /** @description Change a rule of type origin_route; fields left out keep their value */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["OriginRouteRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly deleteDomainRulesOriginRouteByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a rule of type origin_route */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly patchDomainRulesOriginRouteByRuleIdToggle: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Turn a rule of type origin_route on or off */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["OriginRouteRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesOriginPool: {
        readonly parameters: {
            readonly query?: {
                /** @description how many rules; `Link` leads to the next page */
                readonly limit?: number;
                /** @description where the page before left off */
                readonly cursor?: string;
                /** @description only rules that are enabled, or are not */
                readonly enabled?: "true" | "false";
                /** @description only rules one of whose texts holds this one */
                readonly q?: string;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Rules of type origin_pool in evaluation order: all, or page by page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["OriginPoolRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomainRulesOriginPool: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "lb_type": "round_robin",
                 *       "origins": [
                 *         {
                 *           "address": "198.51.100.41",
                 *           "weight": 3
                 *         },
                 *         {
                 *           "address": "198.51.100.42",
                 *           "weight": 1
                 *         }
                 *       ]
                 *     }
                 */
                readonly "application/json": components["schemas"]["OriginPoolRuleCreate"];
            };
        };
        readonly responses: {
            /** @description Add a rule of type origin_pool */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["OriginPoolRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly putDomainRulesOriginPoolReorder: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of all rules of the type, in their new order */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Give rules of type origin_pool a new order: priorities 10, 20, 30 … */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["OriginPoolRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesOriginPoolByRuleId: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One rule of type origin_pool */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["OriginPoolRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly putDomainRulesOriginPoolByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "enabled": false,
                 *       "priority": 50
                 *     }
                 */
                readonly "application/json": components["schemas"]["OriginPoolRuleUpdate"];
            };
        };
        readonly responses: {
            /** @description Change a rule of type origin_pool; fields left out keep their value */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["OriginPoolRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly deleteDomainRulesOriginPoolByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a rule of type origin_pool */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly patchDomainRulesOriginPoolByRuleIdToggle: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Turn a rule of type origin_pool on or off */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["OriginPoolRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesErrorPage: {
        readonly parameters: {
            readonly query?: {
                /** @description how many rules; `Link` leads to the next page */
                readonly limit?: number;
                /** @description where the page before left off */
                readonly cursor?: string;
                /** @description only rules that are enabled, or are not */
                readonly enabled?: "true" | "false";
                /** @description only rules one of whose texts holds this one */
                readonly q?: string;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Rules of type error_page in evaluation order: all, or page by page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["ErrorPageRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomainRulesErrorPage: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "codes": [
                 *         502,
                 *         503
                 *       ],
                 *       "content": {
                 *         "502": "<h1>Back in a minute</h1>"
                 *       }
                 *     }
                 */
                readonly "application/json": components["schemas"]["ErrorPageRuleCreate"];
            };
        };
        readonly responses: {
            /** @description Add a rule of type error_page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorPageRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly putDomainRulesErrorPageReorder: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of all rules of the type, in their new order */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Give rules of type error_page a new order: priorities 10, 20, 30 … */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["ErrorPageRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesErrorPageByRuleId: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One rule of type error_page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorPageRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly putDomainRulesErrorPageByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "enabled": false,
                 *       "priority": 50
                 *     }
                 */
                readonly "application/json": components["schemas"]["ErrorPageRuleUpdate"];
            };
        };
        readonly responses: {
            /** @description Change a rule of type error_page; fields left out keep their value */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorPageRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly deleteDomainRulesErrorPageByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a rule of type error_page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly patchDomainRulesErrorPageByRuleIdToggle: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Turn a rule of type error_page on or off */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorPageRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesHeaders: {
        readonly parameters: {
            readonly query?: {
                /** @description how many rules; `Link` leads to the next page */
                readonly limit?: number;
                /** @description where the page before left off */
                readonly cursor?: string;
                /** @description only rules that are enabled, or are not */
                readonly enabled?: "true" | "false";
                /** @description only rules one of whose texts holds this one */
                readonly q?: string;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Rules of type headers in evaluation order: all, or page by page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["HeadersRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomainRulesHeaders: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "request": {
                 *         "set": {
                 *           "X-Client-Country": "${client_country}"
                 *         }
                 *       },
                 *       "response": {
                 *         "set": {
                 *           "Strict-Transport-Security": "max-age=31536000"
                 *         },
                 *         "remove": [
                 *           "X-Powered-By"
                 *         ]
                 *       }
                 *     }
                 */
                readonly "application/json": components["schemas"]["HeadersRuleCreate"];
            };
        };
        readonly responses: {
            /** @description Add a rule of type headers */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["HeadersRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly putDomainRulesHeadersReorder: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of all rules of the type, in their new order */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Give rules of type headers a new order: priorities 10, 20, 30 … */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["HeadersRule"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainRulesHeadersByRuleId: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One rule of type headers */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["HeadersRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly putDomainRulesHeadersByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "enabled": false,
                 *       "priority": 50
                 *     }
                 */
                readonly "application/json": components["schemas"]["HeadersRuleUpdate"];
            };
        };
        readonly responses: {
            /** @description Change a rule of type headers; fields left out keep their value */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["HeadersRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly deleteDomainRulesHeadersByRuleId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a rule of type headers */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly patchDomainRulesHeadersByRuleIdToggle: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly ruleId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Turn a rule of type headers on or off */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["HeadersRule"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesDropBatchCreate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description the new rules */
                    readonly creates: readonly components["schemas"]["DropRuleCreate"][];
                };
            };
        };
        readonly responses: {
            /** @description Add rules of type drop, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchCreateResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesDropBatchUpdate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description partial updates, each with the id of its rule */
                    readonly updates: readonly ({
                        /** @description id of the rule to change */
                        readonly id: number;
                    } & components["schemas"]["DropRuleUpdate"])[];
                };
            };
        };
        readonly responses: {
            /** @description Change rules of type drop, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesDropBatchDelete: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of the rules to delete */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Delete rules of type drop, at most 100; 200 even when some are not there */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesFingerprintBatchCreate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description the new rules */
                    readonly creates: readonly components["schemas"]["FingerprintRuleCreate"][];
                };
            };
        };
        readonly responses: {
            /** @description Add rules of type fingerprint, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchCreateResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesFingerprintBatchUpdate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description partial updates, each with the id of its rule */
                    readonly updates: readonly ({
                        /** @description id of the rule to change */
                        readonly id: number;
                    } & components["schemas"]["FingerprintRuleUpdate"])[];
                };
            };
        };
        readonly responses: {
            /** @description Change rules of type fingerprint, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesFingerprintBatchDelete: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of the rules to delete */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Delete rules of type fingerprint, at most 100; 200 even when some are not there */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesBotRouteBatchCreate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description the new rules */
                    readonly creates: readonly components["schemas"]["BotRouteRuleCreate"][];
                };
            };
        };
        readonly responses: {
            /** @description Add rules of type bot_route, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchCreateResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesBotRouteBatchUpdate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description partial updates, each with the id of its rule */
                    readonly updates: readonly ({
                        /** @description id of the rule to change */
                        readonly id: number;
                    } & components["schemas"]["BotRouteRuleUpdate"])[];
                };
            };
        };
        readonly responses: {
            /** @description Change rules of type bot_route, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesBotRouteBatchDelete: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of the rules to delete */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Delete rules of type bot_route, at most 100; 200 even when some are not there */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesRateLimitBatchCreate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description the new rules */
                    readonly creates: readonly components["schemas"]["RateLimitRuleCreate"][];
                };
            };
        };
        readonly responses: {
            /** @description Add rules of type rate_limit, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchCreateResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesRateLimitBatchUpdate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description partial updates, each with the id of its rule */
                    readonly updates: readonly ({
                        /** @description id of the rule to change */
                        readonly id: number;
                    } & components["schemas"]["RateLimitRuleUpdate"])[];
                };
            };
        };
        readonly responses: {
            /** @description Change rules of type rate_limit, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesRateLimitBatchDelete: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of the rules to delete */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Delete rules of type rate_limit, at most 100; 200 even when some are not there */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesWafBatchCreate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description the new rules */
                    readonly creates: readonly components["schemas"]["WafRuleCreate"][];
                };
            };
        };
        readonly responses: {
            /** @description Add rules of type waf, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchCreateResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesWafBatchUpdate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description partial updates, each with the id of its rule */
                    readonly updates: readonly ({
                        /** @description id of the rule to change */
                        readonly id: number;
                    } & components["schemas"]["WafRuleUpdate"])[];
                };
            };
        };
        readonly responses: {
            /** @description Change rules of type waf, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesWafBatchDelete: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of the rules to delete */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Delete rules of type waf, at most 100; 200 even when some are not there */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesRedirectBatchCreate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description the new rules */
                    readonly creates: readonly components["schemas"]["RedirectRuleCreate"][];
                };
            };
        };
        readonly responses: {
            /** @description Add rules of type redirect, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchCreateResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesRedirectBatchUpdate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description partial updates, each with the id of its rule */
                    readonly updates: readonly ({
                        /** @description id of the rule to change */
                        readonly id: number;
                    } & components["schemas"]["RedirectRuleUpdate"])[];
                };
            };
        };
        readonly responses: {
            /** @description Change rules of type redirect, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesRedirectBatchDelete: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of the rules to delete */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Delete rules of type redirect, at most 100; 200 even when some are not there */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesCaptchaBatchCreate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description the new rules */
                    readonly creates: readonly components["schemas"]["CaptchaRuleCreate"][];
                };
            };
        };
        readonly responses: {
            /** @description Add rules of type captcha, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchCreateResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesCaptchaBatchUpdate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description partial updates, each with the id of its rule */
                    readonly updates: readonly ({
                        /** @description id of the rule to change */
                        readonly id: number;
                    } & components["schemas"]["CaptchaRuleUpdate"])[];
                };
            };
        };
        readonly responses: {
            /** @description Change rules of type captcha, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesCaptchaBatchDelete: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of the rules to delete */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Delete rules of type captcha, at most 100; 200 even when some are not there */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesRewriteBatchCreate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description the new rules */
                    readonly creates: readonly components["schemas"]["RewriteRuleCreate"][];
                };
            };
        };
        readonly responses: {
            /** @description Add rules of type rewrite, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchCreateResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesRewriteBatchUpdate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description partial updates, each with the id of its rule */
                    readonly updates: readonly ({
                        /** @description id of the rule to change */
                        readonly id: number;
                    } & components["schemas"]["RewriteRuleUpdate"])[];
                };
            };
        };
        readonly responses: {
            /** @description Change rules of type rewrite, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesRewriteBatchDelete: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of the rules to delete */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Delete rules of type rewrite, at most 100; 200 even when some are not there */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesCacheBatchCreate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description the new rules */
                    readonly creates: readonly components["schemas"]["CacheRuleCreate"][];
                };
            };
        };
        readonly responses: {
            /** @description Add rules of type cache, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchCreateResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesCacheBatchUpdate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description partial updates, each with the id of its rule */
                    readonly updates: readonly ({
                        /** @description id of the rule to change */
                        readonly id: number;
                    } & components["schemas"]["CacheRuleUpdate"])[];
                };
            };
        };
        readonly responses: {
            /** @description Change rules of type cache, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesCacheBatchDelete: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of the rules to delete */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Delete rules of type cache, at most 100; 200 even when some are not there */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesOriginRouteBatchCreate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description the new rules */
                    readonly creates: readonly components["schemas"]["OriginRouteRuleCreate"][];
                };
            };
        };
        readonly responses: {
            /** @description Add rules of type origin_route, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchCreateResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesOriginRouteBatchUpdate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description partial updates, each with the id of its rule */
                    readonly updates: readonly ({
                        /** @description id of the rule to change */
                        readonly id: number;
                    } & components["schemas"]["OriginRouteRuleUpdate"])[];
                };
            };
        };
        readonly responses: {
            /** @description Change rules of type origin_route, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesOriginRouteBatchDelete: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of the rules to delete */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Delete rules of type origin_route, at most 100; 200 even when some are not there */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesOriginPoolBatchCreate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description the new rules */
                    readonly creates: readonly components["schemas"]["OriginPoolRuleCreate"][];
                };
            };
        };
        readonly responses: {
            /** @description Add rules of type origin_pool, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchCreateResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesOriginPoolBatchUpdate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description partial updates, each with the id of its rule */
                    readonly updates: readonly ({
                        /** @description id of the rule to change */
                        readonly id: number;
                    } & components["schemas"]["OriginPoolRuleUpdate"])[];
                };
            };
        };
        readonly responses: {
            /** @description Change rules of type origin_pool, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesOriginPoolBatchDelete: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of the rules to delete */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Delete rules of type origin_pool, at most 100; 200 even when some are not there */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesErrorPageBatchCreate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description the new rules */
                    readonly creates: readonly components["schemas"]["ErrorPageRuleCreate"][];
                };
            };
        };
        readonly responses: {
            /** @description Add rules of type error_page, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchCreateResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesErrorPageBatchUpdate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description partial updates, each with the id of its rule */
                    readonly updates: readonly ({
                        /** @description id of the rule to change */
                        readonly id: number;
                    } & components["schemas"]["ErrorPageRuleUpdate"])[];
                };
            };
        };
        readonly responses: {
            /** @description Change rules of type error_page, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesErrorPageBatchDelete: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of the rules to delete */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Delete rules of type error_page, at most 100; 200 even when some are not there */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesHeadersBatchCreate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description the new rules */
                    readonly creates: readonly components["schemas"]["HeadersRuleCreate"][];
                };
            };
        };
        readonly responses: {
            /** @description Add rules of type headers, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchCreateResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesHeadersBatchUpdate: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description partial updates, each with the id of its rule */
                    readonly updates: readonly ({
                        /** @description id of the rule to change */
                        readonly id: number;
                    } & components["schemas"]["HeadersRuleUpdate"])[];
                };
            };
        };
        readonly responses: {
            /** @description Change rules of type headers, at most 100; each by itself, and 200 even when some fail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainRulesHeadersBatchDelete: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description ids of the rules to delete */
                    readonly ids: readonly number[];
                };
            };
        };
        readonly responses: {
            /** @description Delete rules of type headers, at most 100; 200 even when some are not there */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BatchResult"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainLists: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Named lists of the domain, by name */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["List"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomainLists: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description rules name the list by `@` and this name */
                    readonly name: string;
                    /**
                     * @description what the entries are; it never changes
                     * @enum {string}
                     */
                    readonly kind: "ip" | "asn" | "country" | "host" | "path" | "user_agent" | "redirect";
                    /** @description of kind `redirect` objects with `from` and `to`; of two that match the same the last counts */
                    readonly entries?: readonly (string | number | {
                        readonly value: string;
                        /** @description a remark, such as the number of a ticket */
                        readonly comment?: string;
                    } | {
                        /** @description a path, exact */
                        readonly from: string;
                        /** @description an absolute URL or a path, as in `target` of a redirect rule */
                        readonly to: string;
                        /**
                         * @description absent: that of the rule
                         * @enum {number}
                         */
                        readonly status?: 301 | 302 | 307 | 308;
                        /** @description a remark, such as the number of a ticket */
                        readonly comment?: string;
                    })[];
                    readonly feed?: {
                        /**
                         * Format: uri
                         * @description http or https; where `auth_header` is sent, https
                         */
                        readonly url: string;
                        /**
                         * @description `text`: an entry a line, comments after `#` and `;`
                         * @enum {string}
                         */
                        readonly format: "text" | "csv" | "json";
                        /** @description of `csv` a column, by its name or its number from 1; of `json` the names that lead to the values, with dots between them and `*` for all, such as `prefixes.*.ip_prefix` */
                        readonly path?: string;
                        /** @description minutes between two fetches */
                        readonly every_min: number;
                        /** @description sent as `Authorization` to the origin of `url`; `true`: that of the feed before, of the same origin */
                        readonly auth_header?: string | boolean;
                    };
                };
            };
        };
        readonly responses: {
            /** @description Add a named list of the domain; rules name it by `@` and its name */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["List"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainListsByListName: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                /** @description the name of the list, without `@` */
                readonly listName: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One named list of the domain, with the rules that name it */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["UsedList"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly deleteDomainListsByListName: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                /** @description the name of the list, without `@` */
                readonly listName: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a named list of the domain that no rule names */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainListsByListNameEntries: {
        readonly parameters: {
            readonly query?: {
                /** @description entries, at most; without it 100 */
                readonly limit?: number;
                /** @description from `Link` of the page before */
                readonly cursor?: number;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                /** @description the name of the list, without `@` */
                readonly listName: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Entries of a named list of the domain in order, page by page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly ({
                        readonly value: string;
                        /** @description a remark, such as the number of a ticket */
                        readonly comment?: string;
                    } | {
                        /** @description a path */
                        readonly from: string;
                        /** @description the target */
                        readonly to: string;
                        /** @description absent: that of the rule */
                        readonly status?: number;
                        /** @description a remark, such as the number of a ticket */
                        readonly comment?: string;
                    })[];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly putDomainListsByListNameEntries: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                /** @description the name of the list, without `@` */
                readonly listName: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description of kind `redirect` objects with `from` and `to`; of two that match the same the last counts */
                    readonly entries: readonly (string | number | {
                        readonly value: string;
                        /** @description a remark, such as the number of a ticket */
                        readonly comment?: string;
                    } | {
                        /** @description a path, exact */
                        readonly from: string;
                        /** @description an absolute URL or a path, as in `target` of a redirect rule */
                        readonly to: string;
                        /**
                         * @description absent: that of the rule
                         * @enum {number}
                         */
                        readonly status?: 301 | 302 | 307 | 308;
                        /** @description a remark, such as the number of a ticket */
                        readonly comment?: string;
                    })[];
                };
            };
        };
        readonly responses: {
            /** @description Replace all entries of a named list of the domain; all or none */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["List"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainListsByListNameEntries: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                /** @description the name of the list, without `@` */
                readonly listName: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description of kind `redirect` objects with `from` and `to`; of two that match the same the last counts */
                    readonly entries: readonly (string | number | {
                        readonly value: string;
                        /** @description a remark, such as the number of a ticket */
                        readonly comment?: string;
                    } | {
                        /** @description a path, exact */
                        readonly from: string;
                        /** @description an absolute URL or a path, as in `target` of a redirect rule */
                        readonly to: string;
                        /**
                         * @description absent: that of the rule
                         * @enum {number}
                         */
                        readonly status?: 301 | 302 | 307 | 308;
                        /** @description a remark, such as the number of a ticket */
                        readonly comment?: string;
                    })[];
                };
            };
        };
        readonly responses: {
            /** @description Add entries, or replace those that match the same, of a named list of the domain; all or none */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["List"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly deleteDomainListsByListNameEntries: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                /** @description the name of the list, without `@` */
                readonly listName: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description the entries to remove, by what they match; comments do not count */
                    readonly entries: readonly ((string | number | {
                        readonly value: string;
                        /** @description a remark, such as the number of a ticket */
                        readonly comment?: string;
                    } | {
                        /** @description a path, exact */
                        readonly from: string;
                        /** @description an absolute URL or a path, as in `target` of a redirect rule */
                        readonly to: string;
                        /**
                         * @description absent: that of the rule
                         * @enum {number}
                         */
                        readonly status?: 301 | 302 | 307 | 308;
                        /** @description a remark, such as the number of a ticket */
                        readonly comment?: string;
                    }) | {
                        readonly from: string;
                    })[];
                };
            };
        };
        readonly responses: {
            /** @description Remove entries of a named list of the domain; all or none */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["List"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getLists: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Named lists of the account, by name */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["List"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postLists: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description rules name the list by `@` and this name */
                    readonly name: string;
                    /**
                     * @description what the entries are; it never changes
                     * @enum {string}
                     */
                    readonly kind: "ip" | "asn" | "country" | "host" | "path" | "user_agent" | "redirect";
                    /** @description of kind `redirect` objects with `from` and `to`; of two that match the same the last counts */
                    readonly entries?: readonly (string | number | {
                        readonly value: string;
                        /** @description a remark, such as the number of a ticket */
                        readonly comment?: string;
                    } | {
                        /** @description a path, exact */
                        readonly from: string;
                        /** @description an absolute URL or a path, as in `target` of a redirect rule */
                        readonly to: string;
                        /**
                         * @description absent: that of the rule
                         * @enum {number}
                         */
                        readonly status?: 301 | 302 | 307 | 308;
                        /** @description a remark, such as the number of a ticket */
                        readonly comment?: string;
                    })[];
                    readonly feed?: {
                        /**
                         * Format: uri
                         * @description http or https; where `auth_header` is sent, https
                         */
                        readonly url: string;
                        /**
                         * @description `text`: an entry a line, comments after `#` and `;`
                         * @enum {string}
                         */
                        readonly format: "text" | "csv" | "json";
                        /** @description of `csv` a column, by its name or its number from 1; of `json` the names that lead to the values, with dots between them and `*` for all, such as `prefixes.*.ip_prefix` */
                        readonly path?: string;
                        /** @description minutes between two fetches */
                        readonly every_min: number;
                        /** @description sent as `Authorization` to the origin of `url`; `true`: that of the feed before, of the same origin */
                        readonly auth_header?: string | boolean;
                    };
                };
            };
        };
        readonly responses: {
            /** @description Add a named list of the account; rules name it by `@` and its name */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["List"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getListsByListName: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the list, without `@` */
                readonly listName: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One named list of the account, with the rules that name it */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["UsedList"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly deleteListsByListName: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the list, without `@` */
                readonly listName: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a named list of the account that no rule names */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getListsByListNameEntries: {
        readonly parameters: {
            readonly query?: {
                /** @description entries, at most; without it 100 */
                readonly limit?: number;
                /** @description from `Link` of the page before */
                readonly cursor?: number;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the list, without `@` */
                readonly listName: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Entries of a named list of the account in order, page by page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly ({
                        readonly value: string;
                        /** @description a remark, such as the number of a ticket */
                        readonly comment?: string;
                    } | {
                        /** @description a path */
                        readonly from: string;
                        /** @description the target */
                        readonly to: string;
                        /** @description absent: that of the rule */
                        readonly status?: number;
                        /** @description a remark, such as the number of a ticket */
                        readonly comment?: string;
                    })[];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly putListsByListNameEntries: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the list, without `@` */
                readonly listName: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description of kind `redirect` objects with `from` and `to`; of two that match the same the last counts */
                    readonly entries: readonly (string | number | {
                        readonly value: string;
                        /** @description a remark, such as the number of a ticket */
                        readonly comment?: string;
                    } | {
                        /** @description a path, exact */
                        readonly from: string;
                        /** @description an absolute URL or a path, as in `target` of a redirect rule */
                        readonly to: string;
                        /**
                         * @description absent: that of the rule
                         * @enum {number}
                         */
                        readonly status?: 301 | 302 | 307 | 308;
                        /** @description a remark, such as the number of a ticket */
                        readonly comment?: string;
                    })[];
                };
            };
        };
        readonly responses: {
            /** @description Replace all entries of a named list of the account; all or none */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["List"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postListsByListNameEntries: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the list, without `@` */
                readonly listName: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description of kind `redirect` objects with `from` and `to`; of two that match the same the last counts */
                    readonly entries: readonly (string | number | {
                        readonly value: string;
                        /** @description a remark, such as the number of a ticket */
                        readonly comment?: string;
                    } | {
                        /** @description a path, exact */
                        readonly from: string;
                        /** @description an absolute URL or a path, as in `target` of a redirect rule */
                        readonly to: string;
                        /**
                         * @description absent: that of the rule
                         * @enum {number}
                         */
                        readonly status?: 301 | 302 | 307 | 308;
                        /** @description a remark, such as the number of a ticket */
                        readonly comment?: string;
                    })[];
                };
            };
        };
        readonly responses: {
            /** @description Add entries, or replace those that match the same, of a named list of the account; all or none */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["List"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly deleteListsByListNameEntries: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the list, without `@` */
                readonly listName: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description the entries to remove, by what they match; comments do not count */
                    readonly entries: readonly ((string | number | {
                        readonly value: string;
                        /** @description a remark, such as the number of a ticket */
                        readonly comment?: string;
                    } | {
                        /** @description a path, exact */
                        readonly from: string;
                        /** @description an absolute URL or a path, as in `target` of a redirect rule */
                        readonly to: string;
                        /**
                         * @description absent: that of the rule
                         * @enum {number}
                         */
                        readonly status?: 301 | 302 | 307 | 308;
                        /** @description a remark, such as the number of a ticket */
                        readonly comment?: string;
                    }) | {
                        readonly from: string;
                    })[];
                };
            };
        };
        readonly responses: {
            /** @description Remove entries of a named list of the account; all or none */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["List"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly putDomainListsByListNameFeed: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                /** @description the name of the list, without `@` */
                readonly listName: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "url": "https://lists.example.net/scanners.txt",
                 *       "format": "text",
                 *       "every_min": 60
                 *     }
                 */
                readonly "application/json": {
                    /**
                     * Format: uri
                     * @description http or https; where `auth_header` is sent, https
                     */
                    readonly url: string;
                    /**
                     * @description `text`: an entry a line, comments after `#` and `;`
                     * @enum {string}
                     */
                    readonly format: "text" | "csv" | "json";
                    /** @description of `csv` a column, by its name or its number from 1; of `json` the names that lead to the values, with dots between them and `*` for all, such as `prefixes.*.ip_prefix` */
                    readonly path?: string;
                    /** @description minutes between two fetches */
                    readonly every_min: number;
                    /** @description sent as `Authorization` to the origin of `url`; `true`: that of the feed before, of the same origin */
                    readonly auth_header?: string | boolean;
                };
            };
        };
        readonly responses: {
            /** @description Set the feed of a named list of the domain, which its entries are read from; it is fetched within seconds */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["List"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly deleteDomainListsByListNameFeed: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                /** @description the name of the list, without `@` */
                readonly listName: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Remove the feed of a named list of the domain; the entries stay */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["List"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainListsByListNameFeedRefresh: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
                /** @description `true`: the next content may have fewer than half of the entries */
                readonly accept_shrink?: "true" | "false";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                /** @description the name of the list, without `@` */
                readonly listName: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Fetch the feed of a named list of the domain within seconds */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["List"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly putListsByListNameFeed: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the list, without `@` */
                readonly listName: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "url": "https://lists.example.net/scanners.txt",
                 *       "format": "text",
                 *       "every_min": 60
                 *     }
                 */
                readonly "application/json": {
                    /**
                     * Format: uri
                     * @description http or https; where `auth_header` is sent, https
                     */
                    readonly url: string;
                    /**
                     * @description `text`: an entry a line, comments after `#` and `;`
                     * @enum {string}
                     */
                    readonly format: "text" | "csv" | "json";
                    /** @description of `csv` a column, by its name or its number from 1; of `json` the names that lead to the values, with dots between them and `*` for all, such as `prefixes.*.ip_prefix` */
                    readonly path?: string;
                    /** @description minutes between two fetches */
                    readonly every_min: number;
                    /** @description sent as `Authorization` to the origin of `url`; `true`: that of the feed before, of the same origin */
                    readonly auth_header?: string | boolean;
                };
            };
        };
        readonly responses: {
            /** @description Set the feed of a named list of the account, which its entries are read from; it is fetched within seconds */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["List"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly deleteListsByListNameFeed: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the list, without `@` */
                readonly listName: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Remove the feed of a named list of the account; the entries stay */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["List"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postListsByListNameFeedRefresh: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
                /** @description `true`: the next content may have fewer than half of the entries */
                readonly accept_shrink?: "true" | "false";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the list, without `@` */
                readonly listName: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Fetch the feed of a named list of the account within seconds */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["List"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainSsl: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List the certificates of a domain */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Certificates"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomainSsl: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description PEM: the certificate first, then each issuer */
                    readonly certificate: string;
                    /** @description PEM: the private key of the certificate, without a passphrase; stored encrypted and never answered */
                    readonly key: string;
                };
            };
        };
        readonly responses: {
            /** @description Upload a certificate with its private key */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Certificate"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainSslParse: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description PEM: the certificate first, then each issuer */
                    readonly certificate: string;
                    /**
                     * @description PEM: the private key of the certificate, without a passphrase; stored encrypted and never answered
                     * @default null
                     */
                    readonly key?: string | null;
                };
            };
        };
        readonly responses: {
            /** @description Say what a certificate is and what is wrong with it, without storing it */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ParsedCertificate"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomainSslIssue: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /**
                     * @description names of the domain; wildcards where this service answers for its zone; absent: all uncovered ones
                     * @default null
                     */
                    readonly names?: readonly string[] | null;
                };
            };
        };
        readonly responses: {
            /** @description Obtain a certificate for names of a domain */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Certificate"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly deleteDomainSslByCertificateId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly certificateId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a certificate */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainMembers: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The owner and the members of a domain */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["Member"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomainMembers: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "name": "ann",
                 *       "role": "editor"
                 *     }
                 */
                readonly "application/json": {
                    readonly name: string;
                    /** @enum {string} */
                    readonly role: "viewer" | "editor" | "admin";
                };
            };
        };
        readonly responses: {
            /** @description Invite an account to the domain; it becomes a member when it accepts, within 14 days */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Invitation"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainMembersByUserId: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly userId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One member of a domain */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Member"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly putDomainMembersByUserId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly userId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "role": "viewer"
                 *     }
                 */
                readonly "application/json": {
                    /** @enum {string} */
                    readonly role: "viewer" | "editor" | "admin";
                };
            };
        };
        readonly responses: {
            /** @description Change a member's role */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Member"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly deleteDomainMembersByUserId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly userId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Take a member off a domain; anybody may take themselves off */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainInvitations: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Pending invitations to the domain */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["Invitation"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly deleteDomainInvitationsByInvitationId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly invitationId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Withdraw a pending invitation */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getInvitations: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Pending invitations of the account */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["ReceivedInvitation"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postInvitationsByInvitationIdAccept: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                readonly invitationId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Accept an invitation: the account becomes a member of the domain */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Member"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postInvitationsByInvitationIdDecline: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                readonly invitationId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Decline an invitation */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainAudit: {
        readonly parameters: {
            readonly query?: {
                /** @description only entries with a lower id */
                readonly before?: number;
                /** @description entries, at most; without it 100 */
                readonly limit?: number;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The audit log of a domain, newest first; `before` an entry id goes on from there */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["AuditEntry"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainTraffic: {
        readonly parameters: {
            readonly query?: {
                readonly minutes?: number;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Traffic of the last minutes, and which rules matched how often; nodes report once a minute */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly minutes: number;
                        readonly requests: number;
                        readonly octets: number;
                        readonly rules: readonly {
                            /** @enum {string} */
                            readonly type: "drop" | "fingerprint" | "bot_route" | "rate_limit" | "waf" | "redirect" | "captcha" | "rewrite" | "cache" | "origin_route" | "origin_pool" | "error_page" | "headers";
                            readonly id: number;
                            readonly hits: number;
                        }[];
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainAnalytics: {
        readonly parameters: {
            readonly query?: {
                /** @description start, inclusive, moved to where its step begins; without it 24 hours before `to` */
                readonly from?: string;
                /** @description end, exclusive, moved to where the next step begins; without it now */
                readonly to?: string;
                /**
                 * @description the unit of the counts; without it the shortest that suits the period
                 * @example hour
                 */
                readonly step?: "minute" | "hour" | "day";
                /**
                 * @description divides requests by action, status, cache result, country or bot
                 * @example action
                 */
                readonly by?: "action" | "status" | "cache" | "country" | "bot";
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Traffic of a period: totals, a point for each step, and requests divided by one dimension */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Traffic"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainAnalyticsTop: {
        readonly parameters: {
            readonly query: {
                /**
                 * @description what the list is of
                 * @example path
                 */
                readonly of: "path" | "address" | "country" | "user_agent" | "ja4" | "referrer";
                /** @description start, inclusive, moved to where its step begins; without it 24 hours before `to` */
                readonly from?: string;
                /** @description end, exclusive, moved to where the next step begins; without it now */
                readonly to?: string;
                /** @description values, at most; without it 10 */
                readonly limit?: number;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The most frequent paths, addresses, countries, User-Agents, JA4 fingerprints or referrers */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TopList"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getNotifications: {
        readonly parameters: {
            readonly query?: {
                /** @description `true`: only those that are unread */
                readonly unread?: "true" | "false";
                /** @description where to go on */
                readonly cursor?: number;
                /** @description notifications, at most; without it 50 */
                readonly limit?: number;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Notifications of the account, newest first; `cursor` is the `next_cursor` of the page before */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly notifications: readonly components["schemas"]["Notification"][];
                        /** @description the `cursor` of the next page; `null`: this is the last one */
                        readonly next_cursor: number | null;
                        /** @description unread notifications of the account, on all pages */
                        readonly unread: number;
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postNotificationsRead: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description the notifications; instead of `all` */
                    readonly ids?: readonly number[];
                    /**
                     * @description every notification of the account; instead of `ids`
                     * @enum {boolean}
                     */
                    readonly all?: true;
                };
            };
        };
        readonly responses: {
            /** @description Mark several notifications as read, or all of them */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postNotificationsTest: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Send a test to every contact of the account; at most 30 e-mails and 10 SMS an hour */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Notification"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly patchNotificationsByNotificationIdRead: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly notificationId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Mark a notification as read */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Notification"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getNotificationsContact: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The e-mail address and the phone number that notifications are sent to */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["NotificationContact"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly putNotificationsContact: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description a new address, which gets a code; `null` removes it */
                    readonly email?: string | null;
                    /** @description a new number, which gets a code; `null` removes it */
                    readonly phone?: string | null;
                };
            };
        };
        readonly responses: {
            /** @description Set an address; it gets a code, valid for 30 minutes, and is in use once the code was sent back */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["NotificationContact"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postNotificationsContactConfirm: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /**
                     * @description the address that got the code
                     * @enum {string}
                     */
                    readonly field: "email" | "phone";
                    /** @description the code */
                    readonly code: string;
                };
            };
        };
        readonly responses: {
            /** @description Confirm an address by its code; void after 5 wrong ones */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["NotificationContact"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getNotificationsPreferences: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Which notifications go out on which channel; the feed has all of them */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly preferences: readonly components["schemas"]["NotificationPreference"][];
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly putNotificationsPreferences: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description the kinds to change; others stay */
                    readonly preferences: readonly {
                        /**
                         * @description the kind of notification
                         * @enum {string}
                         */
                        readonly kind: "domain.activated" | "domain.moved" | "domain.disabled" | "domain.banned" | "domain.suspended" | "domain.resumed" | "domain.shared" | "outage.opened" | "outage.resolved" | "certificate.issued" | "certificate.expiring" | "certificate.expired" | "certificate.failed" | "publication.failed" | "node.lost" | "list.refused" | "quota.near" | "quota.reached" | "key.created" | "key.revoked" | "account.test" | "ticket.opened" | "ticket.answered" | "ticket.closed";
                        /** @description send it by e-mail */
                        readonly email?: boolean | null;
                        /** @description send it by SMS */
                        readonly sms?: boolean | null;
                        /** @description send it to webhooks */
                        readonly webhook?: boolean | null;
                        /** @description ignored */
                        readonly meaning?: string;
                        /** @description ignored */
                        readonly severity?: string;
                    }[];
                };
            };
        };
        readonly responses: {
            /** @description Choose which notifications go out on which channel */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly preferences: readonly components["schemas"]["NotificationPreference"][];
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getWebhooks: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Webhooks of the account */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["Webhook"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postWebhooks: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description http or https; redirects are not followed */
                    readonly url: string;
                };
            };
        };
        readonly responses: {
            /** @description Add a webhook, at most 5; requests are signed by the Standard Webhooks scheme */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["NewWebhook"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly deleteWebhooksByWebhookId: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly webhookId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Remove a webhook */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Message"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getWallet: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The wallet of the account, and the domains that are suspended because of it */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Wallet"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getInvoices: {
        readonly parameters: {
            readonly query?: {
                /** @description only invoices with this status */
                readonly status?: "open" | "paid" | "void";
                /** @description invoices, at most; without it 100 */
                readonly limit?: number;
                /** @description where the page before left off */
                readonly cursor?: string;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Invoices of the account, newest first */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["Invoice"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getInvoicesByInvoiceId: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly invoiceId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One invoice of the account */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Invoice"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getSubscriptions: {
        readonly parameters: {
            readonly query?: {
                /** @description domains, at most; without it 50 */
                readonly limit?: number;
                /** @description only domains with a higher id */
                readonly after?: number;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description What the domains that the account owns have bought, with their traffic against the quota */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["Subscription"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainSubscriptions: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description What the domain has bought, with its traffic against the quota */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["Subscription"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getTickets: {
        readonly parameters: {
            readonly query?: {
                /** @description only tickets with this status */
                readonly status?: "open" | "answered" | "closed";
                /** @description tickets, at most; without it 100 */
                readonly limit?: number;
                /** @description only tickets with a lower id */
                readonly before?: number;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Support tickets of the account, newest first */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["Ticket"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postTickets: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description what it is about, one line */
                    readonly subject: string;
                    /** @description the text of the message */
                    readonly message: string;
                    /**
                     * @description a domain that the account sees; `null`: the ticket is about none
                     * @default null
                     */
                    readonly domain?: string | null;
                };
            };
        };
        readonly responses: {
            /** @description Open a support ticket */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TicketWithMessages"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getTicketsByTicketId: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly ticketId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One support ticket with its messages */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TicketWithMessages"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postTicketsByTicketIdMessages: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                readonly ticketId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description the text of the message */
                    readonly message: string;
                };
            };
        };
        readonly responses: {
            /** @description Write to a support ticket; a closed one is opened again */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TicketWithMessages"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postTicketsByTicketIdClose: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                readonly ticketId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Close a support ticket */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Ticket"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainPublishing: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description How changes of rules are published: each at once, or together as a draft */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Publishing"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly putDomainPublishing: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /**
                     * @description `automatic`: every change of rules is published; `manual`: changes wait in the draft
                     * @enum {string}
                     */
                    readonly publish_mode: "automatic" | "manual";
                };
            };
        };
        readonly responses: {
            /** @description Publish changes of rules each at once, or collect them in a draft; 409 while a draft has changes */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Publishing"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainDraft: {
        readonly parameters: {
            readonly query?: {
                /** @description changes, at most; without it 100 */
                readonly limit?: number;
                /** @description from `Link` of the page before */
                readonly cursor?: number;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Show the draft of a domain: the rules that it changes, with time and author; `Link` leads to the next page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Draft"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly deleteDomainDraft: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Throw a draft away: the rules are again those that are published */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly message: string;
                        readonly changed: number;
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainDraftDiff: {
        readonly parameters: {
            readonly query?: {
                /** @description `false`: compare fields alone */
                readonly proof?: "true" | "false";
                readonly limit?: number;
                /** @description `page.next` of the page before */
                readonly cursor?: string;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description What a draft would change: rules field by field, and proved outcomes, each with a request that shows it; page by page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly same: boolean;
                        readonly domain: readonly {
                            readonly field: string;
                            readonly was?: unknown;
                            readonly now?: unknown;
                        }[];
                        readonly hosts: readonly {
                            /** @enum {string} */
                            readonly change: "added" | "removed" | "changed";
                            readonly host: string;
                            readonly fields: readonly {
                                readonly field: string;
                                readonly was?: unknown;
                                readonly now?: unknown;
                            }[];
                        }[];
                        readonly rules: readonly {
                            /** @enum {string} */
                            readonly change: "added" | "removed" | "changed" | "moved";
                            readonly rule: string;
                            readonly before?: string;
                            readonly fields: readonly {
                                readonly field: string;
                                readonly was?: unknown;
                                readonly now?: unknown;
                            }[];
                        }[];
                        readonly lists?: readonly {
                            readonly name: string;
                            readonly before: string | null;
                            readonly after: string | null;
                        }[];
                        readonly proof?: {
                            /** @description proved: hosts and rules decide every request alike */
                            readonly equivalent: boolean;
                            /** @description false: some pairs of rules are proved neither way, so there may be more outcomes */
                            readonly complete: boolean;
                            /** @description changed outcomes of all pages */
                            readonly outcomes: number;
                            readonly open: readonly {
                                readonly component: string;
                                readonly before: string | null;
                                readonly after: string | null;
                            }[];
                        } | null;
                        readonly outcomes?: readonly {
                            readonly component: string;
                            /**
                             * @description `other_rule`: the outcome is the same, by another rule. `order`: both rules act, and now the one of `after` is the first
                             * @enum {string}
                             */
                            readonly kind: "outcome" | "other_rule" | "order";
                            readonly before: {
                                readonly rule: string | null;
                                readonly action: string;
                                readonly status: number | null;
                                readonly location: string | null;
                            };
                            readonly after: {
                                readonly rule: string | null;
                                readonly action: string;
                                readonly status: number | null;
                                readonly location: string | null;
                            };
                            /** @description a request that gets the one before and the other after */
                            readonly request: {
                                readonly [key: string]: unknown;
                            };
                            /** @description the outcome before, for people */
                            readonly was: string;
                            /** @description the outcome after, for people */
                            readonly now: string;
                            /** @description the request as arguments of `edgeplan simulate` */
                            readonly command: string;
                        }[];
                        readonly counts: {
                            readonly hosts: number;
                            readonly added: number;
                            readonly removed: number;
                            readonly changed: number;
                            readonly moved: number;
                        };
                        readonly page: {
                            readonly limit: number;
                            readonly shown: number;
                            readonly of: number;
                            readonly next: string | null;
                        };
                        readonly shortened: readonly {
                            readonly path: string;
                            readonly of: number;
                        }[];
                        /** @description the number of the draft that was compared */
                        readonly edit: number;
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomainDraftPublish: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Publish a draft; with `If-Match`, only the one that was read */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly message: string;
                        readonly changed: number;
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainInvariants: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description What must be proved of the rules before a draft is published */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly invariants: readonly {
                            /** @description what holds */
                            readonly name: string;
                            /** @description the requests that are meant; absent: all that the domain serves */
                            readonly when?: {
                                readonly host?: (string | readonly string[]) | {
                                    readonly in?: string | readonly string[];
                                    readonly not?: string | readonly string[];
                                };
                                readonly path?: (string | readonly string[]) | {
                                    readonly in?: string | readonly string[];
                                    readonly not?: string | readonly string[];
                                };
                                readonly ip?: (string | readonly string[]) | {
                                    readonly in?: string | readonly string[];
                                    readonly not?: string | readonly string[];
                                };
                                readonly country?: (string | readonly string[]) | {
                                    readonly in?: string | readonly string[];
                                    readonly not?: string | readonly string[];
                                };
                                readonly bot?: (string | readonly string[]) | {
                                    readonly in?: string | readonly string[];
                                    readonly not?: string | readonly string[];
                                };
                                readonly method?: (string | readonly string[]) | {
                                    readonly in?: string | readonly string[];
                                    readonly not?: string | readonly string[];
                                };
                                readonly scheme?: (string | readonly string[]) | {
                                    readonly in?: string | readonly string[];
                                    readonly not?: string | readonly string[];
                                };
                                readonly asn?: (number | readonly number[]) | {
                                    readonly in?: number | readonly number[];
                                    readonly not?: number | readonly number[];
                                };
                                readonly user_agent?: (string | readonly string[]) | {
                                    readonly in?: string | readonly string[];
                                    readonly not?: string | readonly string[];
                                };
                                readonly header?: readonly {
                                    readonly name: string;
                                    /** @enum {string} */
                                    readonly op: "present" | "absent" | "equals" | "prefix" | "suffix" | "contains" | "wildcard" | "regex" | "not_equals" | "not_prefix" | "not_suffix" | "not_contains" | "not_wildcard" | "not_regex";
                                    readonly values?: readonly string[];
                                    readonly ignore_case?: boolean;
                                }[];
                                readonly query?: readonly {
                                    readonly name: string;
                                    /** @enum {string} */
                                    readonly op: "present" | "absent" | "equals" | "prefix" | "suffix" | "contains" | "wildcard" | "regex" | "not_equals" | "not_prefix" | "not_suffix" | "not_contains" | "not_wildcard" | "not_regex";
                                    readonly values?: readonly string[];
                                    readonly ignore_case?: boolean;
                                }[];
                                readonly cookie?: readonly {
                                    readonly name: string;
                                    /** @enum {string} */
                                    readonly op: "present" | "absent" | "equals" | "prefix" | "suffix" | "contains" | "wildcard" | "regex" | "not_equals" | "not_prefix" | "not_suffix" | "not_contains" | "not_wildcard" | "not_regex";
                                    readonly values?: readonly string[];
                                    readonly ignore_case?: boolean;
                                }[];
                            };
                            /** @description what none of them may get */
                            readonly never?: ("forward" | "block" | "challenge" | "redirect" | "respond" | "refuse") | readonly ("forward" | "block" | "challenge" | "redirect" | "respond" | "refuse")[];
                            /** @description what all of them get; instead of `never` */
                            readonly always?: ("forward" | "block" | "challenge" | "redirect" | "respond" | "refuse") | readonly ("forward" | "block" | "challenge" | "redirect" | "respond" | "refuse")[];
                        }[];
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly putDomainInvariants: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: {
                /** @description the `ETag` a GET answered; 412 when it has changed since */
                readonly "If-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly invariants: readonly {
                        /** @description what holds */
                        readonly name: string;
                        /** @description the requests that are meant; absent: all that the domain serves */
                        readonly when?: {
                            readonly host?: (string | readonly string[]) | {
                                readonly in?: string | readonly string[];
                                readonly not?: string | readonly string[];
                            };
                            readonly path?: (string | readonly string[]) | {
                                readonly in?: string | readonly string[];
                                readonly not?: string | readonly string[];
                            };
                            readonly ip?: (string | readonly string[]) | {
                                readonly in?: string | readonly string[];
                                readonly not?: string | readonly string[];
                            };
                            readonly country?: (string | readonly string[]) | {
                                readonly in?: string | readonly string[];
                                readonly not?: string | readonly string[];
                            };
                            readonly bot?: (string | readonly string[]) | {
                                readonly in?: string | readonly string[];
                                readonly not?: string | readonly string[];
                            };
                            readonly method?: (string | readonly string[]) | {
                                readonly in?: string | readonly string[];
                                readonly not?: string | readonly string[];
                            };
                            readonly scheme?: (string | readonly string[]) | {
                                readonly in?: string | readonly string[];
                                readonly not?: string | readonly string[];
                            };
                            readonly asn?: (number | readonly number[]) | {
                                readonly in?: number | readonly number[];
                                readonly not?: number | readonly number[];
                            };
                            readonly user_agent?: (string | readonly string[]) | {
                                readonly in?: string | readonly string[];
                                readonly not?: string | readonly string[];
                            };
                            readonly header?: readonly {
                                readonly name: string;
                                /** @enum {string} */
                                readonly op: "present" | "absent" | "equals" | "prefix" | "suffix" | "contains" | "wildcard" | "regex" | "not_equals" | "not_prefix" | "not_suffix" | "not_contains" | "not_wildcard" | "not_regex";
                                readonly values?: readonly string[];
                                readonly ignore_case?: boolean;
                            }[];
                            readonly query?: readonly {
                                readonly name: string;
                                /** @enum {string} */
                                readonly op: "present" | "absent" | "equals" | "prefix" | "suffix" | "contains" | "wildcard" | "regex" | "not_equals" | "not_prefix" | "not_suffix" | "not_contains" | "not_wildcard" | "not_regex";
                                readonly values?: readonly string[];
                                readonly ignore_case?: boolean;
                            }[];
                            readonly cookie?: readonly {
                                readonly name: string;
                                /** @enum {string} */
                                readonly op: "present" | "absent" | "equals" | "prefix" | "suffix" | "contains" | "wildcard" | "regex" | "not_equals" | "not_prefix" | "not_suffix" | "not_contains" | "not_wildcard" | "not_regex";
                                readonly values?: readonly string[];
                                readonly ignore_case?: boolean;
                            }[];
                        };
                        /** @description what none of them may get */
                        readonly never?: ("forward" | "block" | "challenge" | "redirect" | "respond" | "refuse") | readonly ("forward" | "block" | "challenge" | "redirect" | "respond" | "refuse")[];
                        /** @description what all of them get; instead of `never` */
                        readonly always?: ("forward" | "block" | "challenge" | "redirect" | "respond" | "refuse") | readonly ("forward" | "block" | "challenge" | "redirect" | "respond" | "refuse")[];
                    }[];
                };
            };
        };
        readonly responses: {
            /** @description Require invariants of every draft before it is published; replaces the list */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly invariants: readonly {
                            /** @description what holds */
                            readonly name: string;
                            /** @description the requests that are meant; absent: all that the domain serves */
                            readonly when?: {
                                readonly host?: (string | readonly string[]) | {
                                    readonly in?: string | readonly string[];
                                    readonly not?: string | readonly string[];
                                };
                                readonly path?: (string | readonly string[]) | {
                                    readonly in?: string | readonly string[];
                                    readonly not?: string | readonly string[];
                                };
                                readonly ip?: (string | readonly string[]) | {
                                    readonly in?: string | readonly string[];
                                    readonly not?: string | readonly string[];
                                };
                                readonly country?: (string | readonly string[]) | {
                                    readonly in?: string | readonly string[];
                                    readonly not?: string | readonly string[];
                                };
                                readonly bot?: (string | readonly string[]) | {
                                    readonly in?: string | readonly string[];
                                    readonly not?: string | readonly string[];
                                };
                                readonly method?: (string | readonly string[]) | {
                                    readonly in?: string | readonly string[];
                                    readonly not?: string | readonly string[];
                                };
                                readonly scheme?: (string | readonly string[]) | {
                                    readonly in?: string | readonly string[];
                                    readonly not?: string | readonly string[];
                                };
                                readonly asn?: (number | readonly number[]) | {
                                    readonly in?: number | readonly number[];
                                    readonly not?: number | readonly number[];
                                };
                                readonly user_agent?: (string | readonly string[]) | {
                                    readonly in?: string | readonly string[];
                                    readonly not?: string | readonly string[];
                                };
                                readonly header?: readonly {
                                    readonly name: string;
                                    /** @enum {string} */
                                    readonly op: "present" | "absent" | "equals" | "prefix" | "suffix" | "contains" | "wildcard" | "regex" | "not_equals" | "not_prefix" | "not_suffix" | "not_contains" | "not_wildcard" | "not_regex";
                                    readonly values?: readonly string[];
                                    readonly ignore_case?: boolean;
                                }[];
                                readonly query?: readonly {
                                    readonly name: string;
                                    /** @enum {string} */
                                    readonly op: "present" | "absent" | "equals" | "prefix" | "suffix" | "contains" | "wildcard" | "regex" | "not_equals" | "not_prefix" | "not_suffix" | "not_contains" | "not_wildcard" | "not_regex";
                                    readonly values?: readonly string[];
                                    readonly ignore_case?: boolean;
                                }[];
                                readonly cookie?: readonly {
                                    readonly name: string;
                                    /** @enum {string} */
                                    readonly op: "present" | "absent" | "equals" | "prefix" | "suffix" | "contains" | "wildcard" | "regex" | "not_equals" | "not_prefix" | "not_suffix" | "not_contains" | "not_wildcard" | "not_regex";
                                    readonly values?: readonly string[];
                                    readonly ignore_case?: boolean;
                                }[];
                            };
                            /** @description what none of them may get */
                            readonly never?: ("forward" | "block" | "challenge" | "redirect" | "respond" | "refuse") | readonly ("forward" | "block" | "challenge" | "redirect" | "respond" | "refuse")[];
                            /** @description what all of them get; instead of `never` */
                            readonly always?: ("forward" | "block" | "challenge" | "redirect" | "respond" | "refuse") | readonly ("forward" | "block" | "challenge" | "redirect" | "respond" | "refuse")[];
                        }[];
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainInvariantsProof: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Prove the invariants of the stored rules, which are those of the draft */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @description every invariant is proved */
                        readonly holds: boolean;
                        readonly invariants: readonly {
                            readonly name: string;
                            readonly claim: string;
                            /**
                             * @description `empty`: no request is meant; `unknown`: the budget of steps ended
                             * @enum {string}
                             */
                            readonly result: "proved" | "broken" | "empty" | "unknown";
                            /** @description what `request` gets, where the invariant is broken */
                            readonly outcome: string | null;
                            readonly request: {
                                readonly [key: string]: unknown;
                            } | null;
                            /** @description the request as arguments of `edgeplan simulate` */
                            readonly command: string | null;
                            /** @description what was not decided */
                            readonly open: string | null;
                        }[];
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainPlans: {
        readonly parameters: {
            readonly query?: {
                readonly before?: number;
                readonly limit?: number;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List what was published, newest first */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly {
                        readonly revision: number;
                        readonly digest: string | null;
                        readonly pruned: boolean;
                        readonly reason: string;
                        readonly account_id: number | null;
                        readonly account: string | null;
                        readonly key_id: number | null;
                        /** Format: date-time */
                        readonly created_at: string;
                    }[];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomainPlans: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Publish the domain again as it is stored */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly message: string;
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly getDomainPlansByRevision: {
        readonly parameters: {
            readonly query?: {
                readonly limit?: number;
                readonly cursor?: number;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly revision: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Read one revision: its printed plan, page by page, and how far it has come */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly revision: number;
                        readonly digest: string | null;
                        readonly pruned: boolean;
                        readonly reason: string;
                        readonly account_id: number | null;
                        readonly account: string | null;
                        readonly key_id: number | null;
                        /** Format: date-time */
                        readonly created_at: string;
                        readonly current: boolean;
                        readonly propagation: {
                            readonly live: number;
                            readonly nodes: number;
                            readonly refused: number;
                            readonly ms: number | null;
                            readonly summary: string;
                            readonly answers: readonly {
                                readonly node: string;
                                /** @enum {string} */
                                readonly outcome: "ack" | "nack";
                                readonly reason: string;
                                readonly ms: number;
                            }[];
                        };
                        readonly plan: {
                            readonly [key: string]: unknown;
                        } | null;
                        readonly page: {
                            readonly limit: number;
                            readonly shown: number;
                            readonly of: number;
                            readonly next: number | null;
                        } | null;
                        readonly shortened: readonly {
                            readonly path: string;
                            readonly of: number;
                        }[];
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainPlansByRevisionDiffByOther: {
        readonly parameters: {
            readonly query?: {
                readonly cursor?: number;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly revision: number;
                readonly other: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Compare two revisions, as a unified diff of their printed plans; `Link` leads to the next page of whole lines */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/plain; charset=utf-8": string;
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainPlansByRevisionBytes: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly revision: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Fetch the sealed plan of a revision, as nodes evaluate it; `edgeplan-digest` is its SHA-256, `edgeplan-signatures` that of the signatures of its `waf` rules */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/octet-stream": string;
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainPlansByRevisionSignatures: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly revision: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Fetch the sealed signatures that `waf` rules of a revision inspect with; `edgeplan-digest` is their SHA-256 */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/octet-stream": string;
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainPlansByRevisionListsByDigest: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly revision: number;
                /** @description the SHA-256 of the sealed plan, 64 lower-case hex digits */
                readonly digest: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Fetch a sealed list that the plan of a revision names by digest, as nodes evaluate it; `edgeplan-digest` is its SHA-256 */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/octet-stream": string;
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly postDomainPlansByRevisionRollback: {
        readonly parameters: {
            readonly query?: {
                /** @description run every check and change nothing */
                readonly validate_only?: "true" | "false";
                /** @description answer once a revision that covers the change is out */
                readonly wait?: "published";
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                readonly revision: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Publish the content of an old revision as a new, higher one */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly revision: number;
                        readonly digest: string | null;
                        readonly pruned: boolean;
                        readonly reason: string;
                        readonly account_id: number | null;
                        readonly account: string | null;
                        readonly key_id: number | null;
                        /** Format: date-time */
                        readonly created_at: string;
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
            readonly 504: components["responses"]["NotPublishedInTime"];
        };
    };
    readonly postDomainSimulate: {
        readonly parameters: {
            readonly query?: {
                readonly limit?: number;
                /** @description `page.next` of the page before */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly request: {
                        readonly [key: string]: unknown;
                    };
                    readonly status?: number;
                };
            };
        };
        readonly responses: {
            /** @description Ask what a request would meet: the rules that had their say, then the skipped ones, page by page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TracePage"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 413: components["responses"]["ContentTooLarge"];
            readonly 415: components["responses"]["UnsupportedMediaType"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainDiff: {
        readonly parameters: {
            readonly query?: {
                readonly from?: number;
                readonly to?: number;
                readonly limit?: number;
                /** @description also prove which outcomes differ, each with a request that shows it; off without it */
                readonly proof?: "true" | "false";
                /** @description `page.next` of the page before; it has `from` and `to` in it */
                readonly cursor?: string;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Compare two revisions by their rules: added, removed, changed field by field, or only moved; page by page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly same: boolean;
                        readonly domain: readonly {
                            readonly field: string;
                            readonly was?: unknown;
                            readonly now?: unknown;
                        }[];
                        readonly hosts: readonly {
                            /** @enum {string} */
                            readonly change: "added" | "removed" | "changed";
                            readonly host: string;
                            readonly fields: readonly {
                                readonly field: string;
                                readonly was?: unknown;
                                readonly now?: unknown;
                            }[];
                        }[];
                        readonly rules: readonly {
                            /** @enum {string} */
                            readonly change: "added" | "removed" | "changed" | "moved";
                            readonly rule: string;
                            readonly before?: string;
                            readonly fields: readonly {
                                readonly field: string;
                                readonly was?: unknown;
                                readonly now?: unknown;
                            }[];
                        }[];
                        readonly lists?: readonly {
                            readonly name: string;
                            readonly before: string | null;
                            readonly after: string | null;
                        }[];
                        readonly proof?: {
                            /** @description proved: hosts and rules decide every request alike */
                            readonly equivalent: boolean;
                            /** @description false: some pairs of rules are proved neither way, so there may be more outcomes */
                            readonly complete: boolean;
                            /** @description changed outcomes of all pages */
                            readonly outcomes: number;
                            readonly open: readonly {
                                readonly component: string;
                                readonly before: string | null;
                                readonly after: string | null;
                            }[];
                        } | null;
                        readonly outcomes?: readonly {
                            readonly component: string;
                            /**
                             * @description `other_rule`: the outcome is the same, by another rule. `order`: both rules act, and now the one of `after` is the first
                             * @enum {string}
                             */
                            readonly kind: "outcome" | "other_rule" | "order";
                            readonly before: {
                                readonly rule: string | null;
                                readonly action: string;
                                readonly status: number | null;
                                readonly location: string | null;
                            };
                            readonly after: {
                                readonly rule: string | null;
                                readonly action: string;
                                readonly status: number | null;
                                readonly location: string | null;
                            };
                            /** @description a request that gets the one before and the other after */
                            readonly request: {
                                readonly [key: string]: unknown;
                            };
                            /** @description the outcome before, for people */
                            readonly was: string;
                            /** @description the outcome after, for people */
                            readonly now: string;
                            /** @description the request as arguments of `edgeplan simulate` */
                            readonly command: string;
                        }[];
                        readonly counts: {
                            readonly hosts: number;
                            readonly added: number;
                            readonly removed: number;
                            readonly changed: number;
                            readonly moved: number;
                        };
                        readonly page: {
                            readonly limit: number;
                            readonly shown: number;
                            readonly of: number;
                            readonly next: string | null;
                        };
                        readonly shortened: readonly {
                            readonly path: string;
                            readonly of: number;
                        }[];
                        readonly from: number;
                        readonly to: number;
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainAnalysis: {
        readonly parameters: {
            readonly query?: {
                readonly limit?: number;
                readonly cursor?: number;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Look for mistakes in the stored rules: what can never match, what is never reached, what is meant otherwise; `Link` leads to the next page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly {
                        /** @enum {string} */
                        readonly severity: "error" | "warning" | "info";
                        readonly code: string;
                        readonly path: string;
                        readonly message: string;
                        readonly found: string | null;
                        readonly remedy: string | null;
                    }[];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainRecommendations: {
        readonly parameters: {
            readonly query?: {
                /** @description recommendations, at most; without it 1000 */
                readonly limit?: number;
                /** @description recommendations before the page, from `Link` */
                readonly cursor?: number;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description What should be changed, with evidence and the change, the most severe first; `Link` leads to the next page, and `X-Left-Out` names what was not read: `counts`, `logs` */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["Recommendation"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainZone: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The zone of a domain as name servers transfer it: serial, records, problems */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Zone"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainZoneCheck: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Compare what each name server answers with the zone: serial and record sets */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ZoneCheck"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainDnssec: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The DS records that the parent zone needs, where the name servers sign the zone */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Dnssec"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainUptime: {
        readonly parameters: {
            readonly query?: {
                /** @description hours up to now; without it 24 */
                readonly hours?: number;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The uptime of a domain: whether an incident is open and why, and availability by hour */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Uptime"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainUptimeIncidents: {
        readonly parameters: {
            readonly query?: {
                /** @description only incidents with a lower id */
                readonly before?: number;
                /** @description incidents, at most; without it 100 */
                readonly limit?: number;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The incidents of a domain, newest first; `before` an incident id goes on from there */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["Incident"][];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainLogs: {
        readonly parameters: {
            readonly query?: {
                /** @description start, inclusive; without it 24 hours before `to` */
                readonly from?: string;
                /** @description end, exclusive; without it now */
                readonly to?: string;
                /** @description of the decision; with `would-` of the decision had dry_run rules been enforced; `fault`: the request failed; `counted`: requests without an entry each */
                readonly action?: "forward" | "block" | "challenge" | "redirect" | "respond" | "refuse" | "would-forward" | "would-block" | "would-challenge" | "would-redirect" | "would-respond" | "would-refuse" | "fault" | "counted" | "gap";
                /** @description a rule that matched or decided, `<type>/<id>` */
                readonly rule?: string;
                /** @description an address, prefix or range of the visitor; a counted line matches where its network overlaps */
                readonly ip?: string;
                /** @description the start of the path, or with `*` a pattern of all of it; a counted line has none */
                readonly path?: string;
                /** @description the id of one entry, whatever its time; goes without other filters */
                readonly id?: string;
                /** @description `next` of the page before */
                readonly cursor?: string;
                /** @description entries, at most; without it 100 */
                readonly limit?: number;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Search the logged decisions, newest first; of requests that were only forwarded a sample is logged */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly entries: readonly (components["schemas"]["LogEntry"] | components["schemas"]["LogCounted"] | components["schemas"]["LogGap"])[];
                        /** @description the `cursor` of the next page; `null`: nothing more in this time */
                        readonly next: string | null;
                        /** @description `false`: the search ended at the bound of its cost, and goes on at `next` */
                        readonly complete: boolean;
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainLogsByDecisionId: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                /** @description the id of the decision, a UUID */
                readonly decisionId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Read one logged decision, or one counted line */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["LogEntry"] | components["schemas"]["LogCounted"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainLogsByDecisionIdTrace: {
        readonly parameters: {
            readonly query?: {
                readonly limit?: number;
                /** @description `page.next` of the page before */
                readonly cursor?: string;
            };
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
                /** @description the id of the decision, a UUID */
                readonly decisionId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Explain a logged decision by the plan that made it, rule by rule, page by page */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TracePage"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDomainNodes: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description the name of the domain */
                readonly domain: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List what each node of the domain's groups said last of its plan */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly {
                        readonly id: number;
                        readonly name: string;
                        readonly revision: number | null;
                        readonly outcome: ("ack" | "nack") | null;
                        readonly reason: string;
                        /** Format: date-time */
                        readonly reported_at: string | null;
                        readonly current: boolean;
                    }[];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getNodes: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description an `ETag`; 304 when the answer would be the same */
                readonly "If-None-Match"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List the nodes */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly {
                        readonly id: number;
                        readonly name: string;
                        readonly online: boolean;
                        /** Format: date-time */
                        readonly created_at: string;
                        /** Format: date-time */
                        readonly last_seen_at: string | null;
                    }[];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
}
