/**
 * One concept, one place: what is said of a rule type is in its homes. A name of a type in any other file of `src` is a second
 * place to change for a new type, so each such file is listed here with its reason; the list has no entry too many.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { RULE_TYPES } from '../../src/base/vocabulary/vocabulary.ts';

const SRC = new URL('../../src/', import.meta.url).pathname;

/** Where a type is defined; CONTRIBUTING.md, "Add a rule type", has the same list. */
const HOMES: readonly RegExp[] = [
  /^base\/vocabulary\/vocabulary\.ts$/,
  /^rules\/model\/rule\.ts$/,
  /^rules\/model\/rules\//,
  /^engine\/compiler\/rule-types\.ts$/,
  /^engine\/evaluator\/phases\.ts$/,
  /^engine\/evaluator\/phases\//,
  /^workbench\/proofs\/rule-types\.ts$/,
];

/**
 * Files that name types, and what they do that is really about these types alone; a folder ends in `/`. Names in types do not
 * count: the compiler reports them.
 */
const OTHERS: Readonly<Record<string, string>> = {
  'cli/open-signatures.ts': 'signatures are opened if a waf rule needs them',
  'cli/remote/remote-domain.ts': 'lists of error pages lack their HTML',
  'cli/simulate-options.ts': 'origins of a pool that are said to be down',
  'cli/input/open-gateways.ts': 'an OpenAPI document is compared as a gateway',
  'control/accounts/entitlements.ts': 'a feature of plans that is for gateways alone',
  'control/accounts/tiers.ts': 'which types each tier sells',
  'control/api/gateways/quota.ts': 'a quota of requests to gateways',
  'control/api/routes/gateways.ts': 'operations and documents of gateways',
  'control/api/routes/rules-batch.ts': 'a quota that new gateways need',
  'control/api/routes/rules.ts':
    'HTML of error pages in a column of its own; the www record of a canonical redirect',
  'control/api/rules/read.ts': "the budget of addresses of drop rules; the country of a route's origin",
  'control/api/rules/registry-references.ts': 'usage plans and token issuers that gateways name',
  'control/api/rules/shapes.ts': 'fields that only answers of a type have',
  'control/api/rules/show.ts': 'HTML of error pages in a column of its own; a default of older waf rows',
  'control/compute/deliver.ts': 'the error page of a trace is cut',
  'control/publishing/make-plan.ts': 'HTML of error pages in a column of its own',
  'control/recommendations/': 'each family is about rules of one type',
  'edge/node/plan-source.ts':
    'warns about waf, country, JA4H and headers rules that the node or agent cannot carry out',
  'edge/proxy/origin/failover.ts': 'a pool has further origins to try',
  'engine/compiler/draft.ts':
    'gateways are in the order of their base paths, in a part of a plan of their own',
  'engine/compiler/gateways.ts': 'the rows of gateways are longer if one of them uses what version 7 added',
  'engine/counts/gateway-counts.ts': 'the gateway that decided a request',
  'engine/counts/unknown-operation.ts': 'the gateway that has no operation for a request',
  'engine/compiler/filters.ts':
    'a list of targets is the path filter of a redirect, a base path that of a gateway',
  'engine/counts/shadow-changes.ts': 'an effect of that name',
  'engine/evaluator/decision.ts': 'an effect and sources of origins of that name',
  'engine/evaluator/edge-settings.ts': 'probes and ejection of pools',
  'engine/evaluator/evaluate.ts': 'how long a challenge of a captcha or rate_limit rule is solved',
  'engine/evaluator/explain.ts': 'the phase in which the edge answers its own paths',
  'engine/evaluator/predicates.ts': 'the column of bot kinds is also that of fingerprints',
  'engine/evaluator/trace.ts': 'routes and pools share a phase',
  'engine/plan/layout.ts': 'the number of a type that was added between others',
  'page/panel/page/views/trace.ts': 'the phase of error pages has no outcome of its own',
  'page/panel/page/views/gateways/': 'gateways and their use have a section of their own',
  'rules/files/edge-gateways.ts': 'gateways are a list of their own in edge files',
  'rules/files/edge-schema.ts': 'examples of the schema',
  'rules/files/print-edge.ts': 'origins of a pool are printed as rows',
  'rules/model/groups.ts': 'the types whose rules insert groups of their path patterns',
  'rules/model/list-names.ts': 'the fields of types that may name lists',
  'rules/model/parse.ts': 'gateways are named by their own list in edge files',
  'rules/model/registry-references.ts': 'usage plans and token issuers that gateways name',
  'rules/model/tags.ts': 'the types whose rules tag requests, which conditions name',
  'workbench/importers/': 'translate rules of other products to the type that does the same',
  'workbench/proofs/credentials.ts': 'gateways that take any body',
  'workbench/proofs/lint/gateway-caches.ts': 'cache rules behind gateways',
  'workbench/proofs/lint/gateways.ts': 'who may call the operations of gateways',
  'workbench/proofs/lint/proved-rules.ts':
    'captcha rules behind gateways, whose order is that of their base paths',
  'workbench/mutation/mutate.ts': 'a challenge of a fingerprint rule lets later ones of its phase act',
  'workbench/mutation/witness-test.ts':
    'what a test states for the rules of a witness: counts, origins, queries',
  'workbench/proofs/changes.ts': "locations of redirects may be the request's own URL",
  'workbench/proofs/circles.ts': 'circles of redirects',
  'workbench/proofs/differences.ts': 'a rewrite may refuse a request; error pages depend on the status',
  'workbench/proofs/gateway-cells.ts': 'a path of operations is filtered as that of a cache rule',
  'workbench/proofs/gateway-changes.ts': 'what gateways of two rule sets admit',
  'workbench/proofs/invariant-sources.ts':
    'challenges of records follow captcha rules; what a gateway answers depends on credentials',
  'workbench/proofs/invariants.ts': "an invariant's filter is compiled as that of a drop rule",
  'workbench/proofs/lint/empty-lists.ts': 'allowlists of drop rules',
  'workbench/proofs/lint/fields.ts': 'findings about fields of bot_route, cache and waf rules',
  'workbench/proofs/lint/filters.ts': 'which types protect a path',
  'workbench/proofs/lint/hosts.ts': 'a canonical redirect of www',
  'workbench/proofs/lint/needless.ts': 'addresses of drop rules',
  'workbench/proofs/lint/paths.ts': 'types for which a path without its sub-paths is meant',
  'workbench/proofs/lint/redirects.ts': 'findings about targets of redirects',
  'workbench/proofs/reach.ts': 'error pages are chosen for responses',
  'workbench/proofs/regions.ts': 'error pages are chosen for responses; bots may pin the origin',
  'workbench/proofs/situations.ts':
    'the order of evaluation: pins, own URLs of redirects, routes before pools, responses',
  'workbench/proofs/space/axes.ts': 'the columns of bot kinds, fingerprints and statuses',
  'workbench/proofs/space/terms.ts': 'the types whose rules tag requests',
  'workbench/proofs/subject.ts': 'targets of redirects, statuses of drop rules',
  'workbench/rule-tests/coverage.ts': 'error pages are chosen for responses',
  'workbench/rule-tests/prepare.ts': 'names of the origins of pools',
  'workbench/simulation/as-test.ts': 'what a test states: counts, origins of pools',
  'workbench/simulation/conditions.ts': 'what a simulation assumes: counts, challenges, origins of pools',
  'workbench/simulation/describe.ts': 'an effect of that name; the status of a rate limit',
  'workbench/simulation/expected-schema.ts': 'a source of origins of that name',
  'workbench/simulation/render-rule.ts': 'an effect of that name',
  'workbench/simulation/simulate.ts': 'error pages are chosen for responses',
};

