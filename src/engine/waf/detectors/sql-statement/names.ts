/**
 * Names that only a database has: its catalogs, its session's properties, its functions that wait or leave the database.
 * By dialect, from the manuals: MySQL 8 "INFORMATION_SCHEMA", "Performance Schema" and "Functions"; PostgreSQL 17 chapters
 * 9 and 52; SQL Server "System catalog views" and "System stored procedures"; Oracle "Static data dictionary views" and
 * "PL/SQL packages"; SQLite "The schema table"; Db2 "Catalog views"; Access "MSys" tables; Firebird "System tables".
 */

import { wordNumber } from '../sqli/lexicon.ts';
import {
  CLOSE,
  COMMA,
  DOT,
  FUNCTION,
  KEYWORD,
  NUMBER,
  OPEN,
  OPERATOR,
  SEMICOLON,
  VARIABLE,
} from '../sqli/scan.ts';
import { kindAt, nameAt, type SqlTokens, wordAt } from './tokens.ts';

/** The schemas of catalogs; a name behind a dot is a system object. */
const SCHEMAS: ReadonlySet<string> = words(
  `information_schema performance_schema mysql sys pg_catalog pg_toast syscat sysstat sysibm sysibmadm sysproc sysfun syspublic
   master msdb tempdb ctxsys ordsys mdsys xdb`,
);

/** Beginnings of names that the dialects reserve for their own. */
const RESERVED: readonly string[] = [
  'pg_',
  'sqlite_',
  'dbms_',
  'utl_',
  'owa_',
  'rdb$',
  'mon$',
  'v$',
  'gv$',
  'v_$',
  'x$',
  'xp_',
];

/** System tables, views and functions without a schema or a reserved beginning. */
const OBJECTS: ReadonlySet<string> = words(
  `sysobjects syscolumns sysdatabases sysusers syslogins sysservers sysprocesses syscomments sysindexes sysfiles sysxlogins
   sysdummy1 systables sysmessages sysconfigures
   all_tables all_tab_columns all_users all_objects all_views all_source all_catalog all_tab_privs all_db_links all_directories
   dba_tables dba_tab_columns dba_users dba_objects dba_views dba_source dba_catalog dba_sys_privs dba_role_privs dba_tab_privs
   user_tables user_tab_columns user_users user_objects user_views user_source user_catalog user_tab_privs user_role_privs
   session_privs session_roles global_name all_constraints all_cons_columns user_constraints tab cat
   msysobjects msysaces msysqueries msysrelationships msysaccessobjects
   current_database current_setting current_schemas set_config has_table_privilege inet_server_addr inet_server_port
   lo_import lo_export lo_get lo_put lo_create lo_creat lo_open lo_unlink lo_from_bytea
   query_to_xml database_to_xml dblink dblink_connect xmltype httpuritype sys_eval sys_exec sys_context userenv
   sp_oacreate sp_oamethod sp_executesql sp_configure sp_addsrvrolemember sp_addlogin sp_makewebtask sp_password sp_who
   sp_tables sp_columns sp_databases sp_helpdb sp_linkedservers sp_start_job
   openrowset opendatasource openquery fn_xe_file_target_read_file fn_get_audit_file load_file load_extension
   sleep benchmark randomblob db_name host_name suser_name suser_sname user_name is_srvrolemember is_member has_dbaccess
   serverproperty object_id object_name col_name xmlagg xmlelement last_insert_id connection_id gtid_subset updatexml
   extractvalue db_id row_count found_rows`,
);

/** Functions that return a property of the session only if they have no arguments. */
const EMPTY_CALLS: ReadonlySet<string> = words(
  'version database user schema current_user session_user system_user current_catalog inet_client_addr',
);

/** Values without brackets that are properties of the session. */
const SESSION: ReadonlySet<number> = new Set(
  ['CURRENT_USER', 'SESSION_USER', 'SYSTEM_USER', 'CURRENT_SCHEMA', 'CURRENT_CATALOG', 'CURRENT_ROLE'].map(
    wordNumber,
  ),
);

