import { describe, expect, test } from 'vitest';
import { inspect, type Sent, signatures } from '../../../../support/signatures.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const SCORE = "setvar:'tx.inbound_anomaly_score_pl1=+5'";

/** A rule that adds 5 when it matches. */
function rule(targets: string, operator: string, actions = ''): string {
  return `SecRule ${targets} "${operator}" "id:1,phase:2,block,t:none,msg:'found',tag:'attack-sqli',severity:'CRITICAL',${actions}${SCORE}"`;
}

function score(text: string, sent: Sent): number {
  return inspect(signatures(text), sent).score;
}

describe('a rule matches the members that its targets select, and no others', () => {
  test.each<readonly [string, string, Sent, number]>([
    ['ARGS', '@rx ev.l', { target: '/?a=evil' }, 5],
    ['ARGS', '@rx ev.l', { target: '/?a=ev%69l&b=good' }, 5],
    ['ARGS', '@rx ev.l', { target: '/?a=evil&b=evil' }, 10],
    ['ARGS:a', '@rx ev.l', { target: '/?A=evil&b=evil' }, 5],
    ['ARGS|!ARGS:a', '@rx ev.l', { target: '/?a=evil' }, 0],
    ['ARGS:/^x_/', '@rx ev.l', { target: '/?x_1=evil&y=evil' }, 5],
    ['ARGS_NAMES', '@streq evil', { target: '/?evil=1' }, 5],
    ['ARGS_POST', '@streq evil', { target: '/?a=evil' }, 0],
    ['ARGS_POST', '@streq evil', { method: 'POST', headers: FORM, body: 'a=evil' }, 5],
    ['ARGS_GET', '@streq evil', { method: 'POST', headers: FORM, body: 'a=evil' }, 0],
    ['&ARGS', '@eq 2', { target: '/?a=1&a=2' }, 5],
    ['&ARGS:a', '@eq 2', { target: '/?a=1&a=2&b=1' }, 5],
    ['&REQUEST_HEADERS:X-A', '@eq 0', {}, 5],
    ['&REQUEST_HEADERS:X-A', '@eq 0', { headers: { 'x-a': '' } }, 0],
    ['REQUEST_HEADERS:X-A', '@streq evil', { headers: { 'x-a': ['good', 'evil'] } }, 5],
    ['REQUEST_HEADERS|!REQUEST_HEADERS:X-A', '@streq evil', { headers: { 'x-a': 'evil' } }, 0],
    ['REQUEST_HEADERS_NAMES', '@streq x-a', { headers: { 'x-a': '' } }, 5],
    ['REQUEST_COOKIES', '@streq evil', { headers: { cookie: 'a=evil; b=2' } }, 5],
    ['REQUEST_COOKIES:/^s/', '@streq evil', { headers: { cookie: 'a=evil; sid=evil' } }, 5],
    ['REQUEST_BODY', '@contains a=', { method: 'POST', headers: FORM, body: 'a=1' }, 5],
    [
      'REQUEST_BODY',
      '@contains a=',
      { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'a=1' },
      0,
    ],
    [
      'ARGS:json.a.b',
      '@streq evil',
      { headers: { 'content-type': 'application/json' }, body: '{"a":{"b":"evil"}}' },
      5,
    ],
    ['XML:/*', '@contains evil', { headers: { 'content-type': 'text/xml' }, body: '<a b="x">evil</a>' }, 5],
    ['XML://@*', '@contains evil', { headers: { 'content-type': 'text/xml' }, body: '<a b="evil">x</a>' }, 5],
    ['REQUEST_METHOD', '!@within GET HEAD', { method: 'PUT' }, 5],
    ['REQUEST_METHOD', '!@within GET HEAD', {}, 0],
    ['REMOTE_ADDR', '@ipMatch 203.0.113.0/24', {}, 5],
    ['REQBODY_PROCESSOR', '@streq JSON', { headers: { 'content-type': 'application/json' } }, 5],
    ['REQBODY_ERROR', '!@eq 0', { headers: { 'content-type': 'application/json' }, body: '{"a":' }, 5],
    [
      'REQBODY_ERROR',
      '!@eq 0',
      { headers: { 'content-type': 'application/json' }, body: '{"a":', truncated: true },
      0,
    ],
    ['ARGS', '@pm wicked evil', { target: '/?a=an+EVIL+thing' }, 5],
    ['ARGS', '!@pm wicked evil', { target: '/?a=good' }, 5],
    ['ARGS', '@detectSQLi', { target: "/?a=1'+or+1=1--+" }, 5],
    ['ARGS', '@detectXSS', { target: '/?a=<script>alert(1)</script>' }, 5],
    ['REQUEST_URI', '@contains \xc3\xa9', { target: '/é' }, 5],
  ])('%s %s', (targets, operator, sent, expected) => {
    expect(score(rule(targets, operator), sent)).toBe(expected);
  });
});

