/**
 * One concept, one place: the names of notification kinds, record types, settings, commands and importers in `src`, outside
 * the files that declare them. A file that names one asks for something that is true of it alone; each has its reason here.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { RECORD_TYPES } from '../../src/base/vocabulary/record-types.ts';
import { COMMAND_NAMES } from '../../src/cli/program.ts';
import { KIND_NAMES } from '../../src/control/notices/kinds.ts';
import { SETTING_NAMES } from '../../src/rules/model/domain.ts';
import { IMPORTERS } from '../../src/workbench/importers/importers.ts';

const SRC = new URL('../../src/', import.meta.url).pathname;
/** Written by a generator from the OpenAPI document. */
const GENERATED = 'control/client/schema.ts';

/** The names in each file: texts of literals, keys and identifiers. */
const NAMES = new Map(
  readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts') && path !== GENERATED)
    .map((path) => [path, namesIn(path)]),
);

function namesIn(path: string): {
  readonly literals: ReadonlySet<string>;
  readonly identifiers: ReadonlySet<string>;
} {
  const tree = ts.createSourceFile(path, readFileSync(join(SRC, path), 'utf8'), ts.ScriptTarget.Latest, true);
  const literals = new Set<string>();
  const identifiers = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) literals.add(node.text);
    if (ts.isIdentifier(node)) {
      identifiers.add(node.text);
      if (ts.isPropertyAssignment(node.parent) && node.parent.name === node) literals.add(node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return { literals, identifiers };
}

/** A concept whose names have a home. */
interface Concept {
  readonly names: readonly string[];
  /** Whether identifiers count as well as literals and keys. */
  readonly identifiers: boolean;
  /** Files and folders that declare them. */
  readonly homes: readonly string[];
  /** Other files that name one, each with its reason. */
  readonly outside: Readonly<Record<string, string>>;
}

const CONCEPTS: Readonly<Record<string, Concept>> = {
  'notification kinds': {
    names: KIND_NAMES,
    identifiers: false,
    homes: ['control/notices/kinds/'],
    outside: {
      'control/api/routes/invitations.ts': 'notifies of it',
      'control/api/routes/notifications.ts': 'sends the test',
      'control/billing/notices.ts': 'notifies of these',
      'control/certificates/issuance/settle.ts': 'notifies of these',
      'control/lists/feed/settle-feed.ts': 'notifies of a feed that was refused',
      'control/notices/notify.ts': 'notifies of changes of domains and keys',
      'control/notices/shapes.ts': 'an example of the document',
      'control/notices/watch.ts': 'notifies of these',
      'control/registry/quota-levels.ts': 'notifies of quotas of consumers',
      'control/registry/settle-keys.ts': 'notifies of keys that cannot be fetched',
      'control/traffic/uptime/judge-due.ts': 'notifies of these',
    },
  },
  'record types': {
    // `A` is also a word.
    names: RECORD_TYPES.filter((name) => name.length > 1),
    identifiers: false,
    homes: [
      'base/vocabulary/record-types.ts',
      'control/dns/record-data.ts',
      'control/dns/zone-file/rdata.ts',
      'control/zones/rdata.ts',
    ],
    outside: {
      'cli/apply/desired-state.ts': 'ALIAS has no zone form; MX has a preference',
      'cli/apply/plan-changes.ts': 'a CNAME excludes other records',
      'cli/doctor/machine.ts': 'the query of a test of resolvers',
      'control/api/domain-shape.ts': 'the TXT record that proves a domain',
      'control/api/records/write.ts': 'MX has a preference',
      'control/api/routes/zone.ts': 'an example of the document',
      'control/api/rules/www-record.ts': 'NS delegates www',
      'control/certificates/issuance/names.ts': 'follows CNAME and NS to a challenge',
      'control/certificates/issuance/solver.ts': 'the TXT record of DNS-01',
      'control/dns/host-names.ts': 'resolves addresses',
      'control/dns/resolver.ts': 'resolves addresses and name servers',
      'control/dns/zone-file/parse.ts': 'NS of the apex is not imported',
      'control/dns/zone-file/print.ts': 'ALIAS has no zone form',
      'control/domains/challenge.ts': 'the TXT record that proves a domain',
      'control/domains/check-delegation.ts': 'asks for the delegation',
      'control/domains/lifecycle.ts': 'a CNAME excludes other records',
      'control/domains/scan-records.ts': 'what a scan queries at common names',
      'control/zones/make-zone.ts': 'NS, CAA and TXT that a zone adds; flattening',
      'control/zones/own-names.ts': 'flattening of CNAME and ALIAS; NS delegates',
      'page/panel/page/views/api/form-field.ts': 'how `mx` is spelt in a label',
      'rules/files/edge-file.ts': 'the short form of a record',
      'rules/model/record-name.ts': 'CNAME and ALIAS lead to another name',
      'rules/model/record.ts': 'the destinations of proxied types',
      'workbench/importers/cloudflare/import-cloudflare.ts': 'types that Cloudflare proxies',
      'workbench/importers/finish-draft.ts': 'the type of an imported origin',
      'workbench/importers/apache/variables.ts': 'the variable `HTTPS` of Apache httpd',
    },
  },
  settings: {
    names: SETTING_NAMES,
    identifiers: true,
    homes: ['base/vocabulary/switches.ts', 'rules/model/domain.ts', 'control/store/'],
    outside: {
      'control/api/docs/intro.ts': 'examples of the documents',
      'control/api/domain-shape.ts': 'ceilings of a subscription; bounds that depend on another setting',
      'control/traffic/uptime/judge-due.ts': 'what an alert depends on',
      'control/traffic/uptime/state.ts': 'what an incident depends on',
      'engine/compiler/compile.ts': 'numbers in a plan',
      'engine/compiler/print.ts': 'numbers in a plan',
      'rules/files/edge-schema.ts': 'an example of the document',
    },
  },
  commands: {
    names: COMMAND_NAMES.map((name) => `${camelCase(name)}Command`),
    identifiers: true,
    homes: ['cli/program.ts', 'cli/commands/'],
    outside: {},
  },
  importers: {
    names: IMPORTERS.map(({ name }) => name.toUpperCase()),
    identifiers: true,
    homes: ['workbench/importers/'],
    outside: {
      'cli/commands/import.ts': 'runs nginx: `--check`, `--root`',
    },
  },
};

function camelCase(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** The files outside the homes of a concept that name something of it. */
function filesOutside({ names, identifiers, homes }: Concept): readonly string[] {
  return [...NAMES]
    .filter(([path]) => !homes.some((home) => path === home || (home.endsWith('/') && path.startsWith(home))))
    .filter(([, found]) =>
      names.some((name) => found.literals.has(name) || (identifiers && found.identifiers.has(name))),
    )
    .map(([path]) => path)
    .sort();
}

test.each(Object.entries(CONCEPTS))(
  '%s are named in their homes and in the listed files alone',
  (_, concept) => {
    expect(concept.names.length).toBeGreaterThan(3);
    expect(filesOutside(concept)).toEqual(Object.keys(concept.outside).sort());
  },
);