/** Functions that wait, or work for long enough to be noticed. */
const DELAYS: ReadonlySet<number> = new Set(
  [
    'SLEEP',
    'BENCHMARK',
    'PG_SLEEP',
    'PG_SLEEP_FOR',
    'PG_SLEEP_UNTIL',
    'RANDOMBLOB',
    'DBMS_LOCK.SLEEP',
    'DBMS_PIPE.RECEIVE_MESSAGE',
    'SYS.STANDARD.SLEEP',
  ].map(wordNumber),
);

/** The keywords before the name of a table. */
const SOURCES: ReadonlySet<number> = new Set(['FROM', 'INTO'].map(wordNumber));
const DUAL = wordNumber('DUAL');

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

/** Whether the name of an object is one of a database's own. */
export function isSystemName(name: string): boolean {
  const dot = name.indexOf('.');
  if (dot > 0 && SCHEMAS.has(name.slice(0, dot))) return true;
  const last = name.slice(name.lastIndexOf('.') + 1);
  return OBJECTS.has(last) || RESERVED.some((prefix) => name.startsWith(prefix) || last.startsWith(prefix));
}

/** Whether the token at `i` names a function that waits, and a bracket follows. */
export function isDelay(tokens: SqlTokens, i: number): boolean {
  return kindAt(tokens, i + 1) === OPEN && DELAYS.has(wordAt(tokens, i));
}

/**
 * Whether the token at `i` is an object, a variable or a property of the database in the place where a query has one: a
 * table behind `FROM`, a call, `@@version`, `SELECT current_user`.
 */
export function isSystemObject(tokens: SqlTokens, i: number): boolean {
  const kind = kindAt(tokens, i);
  if (kind === VARIABLE) return isSessionValue(tokens, i);
  const word = wordAt(tokens, i);
  if (word === DUAL) return isSource(tokens, i) && isBoundary(tokens, i + 1) && !isValidation(tokens, i);
  const calls = kindAt(tokens, i + 1) === OPEN;
  if (calls && kindAt(tokens, i + 2) === CLOSE && EMPTY_CALLS.has(nameAt(tokens, i))) return true;
  if (!calls && !isSource(tokens, i)) return false;
  if (kindAt(tokens, i + 1) === DOT) return SCHEMAS.has(nameAt(tokens, i));
  return isSystemName(nameAt(tokens, i));
}

/** Whether the value is `SELECT 1 FROM DUAL`, with which connection pools test a connection; the table is at `i`. */
function isValidation(tokens: SqlTokens, i: number): boolean {
  const end = i + 1 + (kindAt(tokens, i + 1) === SEMICOLON ? 1 : 0);
  return i === 3 && !tokens.quoted && kindAt(tokens, 1) === NUMBER && end === tokens.size;
}

/** Whether a variable is `@@name`, or a property of the session that is a whole column. */
function isSessionValue(tokens: SqlTokens, i: number): boolean {
  if (tokens.word[i] === 0) return tokens.scan.text.startsWith('@@', tokens.start[i]!);
  return SESSION.has(tokens.word[i]!) && isBoundary(tokens, i + 1);
}

/** Whether a keyword before the token at `i` announces a table; a comma in a list of tables counts as one. */
function isSource(tokens: SqlTokens, i: number): boolean {
  const before = kindAt(tokens, i - 1);
  if (before === KEYWORD) return SOURCES.has(wordAt(tokens, i - 1)) || nameAt(tokens, i - 1).endsWith('join');
  return (before === COMMA || before === OPEN) && nameAt(tokens, i).includes('.');
}

/** Whether the token at `i`, or the end of the value, can follow a complete column or table. */
function isBoundary(tokens: SqlTokens, i: number): boolean {
  const kind = kindAt(tokens, i);
  return (
    kind === 0 ||
    kind === SEMICOLON ||
    kind === COMMA ||
    kind === CLOSE ||
    kind === KEYWORD ||
    kind === OPERATOR ||
    (kind === FUNCTION && kindAt(tokens, i + 1) !== OPEN)
  );
}
