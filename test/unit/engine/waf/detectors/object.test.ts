import { describe, expect, test } from 'vitest';
import { detectObject, SHORTEST_OBJECT } from '../../../../../src/engine/waf/detectors/object.ts';

describe('a value is reported with its construct', () => {
  test.each([
    ['object of PHP', 'O:4:"User":1:{s:2:"id";i:1;}'],
    ['object of PHP', 'a:1:{i:0;O:8:"App\\Cmd":0:{}}'],
    ['object of PHP', 'C:3:"Foo":2:{x}'],
    ['object of PHP', 'O:+4:"User":0:{}'],
    ['object of PHP', 'Tzo0OiJVc2VyIjoxOntzOjI6ImlkIjtpOjE7fQ=='],
    ['object of Java', '\xac\xed\x00\x05sr'],
    ['object of Java', '\xc2\xac\xc3\xad\x00\x05sr'],
    ['object of Java', 'aced0005737200'],
    ['object of Java', 'rO0ABXNyABFq'],
    ['object of Java', '<java version="1" class="java.beans.XMLDecoder">'],
    ['object of Java', '<map><entry><jdk.nashorn.internal.objects.NativeString>'],
    ['object of .NET', 'AAEAAAD/////AQAAAAAAAAAM'],
    ['object of .NET', '{"$type":"System.Windows.Data.ObjectDataProvider, X"}'],
    ["object of Python's pickle", "cos\nsystem\n(S'id'\ntR."],
    ["object of Python's pickle", 'Y29zCnN5c3RlbQooUydpZCcKdFIu'],
    ["object of Python's pickle", 'gASVHQAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOUjAJpZJSFlFKULg=='],
    ["object of Ruby's Marshal", '\x04\bo:\bFoo\x06'],
    ["object of Ruby's Marshal", 'BAhvOghGb28G'],
    ['object in YAML', '!!python/object/apply:os.system [id]'],
    ['object in YAML', '!ruby/object:Gem::X'],
    ['object in YAML', '!<tag:yaml.org,2002:js/function> x'],
    ['serialised function', '{"a":"_$$ND_FUNC$$_function(){}()"}'],
  ])('%s: %j', (construct, value) => expect(detectObject(value)).toBe(construct));
});

describe('texts, arrays and sessions are not reported', () => {
  test.each([
    'a:2:{s:1:"x";s:3:"abc";}',
    'YToxOntzOjE6IngiO3M6MzoiYWJjIjt9',
    'BAh7B0kiD3Nlc3Npb25faWQGOgZFVEkiJWFiYw==',
    '/wEPDwUKLTEyMzQ1Njc4OWRk',
    'O: 4 people',
    '!Ref MyBucket',
    'wow!!java.is great',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc',
    '{"$type":"Shop.Order, Shop"}',
    'cosmetics\nsystem\nx',
    'Version 4\b',
  ])('%j', (value) => expect(detectObject(value)).toBeNull());
});

test('the shortest reported value has SHORTEST_OBJECT octets', () => {
  const value = '\x04\bo:';
  expect(detectObject(value)).not.toBeNull();
  expect(value).toHaveLength(SHORTEST_OBJECT);
});
