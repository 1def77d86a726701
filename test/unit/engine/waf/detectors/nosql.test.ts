import { describe, expect, test } from 'vitest';
import { detectNoSql, SHORTEST_NOSQL } from '../../../../../src/engine/waf/detectors/nosql.ts';

describe('a value is reported with its construct', () => {
  test.each([
    ['operator of a document store in a credential', 'username[$ne]'],
    ['operator of a document store in a credential', 'user.$gt'],
    ['operator of a document store in a credential', '{"password":{"$ne":null}}'],
    ['operator of a document store in a credential', '{"$gt":""}'],
    ['operator of a document store in a credential', '[$ne]=1'],
    ['code for a document store', '$where'],
    ['code for a document store', 'json.array_0.$lookup.from'],
    ['code for a document store', 'a[$where]'],
    ['code for a document store', '{"$where":"this.a"}'],
    ['code for a document store', '{"map":"function(doc){}"}'],
    ['code for a document store', '{"script_fields":{"a":{}}}'],
    ['JavaScript behind a value', "'; return true; var x='"],
    ['JavaScript behind a value', "' || 1==1//"],
    ['JavaScript behind a value', "' || 'a'=='a"],
    ['JavaScript behind a value', "' && this.a.match(/b/)//"],
    ['JavaScript behind a value', '1; return true'],
    ['JavaScript behind a value', '";return(true);var a=\'b'],
    ['JavaScript behind a value', '1 || 1==1'],
    ['JavaScript behind a value', "';sleep(5);'"],
    ['JavaScript behind a value', "'; var d=new Date();'"],
    ['JavaScript behind a value', "1'; if (this.a) { sleep(5) } //"],
    ['line of a command for a cache', 'x\r\nFLUSHALL\r\n'],
    ['line of a command for a cache', 'x\nflush_all\n'],
    ['line of a command for a cache', 'x\r\nkeys *\r\n'],
    ['line of a command for a cache', '*1\r\n$4\r\nPING'],
    ['line of a command for a cache', 'x\r\n*3\r\n$3\r\nSET'],
    ['line of a command for a cache', 'x\nset a 0 0 3\nabc'],
    ['line of a command for a mail server', 'a@b\r\nRCPT TO:<x>'],
  ])('%s: %j', (construct, value) => expect(detectNoSql(value)).toBe(construct));
});

describe('queries and texts are not reported', () => {
  test.each([
    'price[$gt]',
    '{"age":{"$gte":18}}',
    '{"deletedAt":{"$ne":null}}',
    '$5 or 10',
    "it's || it",
    'a && b',
    "const x = 'a'; return true;",
    "x == '' || y == 1",
    '{"script_fields":{}}',
    'line\nset the table for 2 0 0',
    "'a' || 'b'",
    "x'; if (a) { b() }",
    '*1\nitem',
  ])('%j', (value) => expect(detectNoSql(value)).toBeNull());
});

test('the shortest reported value has SHORTEST_NOSQL octets', () => {
  const value = '0;db.';
  expect(detectNoSql(value)).not.toBeNull();
  expect(value).toHaveLength(SHORTEST_NOSQL);
});
