import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../../../src/base/octets/octet-kinds.ts';
import {
  detectSqlStatement,
  SHORTEST_STATEMENT,
  STATEMENT_KINDS,
} from '../../../../../src/engine/waf/detectors/sql-statement.ts';
import { detectorStrings } from '../../../../support/detector-strings.ts';

const CONSTANT = 'condition that is always true or false';
const OF_DATABASE = 'condition on the database';
const CLAUSE = 'clause of a query behind a value';
const DELAY = 'function that waits';
const JOINED = 'call joined to a value';
const UNION = 'UNION of queries';
const MARKED = 'statement with marks of an attack';
const COMMAND = 'command to the database';
const COMMENT = 'comment that cuts off the statement';

describe('a whole statement is detected', () => {
  test.each([
    // MySQL
    ['select @@datadir', MARKED],
    ['SELECT user, host FROM mysql.user', MARKED],
    ['select table_name from information_schema.tables;', MARKED],
    ['(select database())', MARKED],
    ['select sleep(3)', MARKED],
    ['handler members open; handler members read first', COMMAND],
    // PostgreSQL
    ['select current_setting($$data_directory$$)', MARKED],
    ['SELECT session_user;', MARKED],
    ['select usename, passwd from pg_shadow', MARKED],
    ['select a from b;copy b to $$/tmp/b$$', MARKED],
    ["x'); copy users (email) from program 'id'", COMMAND],
    ["1; alter system set archive_command = 'id'", COMMAND],
    ["1; load '/tmp/a.so'", COMMAND],
    ["'; set statement_timeout = 0; --", MARKED],
    ["'; values (1); --", MARKED],
    ['1; with a as (delete from b returning *) select * from a', COMMAND],
    ['1; select $$a$$', MARKED],
    // SQL Server
    ['declare @x nvarchar(99) set @x = 0x73656c65 exec(@x)', COMMAND],
    ["exec xp_dirtree '\\\\host\\share'", COMMAND],
    ["EXECUTE ('sel' + 'ect 1')", COMMAND],
    ["backup log shop to disk = '\\\\host\\share\\a.bak'", COMMAND],
    ['if (3=3) select 1 else drop function f', COMMAND],
    ['select name from master..sysdatabases', MARKED],
    ['select name from [sys].[tables]', MARKED],
    // Oracle
    ["begin execute immediate 'grant dba to scott'; end;", COMMAND],
    ['select banner from v$version', MARKED],
    ['select user from dual', MARKED],
    ['begin dbms_lock.sleep(9); end', COMMAND],
    ['select owner, table_name from all_tables', MARKED],
    // SQLite, Db2, Access, Firebird
    ['select sql from sqlite_master', MARKED],
    ['select tabname from syscat.tables', MARKED],
    ['select current server from sysibm.sysdummy1', MARKED],
    ['select name from msysobjects', MARKED],
    ['select rdb$relation_name from rdb$relations', MARKED],
    // marks without system objects
    ['select a from b union select c from d where 1=1', MARKED],
    ['delete from orders where 1=1 #', MARKED],
    ["x'; drop table orders", COMMAND],
    ["any number of words ahead of it'; drop table orders-- -", COMMAND],
    ["any number of words ahead of it'; drop table orders#", COMMAND],
    ["' revoke all from clerk; --", COMMAND],
    ['5; truncate table orders', COMMAND],
  ])('%j is a %s', (value, expected) => expect(detectSqlStatement(value)).toBe(expected));
});

test.each([
  '1; SELECT 1 FROM DUAL',
  '1; ALTER TABLE a ADD b INT; DROP TABLE c',
  'DECLARE @s VARCHAR(99); SET @s = 0x77616974; EXEC(@s)',
])('%s is no exercise', (value) => expect(detectSqlStatement(value)).not.toBeNull());

