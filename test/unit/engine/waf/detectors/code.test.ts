/** Which code reaches the process or the inside of its language, by construct; which sentences and ordinary code do not. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CODE_KINDS,
  detectCode,
  detectCodeLine,
  SHORTEST_CODE,
} from '../../../../../src/engine/waf/detectors/code.ts';
import { factsOf } from '../../../../../src/engine/waf/octets/octet-buffer.ts';

describe('code of attacks is found', () => {
  test.each([
    ['().__class__.__base__.__subclasses__()', 'member of the inside of the language'],
    ['(x for x in [1]).gi_frame.f_back', 'member of the inside of the language'],
    ['debug.getregistry()', 'member of the inside of the language'],
    ["print.__self__.__dict__['exec'].__code__", 'walk through the inside of the language'],
    ["getattr(__import__('os'),'sys'+'tem')('a')", 'module imported by an expression'],
    ['require "io".popen "a"', 'command run by an imported module'],
    ["require('os').execute('a')", 'command run by an imported module'],
    ["_G['os']['execute']('a')", 'table of globals'],
    ['print qx(uname -a);', 'text that is run as a command'],
    ['a;%x[id]', 'text that is run as a command'],
    ["open(my $f,'-|','id')", 'pipe opened to a command'],
    ['syscall(59,"/bin/sh")', 'call that runs a command'],
    ['exec"/bin/sh"', 'call that runs a command'],
    ["User.first.save;system 'id'", 'call that runs a command'],
    ['[]["filter"]["constructor"]("return process")()', 'function made from a constructor'],
    ["Reflect.construct(Function,['return process'])()", 'function made from a constructor'],
    ['Marshal.load(Base64.decode64("BAhJ"))', 'text that is decoded and run'],
    ["eval('\\x61')", 'text that is decoded and run'],
    ['load("return 1")()', 'text that is run'],
    ['"".class.class_eval{ exec "id" }', 'call that runs a command'],
    ['for l in io.lines("/etc/passwd") do ngx.say(l) end', 'private file read'],
    ["global['pro'+'cess']", 'member of a hidden name'],
    ['Rails.application.secrets.secret_key_base', 'secret of the application'],
    ["a';system('id');'", 'call that runs a command'],
    ['@exec\n@input\nclass X: pass', 'decorator that runs a text'],
    ['-    os.system("rm -rf build")\n+    shutil.rmtree("build")', 'call that runs a command'],
    ['@{[ system("id") ]}', 'code in a text of Perl'],
  ])('%j: %s', (value, expected) => {
    expect(detectCode(value)).toBe(expected);
    expect(detectCodeLine(value)).not.toBeNull();
  });
});

describe('lines of code that reach the system are left to paranoia 2', () => {
  test.each([
    'os.remove("/srv/a.db")',
    'breakpoint()',
    'debug.getinfo(1).source',
    'FileUtils.rm_rf("/")',
    "IO::Socket::INET->new('203.0.113.9:80')",
    'eval($x)',
    'exec(bytes2([105]).text)',
    'ENV.each{|k,v| puts v}',
    '%ENV=();print %ENV',
    'package.path="/tmp/?.lua"',
    'globalThis.process.env',
    "os.getenv('DB_PASSWORD')",
    't:connect("203.0.113.9",4444)',
  ])('%j', (value) => {
    expect(detectCode(value)).toBeNull();
    expect(detectCodeLine(value)).not.toBeNull();
  });
});

describe('sentences and ordinary code are no attacks', () => {
  test.each([
    'What does __subclasses__() return in Python?',
    'The method os.system("id") should not be used',
    "How can I call require('child_process').exec in a browser?",
    'self.__class__.__name__',
    'super().__init__(**kwargs)',
    'def __init__(self, name): self.name = name',
    "const fs = require('fs')",
    "import React from 'react'",
    'json.load(open("config.json"))',
    "File.read('config.yml')",
    'model.eval(); optimizer.step()',
    'obj.send(:update, a: 1)',
    'class A { constructor() { super() } }',
    'system ("operating system") updates',
    'Exec (vice president)',
    '@exec team please review',
    'qx quality index (QX)',
    'print(f"{user.name!r}")',
    'string.format("%d", 3)',
    'User.where(id: 1).first',
    'process.exit code 1',
    '50%x(2)',
  ])('%j', (value) => {
    expect(detectCode(value)).toBeNull();
    expect(detectCodeLine(value)).toBeNull();
  });
});

const PIECES = [
  ...[
    "__import__('os')",
    'os',
    'system',
    '.',
    '(',
    ')',
    '[',
    ']',
    "'",
    '"',
    '`',
    '[[',
    ']]',
    'eval',
    'exec',
    ' ',
    '\n',
  ],
  ...[
    'qx',
    '%x',
    '@{[',
    '$',
    '{',
    '}',
    ':',
    '->',
    '/',
    '|',
    '\\',
    'id',
    'constructor',
    'return',
    'a',
    '+',
    ';',
    '=',
  ],
];

test('every detected value has an octet of CODE_KINDS and SHORTEST_CODE octets', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }), (parts) => {
      const value = parts.join('');
      if (detectCodeLine(value) === null) return;
      expect(factsOf(value).shape & CODE_KINDS).not.toBe(0);
      expect(value.length).toBeGreaterThanOrEqual(SHORTEST_CODE);
    }),
    { numRuns: 5_000 },
  );
});

test('any octets are read without an error, and what is found without ordinary code is found with it', () => {
  const part = fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', maxLength: 3 }));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 24 }), (parts) => {
      const value = parts.join('').replace(/[^\0-\xff]/g, 'x');
      const first = detectCode(value);
      if (first !== null) expect(detectCodeLine(value)).not.toBeNull();
      expect(detectCode(value)).toBe(first);
    }),
    { numRuns: 2_000 },
  );
});