describe('an operator matches the transformed value', () => {
  test.each([
    ['t:lowercase,', '/?a=EVIL', 5],
    ['t:urlDecodeUni,', '/?a=ev%2569l', 5],
    ['t:removeWhitespace,t:lowercase,', '/?a=E+V+I+L', 5],
    ['', '/?a=EVIL', 0],
  ])('%s %s', (actions, target, expected) => {
    expect(score(rule('ARGS', '@rx evil', actions), { target })).toBe(expected);
  });

  test('multiMatch tests the value after each transformation and scores each match', () => {
    const text = rule('ARGS', '@rx e', 'multiMatch,t:urlDecodeUni,t:lowercase,');
    expect(score(text, { target: '/?a=e' })).toBe(5);
    expect(score(text, { target: '/?a=e%2520E' })).toBe(15);
    expect(score(text, { target: '/?a=E' })).toBe(5);
    expect(score(text, { target: '/?a=x' })).toBe(0);
  });
});

describe('rules of one program', () => {
  const chained = `SecRule REQUEST_METHOD "@streq POST" "id:1,phase:2,block,chain,msg:'m'"
    SecRule ARGS "@rx ^(e)(v)" "capture,chain"
    SecRule TX:2 "@streq %{tx.wanted}" "${SCORE}"
  SecAction "id:3,phase:1,pass,nolog,setvar:tx.wanted=%{REQUEST_HEADERS.x-wanted}"`;

  test('a chain matches if all its conditions match, and later conditions read captures and macros of earlier ones', () => {
    const sent = { method: 'POST', target: '/?a=evil', headers: { 'x-wanted': 'v' } };
    expect(score(chained, sent)).toBe(5);
    expect(score(chained, { ...sent, headers: { 'x-wanted': 'w' } })).toBe(0);
    expect(score(chained, { ...sent, method: 'GET' })).toBe(0);
    expect(score(chained, { ...sent, target: '/?a=good' })).toBe(0);
  });

  test('MATCHED_VARS has the members that the condition before matched', () => {
    const text = `SecRule ARGS "@rx e" "id:1,phase:2,block,chain,msg:'m'"
      SecRule MATCHED_VARS "@rx v" "${SCORE}"`;
    const program = signatures(text);
    expect(inspect(program, { target: '/?a=ev&b=v&c=e' }).matches).toMatchObject([
      { variable: 'ARGS:c', score: 5 },
    ]);
    expect(inspect(program, { target: '/?a=e&b=v' }).score).toBe(0);
  });

  test('skipAfter skips the rules before its marker', () => {
    const text = `SecRule REQUEST_METHOD "@streq GET" "id:1,phase:2,pass,nolog,skipAfter:END"
      ${rule('ARGS', '@rx evil').replace('id:1', 'id:2')}
      SecMarker END
      ${rule('ARGS', '@rx evil').replace('id:1', 'id:3')}`;
    expect(inspect(signatures(text), { target: '/?a=evil' }).ids).toEqual([3]);
    expect(inspect(signatures(text), { target: '/?a=evil', method: 'PUT' }).ids).toEqual([2, 3]);
  });

  test('allow ends the inspection, deny sets denied', () => {
    const after = rule('ARGS', '@rx evil').replace('id:1', 'id:9');
    const allow = `SecRule ARGS:k "@streq ok" "id:1,phase:1,allow,nolog"\n${after}`;
    expect(inspect(signatures(allow), { target: '/?a=evil&k=ok' })).toMatchObject({ score: 0, ids: [] });
    const deny = `SecRule ARGS:k "@streq no" "id:1,phase:1,deny,msg:'no'"\n${after}`;
    expect(inspect(signatures(deny), { target: '/?a=evil&k=no' })).toMatchObject({ denied: true, ids: [1] });
    expect(inspect(signatures(deny), { target: '/?a=evil' })).toMatchObject({ denied: false, score: 5 });
  });

  test('a rule of phase 1 does not match values of the body', () => {
    const text = rule('ARGS', '@rx evil').replace('phase:2', 'phase:1');
    expect(score(text, { method: 'POST', headers: FORM, body: 'a=evil' })).toBe(0);
    expect(score(text, { method: 'POST', headers: FORM, body: 'a=good', target: '/?b=evil' })).toBe(5);
  });

  test('ctl removes rules and targets for the rules that follow', () => {
    const control = (ctl: string) =>
      `SecRule REQUEST_HEADERS:x-ctl "@streq on" "id:5,phase:1,pass,nolog,ctl:${ctl}"\n${rule('ARGS', '@rx evil')}`;
    for (const ctl of [
      'ruleRemoveById=1',
      'ruleRemoveById=1-4',
      'ruleRemoveByTag=attack-sqli',
      'ruleRemoveTargetById=1;ARGS:a',
      'ruleRemoveTargetByTag=attack-sqli;ARGS',
      'ruleEngine=Off',
    ]) {
      const program = signatures(control(ctl));
      expect(inspect(program, { target: '/?a=evil', headers: { 'x-ctl': 'on' } }).score, ctl).toBe(0);
      expect(inspect(program, { target: '/?a=evil' }).score, ctl).toBe(5);
    }
  });
});