describe('the tail of a statement is detected', () => {
  test.each([
    [' and 7=7', CONSTANT],
    ['OR name=name', CONSTANT],
    ["or 'x' = 'x'", CONSTANT],
    ['(3)and(3)=(3)--', CONSTANT],
    ['3\xa0or\xa04=4', CONSTANT],
    ["' or 12.5=12.5", CONSTANT],
    ['or true--', CONSTANT],
    [' where 2=2 and 2=3', CONSTANT],
    [' as t where 2=2#', CONSTANT],
    ["') where 2=2", CONSTANT],
    ['3 and (select count(*) from b)>1', OF_DATABASE],
    ['and 9=convert(int,(select 1))', OF_DATABASE],
    ["' or (exists)", OF_DATABASE],
    ['or version()>5', OF_DATABASE],
    ['or @@port=1', OF_DATABASE],
    // PostgreSQL: casts and operators on JSON, arrays and patterns
    ['1 or \'{"b":2}\'::jsonb <@ \'{"a":1}\'::jsonb', CONSTANT],
    ["' or '{\"a\":1}'::json::jsonb @> '{}'::jsonb", CONSTANT],
    ["' or 'a'::varchar(9) ~ '^a'--", CONSTANT],
    ["' or active and 2=2--", CONSTANT],
    ["' or array[1,2] @> array[1] --", CONSTANT],
    ["' or '{1}'::int[] && '{2}'::int[] --", CLAUSE],
    ['1 and (table users limit 1) is not null', OF_DATABASE],
    ["'::text||(select 1)::text||'", JOINED],
    ["x' returning id, password --", CLAUSE],
    ['1 limit 1 offset (select 2 from a)', CLAUSE],
    ["1 order by (case when (user='a') then 1 else 2 end)", CLAUSE],
    ['1 order by 2 desc, (select 1 from a)', CLAUSE],
    ['OR a=b--', CLAUSE],
    ["x' group by 1,2--", CLAUSE],
    ['3 order by 4 #', CLAUSE],
    ['sleep(9)#', DELAY],
    ['SLEEP(9)="', DELAY],
    ["+ sleep(9) + '", DELAY],
    ["' || hr.hire('x') || '", JOINED],
    ['3 || rpad(user,9,0)', JOINED],
    ['0 div 2 union#a*/*b\nselect#c\n3', UNION],
    ['3 un/**/ion sel/**/ect 4', UNION],
    ['3 /*!50000union*//*!50000select*/ 4', UNION],
    ['2e0union select 3', UNION],
    ["$$ || current_setting('port') || $$", JOINED],
    ["root'/*", COMMENT],
  ])('%j is a %s', (value, expected) => expect(detectSqlStatement(value)).toBe(expected));
});

describe('what only looks like SQL is not detected', () => {
  test.each([
    'SELECT 1 FROM DUAL',
    'ALTER TABLE a ADD COLUMN b INT; DROP INDEX c;',
    'DECLARE @i INT = 1; WHILE @i <= 10 BEGIN PRINT @i; SET @i = @i + 1; END',
    'select count(*) from orders where day > "2024-01-01"',
    'SELECT id, name FROM customers WHERE city = "Berlin" ORDER BY name LIMIT 10',
    'DROP TABLE IF EXISTS a;\nCREATE TABLE a (id int);\nINSERT INTO a VALUES (1);',
    'select user from the list',
    'drop table tennis',
    'grant access to users',
    "the 'grant access to x' option",
    'copy report to /tmp',
    'restore database connection',
    'union of all workers',
    'where status = "open"',
    'AND status = "open"',
    'or x=y',
    'order by 3',
    'having fun and 2 beers',
    'exec("a.bat", (error) => {})',
    'declare var Number: NumberConstructor;',
    'Reorder and merge like edit sections',
    "'&&': 2, '|': 3, '^': 4",
    'sleep(5)',
    'time.sleep(5) # seconds',
    "O'Reilly or O'Hara",
    "rock 'n' roll and blues 'n' soul",
    // casts, clauses and statements without a value before them
    'created_at::date',
    "x::text || 'y'",
    "ORDER BY CASE WHEN status = 'open' THEN 0 ELSE 1 END",
    'LIMIT (SELECT 1) is allowed',
    "exec sp_helptext 'dbo.proc'",
    'WITH a AS (SELECT 1) SELECT * FROM a',
    'set a = 5',
    'values (1, 2)',
    'system settings; set a = 5',
    'Cost is $$ or $$$; see $$menu$$',
    "6' by 7' -- in stock",
    // query languages of applications
    'status = Done AND assignee = currentUser() ORDER BY created DESC',
    'Price gt 5 and Price lt 10 or true',
    "Name eq 'O''Neil' and Age gt 5",
    'title:"foo bar" AND (quick OR brown)',
    'name==bar;age=gt=10,(city==Berlin)',
    '{ user(id: 1) { name } }',
    'sum(rate(http_requests_total{job="api"}[5m])) by (instance) > 0',
    '1 or vector(1)',
    // what is behind the first quote of a sentence or of code
    '> Quote: "and 1=1 is always true"',
    "This happens when an input like ' OR '1'='1 gets into a query",
    "docker compose exec db psql -c 'select version();'",
  ])('%j', (value) => expect(detectSqlStatement(value)).toBeNull());

  test.each(detectorStrings('ordinary'))('$heading: $value', ({ value }) =>
    expect(detectSqlStatement(value)).toBeNull(),
  );
});

test('no detected value is shorter than SHORTEST_STATEMENT or without STATEMENT_KINDS', () => {
  expect(detectSqlStatement("'/*")).toBe(COMMENT);
  expect("'/*").toHaveLength(SHORTEST_STATEMENT);
  const octets = [...'aor1\'"#-/*=( ;'];
  const shorter = octets.flatMap((a) => ['', ...octets].map((b) => a + b));
  expect(shorter.filter((value) => detectSqlStatement(value) !== null)).toEqual([]);
  const all = Array.from({ length: 256 }, (_, octet) => String.fromCharCode(octet));
  const harmless = all.filter((octet) => (KINDS[octet.charCodeAt(0)]! & STATEMENT_KINDS) === 0);
  const values = fc
    .array(fc.constantFrom(...harmless, 'select', 'or', '1'), { maxLength: 12 })
    .map((a) => a.join(''));
  fc.assert(fc.property(values, (value) => detectSqlStatement(value) === null));
});
