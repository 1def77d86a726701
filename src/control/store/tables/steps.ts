/**
 * The steps from an empty database to this version's tables. Each creates and changes the tables whose description names
 * it, then runs SQL of its own, then drops what it drops. Forward only: a step that has landed is never changed; what changes
 * later is a new step at the end.
 */
import { StoreFault } from '../../../base/storage/fault.ts';
import { EVERY_TABLE } from './all.ts';
import { type Expression, NOW } from './describe.ts';
import { changesOf, type Dialect, dropsOf } from './render.ts';

/** A step, as it is run. */
export interface Migration {
  /** Counts from 1 without gaps. */
  readonly version: number;
  /** Statements run in one transaction. */
  readonly ddl: string;
}

/** SQL with expressions in it, in the words of each database. */
function sql(texts: TemplateStringsArray, ...expressions: readonly Expression[]): Expression {
  const words = (database: Dialect): string =>
    texts.reduce((all, text, index) => all + expressions[index - 1]![database] + text);
  return { sqlite: words('sqlite'), postgres: words('postgres') };
}

/** No SQL besides the tables. */
const NONE: Expression = { sqlite: '', postgres: '' };

/**
 * The shares of request budgets, which only several processes have. `holders` is `{ "<process>": { "slots", "until" } }`: one
 * row a key, whose lock orders the processes. Unlogged: shares last a minute or two and cost no disk.
 */
const REQUEST_SHARES: Expression = {
  sqlite: '',
  postgres: `CREATE UNLOGGED TABLE request_shares (
  key_id bigint PRIMARY KEY,
  holders jsonb NOT NULL
);`,
};

/**
 * Counts existing rules except for their patterns, which have to be compiled: the next write that needs their cost does
 * so.
 */
const COUNT_RULES = sql`UPDATE rules SET addresses = ${{
  sqlite: "json_array_length(body, '$.ips')",
  postgres: "json_array_length(body::json -> 'ips')",
}} WHERE type = 'drop' AND body LIKE '{%"ips":[%'${{ sqlite: ' AND json_valid(body)', postgres: '' }};
INSERT INTO rule_totals SELECT domain_id, type, count(*),
    sum(octet_length(body) + coalesce(octet_length(content), 0)), sum(addresses)
FROM rules LEFT JOIN rule_contents ON rule_contents.rule_id = rules.id GROUP BY domain_id, type;
INSERT INTO pattern_totals SELECT DISTINCT domain_id, 0, 0, 0, 0 FROM rules WHERE body LIKE '%"regex"%';`;

/** The day, whole days since the epoch. */
const TODAY: Expression = {
  sqlite: 'unixepoch() / 86400',
  postgres: 'extract(epoch FROM now())::bigint / 86400',
};
const EMPTY: Expression = { sqlite: "x''", postgres: "''" };

/**
 * The traffic that earlier versions stored by minute becomes sums by hour, or by day where it is older than hours are
 * stored; an empty `counts` has no more than the sums. Hits of rules are not carried over.
 */
const SUM_TRAFFIC = sql`${{
  sqlite: '',
  postgres: `CREATE FUNCTION remove_traffic() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM traffic_parts WHERE domain_id = OLD.id;
  DELETE FROM traffic_minutes WHERE domain_id = OLD.id;
  DELETE FROM traffic_hours WHERE domain_id = OLD.id;
  DELETE FROM traffic_days WHERE domain_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER remove_traffic AFTER DELETE ON domains FOR EACH ROW EXECUTE FUNCTION remove_traffic();
`,
}}INSERT INTO traffic_hours SELECT domain_id, minute / 60 * 60, sum(requests), 0, sum(octets), 0, 0, sum(gateway_requests), ${EMPTY}, NULL
FROM usage WHERE minute >= (${TODAY} - 35) * 1440 GROUP BY domain_id, minute / 60;
INSERT INTO traffic_days SELECT domain_id, minute / 1440 * 1440, sum(requests), 0, sum(octets), 0, 0, sum(gateway_requests), ${EMPTY}, NULL
FROM usage WHERE minute < (${TODAY} - 35) * 1440 GROUP BY domain_id, minute / 1440;`;

/**
 * Entries of the decision log by day (`control/logs/postgres-days.ts`), which SQLite has in files of their own: times are
 * milliseconds since the epoch, `line` is JSON text. A partition for each day is made when it is needed.
 */