describe('the settings decide which signatures score', () => {
  const program = signatures(rule('ARGS|REQUEST_COOKIES', '@rx evil'));
  const sent = { target: '/?a=evil', headers: { cookie: 'sess1=evil' } };

  test.each([
    [{ excludes: ['1'] }, 0],
    [{ excludes: ['2'] }, 10],
    [{ exclusions: [{ id: 1, tag: null, target: null }] }, 0],
    [{ exclusions: [{ id: null, tag: 'attack-sqli', target: null }] }, 0],
    [{ exclusions: [{ id: null, tag: 'attack', target: null }] }, 10],
    [{ exclusions: [{ id: 1, tag: null, target: 'ARGS:A' }] }, 5],
    [{ exclusions: [{ id: null, tag: null, target: 'args' }] }, 5],
    [{ exclusions: [{ id: 1, tag: null, target: 'REQUEST_COOKIES:sess*' }] }, 5],
    [{ exclusions: [{ id: 7, tag: null, target: 'ARGS' }] }, 10],
    [{ exclusions: [{ id: 1, tag: null, target: 'NOTHING:a' }] }, 10],
  ])('%j', (settings, expected) => {
    expect(inspect(program, sent, settings).score).toBe(expected);
  });

  test('a rule reads the threshold as a TX variable', () => {
    const text = `SecRule TX:INBOUND_ANOMALY_SCORE_THRESHOLD "@ge 8" "id:1,phase:2,deny,msg:'m'"`;
    expect(inspect(signatures(text), {}, { threshold: 8 }).denied).toBe(true);
    expect(inspect(signatures(text), {}, { threshold: 7 }).denied).toBe(false);
  });

  test('has() is true for the ids of the program only', () => {
    expect([program.has(1), program.has(2)]).toEqual([true, false]);
  });
});

