import { describe, expect, test } from 'vitest';
import { isCurlLine, readCurl, splitShell } from '../../../../src/workbench/simulation/curl-line.ts';

function words(line: string): readonly string[] | string {
  const split = splitShell(line);
  return split.ok ? split.value : split.error;
}

function read(line: string): unknown {
  const found = readCurl(line);
  return found.ok ? found.value : found.error;
}

describe('splitShell', () => {
  test.each([
    [`a 'b c' "d e" f\\ g`, ['a', 'b c', 'd e', 'f g']],
    [`a'b'"c"d ''`, ['abcd', '']],
    ['a \\\n  b\\\nc', ['a', 'bc']],
    ['a \\\r\n b', ['a', 'b']],
    [`'it'\\''s'`, ["it's"]],
    [`"say \\"hi\\" \\\\ \\n"`, ['say "hi" \\ \\n']],
    [`$'a\\'b\\n\\t\\u0021\\x41\\101'`, ["a'b\n\t!AA"]],
    [`$'\\xc3\\xa9\\u00e9'`, ['éé']],
    [`'$HOME \`x\` | &'`, ['$HOME `x` | &']],
    ['https://x/?a=1', ['https://x/?a=1']],
    ['  ', []],
  ] as const)('%j', (line, expected) => {
    expect(words(line)).toEqual(expected);
  });

  test.each([
    [`'a`, "a quote `'` is not closed"],
    ['"a', 'a quote `"` is not closed'],
    ['a $TOKEN', '`$TOKEN` is for the shell to replace; write the value'],
    ['"a $(date)"', '`$(date` is for the shell to replace; write the value'],
    ['a `date`', 'a backtick is for the shell to replace; write the value'],
    ['a | jq', '`|` needs quotes'],
    ['https://x/?a=1&b=2', '`&` needs quotes'],
    [`$'\\U7fffffff'`, '`\\U7fffffff` is not a character'],
  ])('%j is refused', (line, message) => {
    expect(words(line)).toBe(message);
  });
});

describe('readCurl', () => {
  test('reads a line that Chrome copied', () => {
    const line = `curl 'https://shop.example.com/api/orders' \\
  -H 'accept: */*' \\
  -b 'sid=1; theme=dark' \\
  -H 'content-type: application/json' \\
  -H 'user-agent: Mozilla/5.0' \\
  --data-raw $'{"note":"it\\'s \\u0021"}' \\
  --compressed`;
    expect(read(line)).toEqual({
      urls: ['https://shop.example.com/api/orders'],
      flags: {
        header: ['accept: */*', 'content-type: application/json', 'user-agent: Mozilla/5.0'],
        cookie: 'sid=1; theme=dark',
        data: `{"note":"it's !"}`,
      },
    });
  });

  test('reads a line that Firefox copied', () => {
    const line = `curl 'https://shop.example.com/' --compressed -X POST -H 'User-Agent: Mozilla/5.0' --data-raw 'a=1&b=2'`;
    expect(read(line)).toEqual({
      urls: ['https://shop.example.com/'],
      flags: { method: 'POST', header: ['User-Agent: Mozilla/5.0'], data: 'a=1&b=2' },
    });
  });

  test.each([
    ['curl -sSLk -XPUT https://x/', { urls: ['https://x/'], flags: { method: 'PUT' } }],
    ['curl -I x.test', { urls: ['x.test'], flags: { head: true } }],
    ['curl -d a=1 -d b=2 x.test', { urls: ['x.test'], flags: { data: 'a=1&b=2' } }],
    ['curl -G -d a=1 --data-urlencode "b=c d" x.test/?z', { urls: ['x.test/?z&a=1&b=c%20d'], flags: {} }],
    [
      'curl -u user:pass --url x.test',
      { urls: ['x.test'], flags: { header: ['Authorization: Basic dXNlcjpwYXNz'] } },
    ],
    [
      `curl --json '{}' x.test`,
      {
        urls: ['x.test'],
        flags: { header: ['Content-Type: application/json', 'Accept: application/json'], data: '{}' },
      },
    ],
    [
      'curl -A bot -e https://a/ -o out.html -m 5 x.test y.test',
      { urls: ['x.test', 'y.test'], flags: { userAgent: 'bot', referer: 'https://a/' } },
    ],
  ])('%j', (line, expected) => {
    expect(read(line)).toEqual(expected);
  });

  test.each([
    ['curl --form a=b x.test', 'the curl option `--form` is not supported; leave it out'],
    ['curl -sF a=b x.test', 'the curl option `-F` is not supported; leave it out'],
    ['curl -d @body.json x.test', '`-d @body.json` reads a file; write its content'],
    ['curl -b jar.txt x.test', '`-b jar.txt` reads a file of cookies'],
    ['curl x.test -H', 'the curl option `-H` has no value'],
    ['curl -s', 'the curl line has no URL'],
    ['curl x.test | jq', '`|` needs quotes'],
  ])('%j is refused', (line, message) => {
    expect(read(line)).toBe(message);
  });

  test('a curl line is one operand that begins with curl', () => {
    expect(['curl x', ' curl\n x', 'curl', 'curly x', 'https://curl x'].map(isCurlLine)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