const DECISION_LOGS: Expression = {
  sqlite: '',
  postgres: `CREATE TABLE decision_logs (
  domain_id bigint NOT NULL,
  at bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  node_id bigint NOT NULL,
  action text NOT NULL,
  would text,
  fault boolean NOT NULL,
  ip text,
  path text NOT NULL,
  line text NOT NULL,
  PRIMARY KEY (domain_id, at, id)
) PARTITION BY RANGE (at);
CREATE INDEX decision_logs_by_id ON decision_logs (domain_id, id);
CREATE TABLE decision_log_rules (
  domain_id bigint NOT NULL,
  rule text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  PRIMARY KEY (domain_id, rule, at, id)
) PARTITION BY RANGE (at);
CREATE TABLE decision_log_sizes (
  domain_id bigint NOT NULL,
  day bigint NOT NULL,
  octets bigint NOT NULL,
  dropped bigint NOT NULL,
  PRIMARY KEY (day, domain_id)
);`,
};

/** The SQL of each step besides its tables; the first is step 1. */
const STEPS: readonly Expression[] = [
  // 1: accounts, keys, domains, and what belongs to a domain.
  NONE,
  // 2: the outbox, revisions, the manifest, nodes and their reports, traffic.
  sql`INSERT INTO manifest_position VALUES (1, 0);`,
  // 3: numbers of batches, so that a retry counts once.
  NONE,
  // 4: hits of rules.
  NONE,
  REQUEST_SHARES,
  // 6: scans for records.
  NONE,
  // 7: totals of rules and patterns.
  COUNT_RULES,
  // 8: which revisions are pruned.
  sql`UPDATE plan_revisions SET pruned = 1
WHERE digest IS NOT NULL AND digest NOT IN (SELECT digest FROM plan_blobs);`,
  // 9: invitations. A name may have several domains until one is proved; those that are unproved count from now on.
  sql`UPDATE domains SET unproved_since = ${NOW} WHERE status IN ('pending', 'unverified');`,
  // 10: replaced tokens of nodes.
  NONE,
  // 11: groups and allowances of nodes.
  NONE,
  SUM_TRAFFIC,
  DECISION_LOGS,
  // 14: notifications.
  NONE,
  // 15: uptime.
  NONE,
  // 16: billing. A domain that is suspended at this step was suspended by the operator.
  sql`INSERT INTO suspensions SELECT id, 'operator', coalesce(suspended_at, updated_at) FROM domains WHERE suspended = 1;`,
  // 17: zones.
  NONE,
  // 18: certificates with their chains and keys.
  sql`UPDATE certificates SET created_at = not_before;`,
  // 19: certificates that the server obtains.
  NONE,
  // 20: purges of single responses.
  NONE,
  // 21: contents of caches.
  NONE,
  // 22: drafts.
  NONE,
  // 23: invariants.
  NONE,
  // 24: named lists.
  NONE,
  // 25: OpenAPI documents of gateways.
  NONE,
  // 26: consumers, usage plans, token issuers.
  NONE,
  // 27: requests of consumers by day.
  NONE,
  // 28: quotas of consumers.
  NONE,
  // 29: levels of gateway quotas that were notified of.
  NONE,
];

/** The version of this edgeplan's tables. */
export const TABLES_VERSION: number = STEPS.length;

/** All steps for a database. */
export function migrationsOf(database: Dialect): readonly Migration[] {
  return STEPS.map((own, index) => {
    const version = index + 1;
    const changes = EVERY_TABLE.flatMap((table) => changesOf(table, version, database));
    const drops = EVERY_TABLE.flatMap((table) => dropsOf(table, version));
    const ddl = [...changes.map(ended), own[database], ...drops.map(ended)].join('\n');
    return { version, ddl };
  });
}

/** A statement with its end. */
function ended(statement: string): string {
  return `${statement};`;
}

/**
 * The steps still to take from `version`. Throws `too_new` when the tables are ahead of the steps: a database that a
 * later version has changed is never touched.
 */
export function stepsFrom(migrations: readonly Migration[], version: number): readonly Migration[] {
  const known = migrations.at(-1)?.version ?? 0;
  if (version > known) {
    const message = `the database has tables of version ${version}, this edgeplan knows up to ${known}; start the newer one`;
    throw new StoreFault('too_new', message);
  }
  return migrations.filter((migration) => migration.version > version);
}