describe('the finding of an inspection', () => {
  test('lists each signature with its variable, excerpt and score', () => {
    const text = `${rule('ARGS', '@rx ev[i]l')}
      SecRule REQUEST_HEADERS:User-Agent "@pm nikto" "id:2,phase:1,block,msg:'scanner %{MATCHED_VAR_NAME}',tag:'attack-reputation-scanner',severity:'NOTICE',setvar:'tx.inbound_anomaly_score_pl1=+2'"
      SecRule ARGS "@rx evil" "id:3,phase:2,pass,nolog,setvar:tx.other=1"`;
    const finding = inspect(signatures(text), {
      target: '/?id=an+evil+one',
      headers: { 'user-agent': 'Nikto/2' },
    });
    expect(finding).toMatchObject({
      score: 7,
      ids: [1, 2],
      denied: false,
      exhausted: false,
      bodyError: null,
    });
    expect(finding.categories).toMatchObject({ sqli: 5 });
    expect(finding.matches[0]).toEqual({
      id: 1,
      message: 'found',
      severity: 2,
      category: 'sqli',
      score: 5,
      variable: 'ARGS:id',
      value: 'an evil one',
    });
    expect(finding.matches[1]).toMatchObject({
      variable: 'REQUEST_HEADERS:user-agent',
      value: 'Nikto/2',
      score: 2,
    });
  });

  test('shows an escaped excerpt around the match', () => {
    const value = `${'x'.repeat(100)}evil\x01${'y'.repeat(100)}`;
    const [match] = inspect(signatures(rule('ARGS', '@rx evil')), {
      target: `/?a=${encodeURIComponent(value)}`,
    }).matches;
    expect(match!.value).toMatch(/^…x+evil\\x01y+…$/);
    expect(match!.value.length).toBeLessThanOrEqual(64 + 3);
  });

  test.each<readonly [string, Sent]>([
    ['ARGS', { target: '/?password=evil' }],
    ['ARGS', { target: '/?api_key=evil' }],
    ['ARGS', { target: '/?X-Auth-Token=evil' }],
    ['REQUEST_HEADERS', { headers: { authorization: 'evil' } }],
    ['REQUEST_COOKIES', { headers: { cookie: 'a=evil' } }],
    ['REQUEST_URI', { target: '/?evil&password=1' }],
    ['QUERY_STRING', { target: '/?evil&access_token=1' }],
    [
      'ARGS',
      { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"user":{"passwd":"evil"}}' },
    ],
  ])('shows only the length of a value that may be a secret: %s %j', (targets, sent) => {
    const text = rule(targets, '@rx evil').replace("msg:'found'", "msg:'found %{MATCHED_VAR}'");
    const [match] = inspect(signatures(text), sent).matches;
    expect(match!.value).toMatch(/^\(\d+ octets, not shown\)$/);
    expect(match!.message).not.toContain('evil');
  });

  const post = (type: string, body: string): Sent => ({
    method: 'POST',
    headers: { 'content-type': type },
    body,
  });
  const part = (disposition: string): Sent =>
    post(
      'multipart/form-data; boundary=b',
      `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\nevil\r\n--b--\r\n`,
    );

  test.each<readonly [string, Sent, string]>([
    ['ARGS_NAMES', post('application/x-www-form-urlencoded', 'my evil diary'), 'ARGS_NAMES:(13 octets)'],
    ['ARGS_NAMES', post('application/x-www-form-urlencoded', 'evil'), 'ARGS_NAMES:(4 octets)'],
    ['ARGS_NAMES', post('application/x-www-form-urlencoded', 'evilxx=='), 'ARGS_NAMES:(6 octets)'],
    ['ARGS_POST_NAMES', post('application/x-www-form-urlencoded', '\0evil=1'), 'ARGS_POST_NAMES:(5 octets)'],
    ['ARGS_NAMES', post('application/x-www-form-urlencoded', 'evil=1'), 'ARGS_NAMES:evil'],
    ['ARGS_NAMES', { target: '/?evil' }, 'ARGS_NAMES:evil'],
    ['ARGS_NAMES', { target: '/?an+evil=1' }, 'ARGS_NAMES:(7 octets)'],
    ['ARGS_NAMES', { target: '/?eyJhbGciOiJub25lIn0.evil' }, 'ARGS_NAMES:(24 octets)'],
    ['ARGS', { target: `/?${'x'.repeat(65)}=evil` }, 'ARGS:(65 octets)'],
    ['ARGS', { target: '/?a[b][]=evil' }, 'ARGS:a[b][]'],
    ['ARGS', post('application/json', '{"my diary":"evil"}'), 'ARGS:(13 octets)'],
    ['ARGS', post('application/json', '{"a":{"b":"evil"}}'), 'ARGS:json.a.b'],
    ['REQUEST_COOKIES_NAMES', { headers: { cookie: 'an evil=1' } }, 'REQUEST_COOKIES_NAMES:(7 octets)'],
    ['MULTIPART_FILENAME', part('name="a"; filename="evil.txt"'), 'MULTIPART_FILENAME:(8 octets)'],
    ['FILES', part('name="a"; filename="evil.txt"'), 'FILES:a'],
    ['FILES_NAMES', part('name="an evil"; filename="a"'), 'FILES_NAMES:(7 octets)'],
    ['MULTIPART_NAME', part('name="an evil"'), 'MULTIPART_NAME:(7 octets)'],
    ['MULTIPART_PART_HEADERS', part('name="an evil"'), 'MULTIPART_PART_HEADERS:(7 octets)'],
    ['XML:/*', post('text/xml', '<a>evil</a>'), 'XML:/*'],
  ])('the variable %s of %j has a name only where it looks like one', (targets, sent, variable) => {
    const text = rule(targets, '@contains evil').replace("msg:'found'", "msg:'%{MATCHED_VAR_NAME}'");
    expect(inspect(signatures(text), sent).matches).toMatchObject([{ variable, message: variable }]);
  });

  test('a body of another type that is read as a form has no name in reports', () => {
    const reader = `SecAction "id:2,phase:1,pass,nolog,ctl:requestBodyProcessor=URLENCODED"`;
    const text = `${reader}\n${rule('ARGS', '@contains evil')}`;
    const variables = (type: string) =>
      inspect(signatures(text), post(type, 'Hunter2=evil')).matches.map(({ variable }) => variable);
    expect(variables('text/plain')).toEqual(['ARGS:(7 octets)']);
    expect(variables('application/x-www-form-urlencoded')).toEqual(['ARGS:Hunter2']);
  });

  test('a variable that a rule makes of a name in a body has no more of it than the name', () => {
    const text = `SecRule ARGS_NAMES "@rx ." "id:1,phase:2,pass,nolog,setvar:'tx.seen_%{MATCHED_VAR}=1'"
      SecRule TX:/^seen_/ "@eq 1" "id:2,phase:2,block,msg:'m'"`;
    const variables = (body: string) =>
      inspect(signatures(text), { method: 'POST', headers: FORM, body }).matches.map(
        ({ variable }) => variable,
      );
    expect(variables('Evil')).toEqual(['TX:(9 octets)']);
    expect(variables('my evil diary')).toEqual(['TX:(18 octets)']);
    expect(variables('evil=1')).toEqual(['TX:seen_evil']);
  });

  test('bodyError is the error of the body parser', () => {
    const json = { 'content-type': 'application/json' };
    const program = signatures(rule('ARGS', '@rx evil'));
    expect(inspect(program, { headers: json, body: '{"a":' }).bodyError).toMatch(/^json: /);
    expect(inspect(program, { headers: json, body: '{"a":', truncated: true }).bodyError).toBeNull();
  });

  test('exhausted is true when the step budget runs out', () => {
    const text = rule('ARGS', '@rx (?:[ab]*a[ab]{30}c|d{400}e)');
    let state = 1;
    const next = () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 16) & 1;
    };
    const value = Array.from({ length: 60_000 }, () => 'ab'[next()]).join('');
    expect(inspect(signatures(text), { method: 'POST', headers: FORM, body: `a=${value}c` }).exhausted).toBe(
      true,
    );
    expect(inspect(signatures(text), { target: '/?a=abab' }).exhausted).toBe(false);
  });
});