/** Names that are a type's and nothing else's; the others are words of actions, effects and settings too. */
const OWN_NAMES = RULE_TYPES.filter((type) => type.includes('_'));

/** Where a word that has other meanings is a type's name: compared with a `type`, or the value of one. */
const AS_TYPE = new RegExp(
  String.raw`(?:\btype (?:===|!==) |\btype: |\btypeIndex\()'(?:${RULE_TYPES.join('|')})'`,
);
const AS_NAME = new RegExp(String.raw`'(?:${OWN_NAMES.join('|')})'|\b(?:${OWN_NAMES.join('|')})\??:`);

/** The text of a file without its comments. */
function codeOf(text: string): string {
  const options = { removeComments: true, target: ts.ScriptTarget.ESNext, verbatimModuleSyntax: true };
  return ts.transpileModule(text, { compilerOptions: options }).outputText;
}

/** The files outside of homes that name a type, as paths below `src`. */
function namingFiles(): readonly string[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => path.endsWith('.ts') && !HOMES.some((home) => home.test(path)))
    .filter((path) => namesType(readFileSync(join(SRC, path), 'utf8')))
    .sort();
}

/** Whether a text names a type; comments, which are free to, are left out only where there is a name at all. */
function namesType(text: string): boolean {
  const names = (part: string): boolean => AS_NAME.test(part) || AS_TYPE.test(part);
  return names(text) && names(codeOf(text));
}

describe('rule types', () => {
  test('a name is found in code, and none in comments', () => {
    expect(namesType("if (rule.type === 'waf') act();")).toBe(true);
    expect(namesType('const TABLE: Table = { bot_route: 1 };')).toBe(true);
    expect(namesType("/** `type: 'waf'` */\nconst action = 'redirect'; // 'bot_route'")).toBe(false);
  });

  const naming = namingFiles();
  const isListed = (file: string): boolean =>
    Object.keys(OTHERS).some((path) => file === path || (path.endsWith('/') && file.startsWith(path)));

  test('a file outside of their homes names a type for a reason', () => {
    expect(naming.filter((file) => !isListed(file))).toEqual([]);
  });

  test('the list has no file that names none', () => {
    const isUsed = (path: string): boolean =>
      naming.some((file) => file === path || (path.endsWith('/') && file.startsWith(path)));
    expect(Object.keys(OTHERS).filter((path) => !isUsed(path))).toEqual([]);
  });
});
