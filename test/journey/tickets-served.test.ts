/** Support tickets of `edgeplan serve` as a process: the commands of both sides, and the e-mails between them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_TICKET_MESSAGE } from '../../src/control/billing/limits.ts';
import { builtCli, edgeplan, type Run } from '../support/built.ts';
import { type MailServer, startMailServer } from '../support/outlets.ts';
import { type Served, serve } from '../support/served.ts';
import { until } from '../support/until.ts';

/** A mail with its lines as they were before they were encoded. */
const textOf = (raw: string): string =>
  Buffer.from(
    raw
      .replaceAll('=\r\n', '')
      .replaceAll(/=([0-9A-F]{2})/g, (_, octet: string) => String.fromCharCode(Number.parseInt(octet, 16))),
    'latin1',
  )
    .toString('utf8')
    .replaceAll('\r\n', '\n');

describe('edgeplan serve', () => {
  let mail: MailServer;
  let served: Served;

  beforeAll(async () => {
    await builtCli();
    mail = await startMailServer();
    served = await serve({ args: ['--smtp', mail.url, '--mail-from', 'Edge <alerts@edge.example>'] });
    await served.domain('shop.example');
    for (const args of [
      ['account', 'create', 'ops'],
      ['account', 'contact', 'ops', '--email', 'ops@edge.example', '--operator'],
      ['account', 'contact', 'owner', '--email', 'ann@shop.example'],
    ])
      expect((await operator(args)).code).toBe(0);
  }, 120_000);
  afterAll(async () => {
    await served.stop();
    await mail.close();
  });

  /** A command beside the server. */
  const operator = (args: readonly string[], input?: string): Promise<Run> =>
    edgeplan([...args, ...served.data], {
      cwd: served.folder,
      ...(input === undefined ? {} : { input }),
    });
  const customer = (args: readonly string[], input?: string): Promise<Run> =>
    served.run(['support', ...args], input);
  const opened = async (): Promise<string> => {
    const { out } = await customer(['open', '--subject', 'Help', '-m', 'help', '--json']);
    return String(JSON.parse(out).id);
  };
  /** The mail to an address that has a text; mails arrive in any order. */
  const mailWith = (to: string, text: string): Promise<string> =>
    until(
      () =>
        mail.mails
          .filter((one) => one.to.includes(to))
          .map(({ raw }) => textOf(raw))
          .find((one) => one.includes(text)),
      `a mail to ${to} with ${text}`,
    );

  test('a ticket goes from its customer to the operator and back, with a mail at each step, until it is closed', async () => {
    const message = 'The certificate of shop.example has expired.\n\n  curl: (60) SSL certificate problem\n';
    const open = await customer(
      ['open', '--subject', 'Certificate <b>', '--domain', 'shop.example', '--message', '-'],
      message,
    );
    expect([open.code, open.err]).toEqual([0, '']);
    expect(open.out).toMatch(
      /^ticket {3}(\d+), open\nsubject {2}Certificate <b>\ndomain {3}shop\.example\n\n\S+Z {2}customer\n {2}The certificate of shop\.example has expired\.\n\n {4}curl: \(60\) SSL certificate problem\n$/,
    );
    const id = /\d+/.exec(open.out)![0];

    const toOperator = await mailWith('ops@edge.example', `Ticket ${id} waits for an answer`);
    expect(toOperator).toContain(`Subject: Ticket ${id} waits for an answer\n`);
    expect(toOperator).toContain(`Ticket:  ${id}, Certificate <b>\nDomain:  shop.example\n`);
    expect(toOperator).toContain(`\`edgeplan ticket answer ${id}\`; a reply to this e-mail is not\n  read.`);
    // What a customer writes is read in the ticket, not in a mail.
    expect(toOperator).not.toContain('curl');

    const waiting = await operator(['ticket', 'list', '--status', 'open']);
    expect(waiting.out).toMatch(
      new RegExp(
        `^id +status +account +updated +domain +subject\n${id} +open +owner +\\S+Z +shop\\.example +Certificate <b>\n$`,
      ),
    );
    const shown = await operator(['ticket', 'show', id]);
    expect(shown.out).toMatch(/\naccount {2}owner\ndomain {3}shop\.example\n/);
    expect(shown.out).toContain('    curl: (60) SSL certificate problem\n');

    const text =
      'Please do this:\n\n1. Remove the record `CAA`.\n2. Issue again.\n\n```\n12:01  finalize:  403 <caa>\n```\n';
    const answer = await operator(['ticket', 'answer', id, '-m', '-'], text);
    expect([answer.code, answer.out, answer.err]).toEqual([0, `ticket ${id} of owner is answered\n`, '']);
    const toCustomer = await mailWith('ann@shop.example', 'Support has answered: Certificate <b>');
    expect(toCustomer).toContain(
      '\n\n  Please do this:\n\n  1. Remove the record `CAA`.\n  2. Issue again.\n\n  12:01  finalize:  403 <caa>\n\n',
    );
    expect(toCustomer).toContain('12:01\u00a0\u00a0finalize:\u00a0\u00a0403 &lt;caa&gt;</div>');
    expect(toCustomer.replaceAll(/\s+/g, ' ')).toContain('a reply to this e-mail is not read.');
    expect(toCustomer).not.toContain('<b>:');

    const reply = await customer(['reply', id, '-m', 'It works, thank you.']);
    expect(reply.out).toMatch(/^ticket {3}\d+, open\n[\s\S]*customer\n {2}It works, thank you\.\n$/);
    await until(
      () => mail.mails.filter(({ raw }) => raw.includes(`Ticket ${id} waits`)).length === 2,
      'the second mail to the operator',
    );
    const end = await operator(['ticket', 'close', id]);
    expect([end.out, end.err]).toEqual([
      `ticket ${id} of owner is closed\n`,
      `its last message was not answered: edgeplan ticket show ${id}\n`,
    ]);
    await mailWith('ann@shop.example', 'Support has closed: Certificate <b>');
    const feed = JSON.parse((await served.run(['notifications', 'list', '--json'])).out);
    const entry = feed.notifications.find(({ kind }: { kind: string }) => kind === 'ticket.answered');
    expect(entry.text).toEqual([
      'Please do this:',
      '1. Remove the record `CAA`.\n2. Issue again.',
      '12:01  finalize:  403 <caa>',
    ]);
    expect((await served.run(['notifications', 'list'])).out).toContain(
      '\n  1. Remove the record `CAA`.\n  2. Issue again.\n',
    );
  });

  test('a message opens a closed ticket again, and either side closes it', async () => {
    const id = await opened();
    expect((await customer(['close', id])).out).toBe(`ticket ${id} is closed\n`);
    expect((await customer(['close', id])).code).toBe(0);
    const again = await operator(['ticket', 'close', id]);
    expect([again.out, again.err]).toEqual([`ticket ${id} of owner is closed\n`, 'it was closed before\n']);
    expect((await customer(['reply', id, '-m', 'once more'])).out).toContain(', open\n');
    expect((await operator(['ticket', 'answer', id, '-m', 'done'])).out).toContain('is answered');
    const closing = await operator(['ticket', 'close', id]);
    expect([closing.code, closing.err]).toEqual([0, '']);
  });

  test('--json prints one object of a format, with the same fields on both sides', async () => {
    const id = await opened();
    await operator(['ticket', 'answer', id, '-m', 'an answer']);
    const listed = JSON.parse((await customer(['list', '--json', '--limit', '1'])).out);
    expect(listed).toEqual({
      format: 'edgeplan.tickets/v1',
      tickets: [
        {
          ...{ id: Number(id), subject: 'Help', domain: null, status: 'answered', closed_at: null },
          created_at: expect.stringMatching(/Z$/),
          updated_at: expect.stringMatching(/Z$/),
        },
      ],
    });
    const forOperator = JSON.parse((await operator(['ticket', 'list', '--json', '--limit', '1'])).out);
    expect(forOperator.tickets).toEqual([{ ...listed.tickets[0], account: 'owner' }]);
    const shown = JSON.parse((await customer(['show', id, '--json'])).out);
    expect(shown).toMatchObject({
      format: 'edgeplan.ticket/v1',
      messages: [{ author: 'customer' }, { author: 'operator', body: 'an answer' }],
    });
    expect(JSON.parse((await operator(['ticket', 'show', id, '--json'])).out)).toEqual({
      ...shown,
      account: 'owner',
    });
    const replied = JSON.parse((await customer(['reply', id, '-m', 'x', '--json'])).out);
    expect(replied).toMatchObject({ format: 'edgeplan.ticket/v1', status: 'open', messages: { length: 3 } });
  });

  test('lists end at their limit and say so, and name what is missing', async () => {
    await opened();
    await opened();
    const some = await customer(['list', '--limit', '1']);
    expect([some.out.split('\n').length, some.err]).toEqual([
      3,
      'there are older ones; --limit lists more\n',
    ]);
    expect((await operator(['ticket', 'list', '--limit', '1'])).err).toBe(
      'there are older ones; --limit lists more\n',
    );
    const { key } = await otherAccount('quiet');
    const none = await customerOf(key, ['list']);
    expect([none.out, none.err]).toEqual(['', 'no tickets; edgeplan support open opens one\n']);
    expect((await customerOf(key, ['list', '--status', 'closed'])).err).toBe('no tickets are closed\n');
    expect(JSON.parse((await customerOf(key, ['list', '--json'])).out).tickets).toEqual([]);
    await customerOf(key, ['open', '--subject', 'a question', '-m', 'x']);
    // All of its tickets, and no older ones.
    expect(await customerOf(key, ['list', '--limit', '1'])).toMatchObject({ code: 0, err: '' });
  });

  async function otherAccount(name: string): Promise<{ readonly key: string }> {
    await operator(['account', 'create', name]);
    return { key: (await operator(['key', 'create', name])).out.trim() };
  }
  const customerOf = (key: string, args: readonly string[]): Promise<Run> =>
    edgeplan(['support', ...args], { cwd: served.folder, env: { ...served.env, EDGEPLAN_KEY: key } });

  test('text that would control a terminal is printed in escaped form', async () => {
    const { key } = await otherAccount('hostile');
    const body = {
      subject: 'subject',
      message: 'a\u001b[2J\u001b]0;owned\u0007 \u202egnp\ttab\rnext\u0000'.slice(0, -1),
    };
    const made = await fetch(`${served.url}/tickets/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { id } = (await made.json()) as { id: number };
    for (const { out } of [
      await operator(['ticket', 'show', String(id)]),
      await customerOf(key, ['show', String(id)]),
    ]) {
      expect(out).toContain('  a\\u{1b}[2J\\u{1b}]0;owned\\u{7} \\u{202e}gnp    tab\n  next\n');
      expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u202e]/);
    }
  });

  test.each([
    [
      'another status',
      ['list', '--status', 'new'],
      2,
      "argument 'new' is invalid. Allowed choices are open, answered, closed.",
    ],
    ['a limit of nothing', ['list', '--limit', '0'], 2, 'write a whole number from 1 to 1000.'],
    ['a limit beyond the page', ['list', '--limit', '1001'], 2, 'write a whole number from 1 to 1000.'],
    ['no id', ['show'], 2, "missing required argument 'id'"],
    ['a text as id', ['show', 'x1'], 2, 'an id is a whole number; the list of tickets has it.'],
    ['no ticket of this id', ['show', '4000000000'], 1, 'the server answered 404: not found'],
    ['a reply to no ticket', ['reply', '4000000000', '-m', 'x'], 1, 'the server answered 404: not found'],
    ['a reply without a text', ['reply', '1'], 2, "required option '-m, --message <text>' not specified"],
    ['a blank text', ['reply', '1', '-m', ' \n '], 2, 'the message must not be empty'],
    ['no subject', ['open', '-m', 'x'], 2, "required option '--subject <text>' not specified"],
    ['a blank subject', ['open', '--subject', ' ', '-m', 'x'], 4, 'subject: must not be blank'],
    ['a subject of two lines', ['open', '--subject', 'a\nb', '-m', 'x'], 4, 'subject: must be one line'],
    [
      "another's domain",
      ['open', '--subject', 'a', '-m', 'x', '--domain', 'b.example'],
      4,
      'domain: must be a domain that the account sees',
    ],
    [
      'a long text',
      ['open', '--subject', 'a', '-m', 'x'.repeat(MAX_TICKET_MESSAGE + 1)],
      2,
      'the message must be at most 10000 characters',
    ],
    ['an unknown command', ['answer', '1'], 2, "unknown command 'answer'"],
  ] as const)(
    'edgeplan support with %s exits with its code and a sentence',
    async (_name, args, code, sentence) => {
      const run = await customer(args);
      expect([run.code, run.out]).toEqual([code, '']);
      expect(run.err).toContain(sentence);
    },
  );

  test.each([
    ['no ticket of this id', ['show', '4000000000'], 1, 'there is no ticket 4000000000'],
    ['an answer to no ticket', ['answer', '4000000000', '-m', 'x'], 1, 'there is no ticket 4000000000'],
    ['a closing of no ticket', ['close', '4000000000'], 1, 'there is no ticket 4000000000'],
    ['an answer without a text', ['answer', '1'], 2, "required option '-m, --message <text>' not specified"],
    ['a blank text', ['answer', '1', '-m', ''], 2, 'the message must not be empty'],
    ['an id of zero', ['answer', '0', '-m', 'x'], 2, 'an id is a whole number; the list of tickets has it.'],
    ['another status', ['list', '--status', 'done'], 2, 'Allowed choices are open, answered, closed.'],
    ['an unknown command', ['reply', '1'], 2, "unknown command 'reply'"],
  ] as const)(
    'edgeplan ticket with %s exits with its code and a sentence',
    async (_name, args, code, sentence) => {
      const run = await operator(['ticket', ...args]);
      expect([run.code, run.out]).toEqual([code, '']);
      expect(run.err).toContain(sentence);
    },
  );

  test('stdin that is not UTF-8, and a store that does not exist, are inputs that cannot be read', async () => {
    const id = await opened();
    const bytes = { cwd: served.folder, env: served.env, input: Buffer.from([0x61, 0xff, 0xfe]) };
    const odd = await edgeplan(['support', 'reply', id, '-m', '-'], bytes);
    expect([odd.code, odd.err]).toEqual([3, 'edgeplan: stdin is not UTF-8 text\n']);
    const empty = await customer(['reply', id, '-m', '-'], '');
    expect([empty.code, empty.err]).toEqual([2, 'edgeplan: the message must not be empty\n']);
    const nowhere = await edgeplan(['ticket', 'list', '--data', 'nowhere'], { cwd: served.folder });
    expect([nowhere.code, nowhere.err]).toEqual([
      3,
      expect.stringContaining('there is no store in `nowhere`'),
    ]);
    const keyless = await edgeplan(['support', 'list', '--server', served.url], { cwd: served.folder });
    expect([keyless.code, keyless.err]).toEqual([2, expect.stringContaining('no API key was given')]);
  });
});