test('earlier requests do not change the finding of a request', () => {
  const text = `${rule('ARGS|REQUEST_COOKIES', '@rx (?i)evil\\\\b', 't:urlDecodeUni,')}
    ${rule('REQUEST_HEADERS|ARGS_NAMES', '@pm evil wicked', 't:lowercase,').replace('id:1', 'id:2')}`;
  const sent: Sent[] = ['good', 'evil', 'evil', 'EVIL', 'ev%2569l', 'devils', 'evil', 'good'].flatMap(
    (word) => [
      { target: `/?a=${word}&${word}=1`, headers: { 'x-a': word, cookie: `c=${word}` } },
      { target: `/${word}`, headers: { 'x-a': word } },
    ],
  );
  const warm = signatures(text);
  for (const one of [...sent, ...sent]) expect(inspect(warm, one)).toEqual(inspect(signatures(text), one));
});

describe('a rule that only evaluates the score', () => {
  const sum = 'SecAction "id:2,phase:2,nolog,pass,setvar:\'tx.blocking=+%{tx.inbound_anomaly_score_pl1}\'"';
  const deny = 'SecRule TX:BLOCKING "@ge %{tx.inbound_anomaly_score_threshold}" "id:3,phase:2,deny,log"';
  const stricter = 'SecRule TX:BLOCKING "@ge 3" "id:4,phase:2,deny,log"';
  const three = rule('ARGS', '@streq x').replace('=+5', '=+3');

  test('is not reported when the score reaches the threshold', () => {
    const text = [rule('ARGS', '@streq x'), sum, deny].join('\n');
    const found = inspect(signatures(text), { target: '/?a=x' });
    expect(found).toMatchObject({ score: 5, ids: [1], denied: true });
    expect(found.matches.map(({ id }) => id)).toEqual([1]);
  });

  test('may copy the score to another variable', () => {
    const kept = deny.replace('deny,log', "deny,log,setvar:'tx.kept=%{tx.blocking}'");
    const text = [rule('ARGS', '@streq x'), sum, kept].join('\n');
    expect(inspect(signatures(text), { target: '/?a=x' })).toMatchObject({ score: 5, ids: [1] });
  });

  test('is reported when it denies below the threshold', () => {
    const found = inspect(signatures([three, sum, stricter].join('\n')), { target: '/?a=x' });
    expect(found).toMatchObject({ score: 3, ids: [1, 4], denied: true });
  });

  test('reads only the score and adds nothing to it', () => {
    const flagged = 'SecRule ARGS "@streq x" "id:5,phase:2,nolog,pass,setvar:tx.flag=1"';
    const noted = `SecRule TX:FLAG "@eq 1" "id:6,phase:2,log,pass,${SCORE}"`;
    const found = inspect(signatures([flagged, noted].join('\n')), { target: '/?a=x' });
    expect(found).toMatchObject({ score: 5, ids: [6] });
  });
});
