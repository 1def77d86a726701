/** What conditions read of generated requests: methods, networks, headers, queries and cookies, some of them broken. */
import type { Random } from './generate-random.ts';
import {
  ASNS,
  COOKIE_NAMES,
  HEADER_NAMES,
  LONG_VALUES,
  METHODS,
  PARAMETERS,
  VALUES,
} from './generate-words.ts';

/** A request whose fields may hold anything. */
type Loose = Readonly<Record<string, unknown>>;

const BROKEN_ASNS = [null, undefined, 0, -1, 1.5, '64496', 4_294_967_296, Number.NaN];

/** A value, rarely one of more octets than conditions read. */
function value(random: Random): string {
  return random.chance(0.012) ? random.pick(LONG_VALUES) : random.pick(VALUES);
}

/** A field line, often with blanks around it. */
function line(random: Random): string {
  const text = value(random);
  return random.pick([text, text, text, ` ${text}`, `${text}\t `, `\t${text} `]);
}

/** The value of a header: a line, several, or what is none. */
function field(random: Random): unknown {
  const text = line(random);
  if (random.chance(0.04)) return random.pick([7, null, {}, [7], [null, text], [text, 7], []]);
  return random.chance(0.2) ? [text, ...random.times(1 + random.int(2), () => line(random))] : text;
}

function spelled(random: Random, name: string): string {
  return random.chance(0.2) ? random.pick([name.toUpperCase(), name.replace('x', 'X')]) : name;
}

/** One line of `cookie`; pairs without `=` or without a name are in it. */
function cookieLine(random: Random): string {
  const pairs = random.times(2 + random.int(4), () => {
    const name = random.pick(COOKIE_NAMES);
    const text = value(random);
    return random.pick([
      `${name}=${text}`,
      `${name}=${text}`,
      `${name}=${text}`,
      ` ${name} = ${text}\t`,
      `${name}="${text}"`,
      `${name}=${text}=b`,
      name,
      `=${text}`,
      '',
    ]);
  });
  return pairs.join(random.pick(['; ', '; ', ';']));
}

function headers(random: Random, sent: object): object {
  const agent = Object.entries(sent).map(([name, text]) => [
    random.chance(0.2) ? 'User-Agent' : name,
    random.chance(0.02) ? `curl/${'8'.repeat(8_200)}` : text,
  ]);
  const own = [...new Set(HEADER_NAMES)]
    .filter((name) => name.startsWith('x-') && random.chance(0.6))
    .flatMap((name) => {
      const twice = random.chance(0.08) ? [[name.toUpperCase(), field(random)]] : [];
      return [...twice, [spelled(random, name), field(random)]];
    });
  const cookies = random.chance(0.15) ? random.times(2, () => cookieLine(random)) : cookieLine(random);
  const cookie = random.chance(0.75) ? [[random.pick(['cookie', 'cookie', 'Cookie']), cookies]] : [];
  return Object.fromEntries([...agent, ...own, ...cookie]);
}

/** A text as browsers, scripts and attackers write it in a query. */
function encoded(random: Random, text: string): string {
  const plain = encodeURIComponent(text);
  return random.pick([
    plain,
    plain,
    plain.replaceAll('%20', '+'),
    text.replaceAll(' ', '+'),
    plain.replace(/^[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
    plain.replace(/%[0-9A-F]{2}/g, (octet) => octet.toLowerCase()),
    ...(random.chance(0.15)
      ? [`${plain}%ff`, `${plain}%C3`, `%zz${plain}`, `${plain}%4`, plain.replaceAll('%', '%25')]
      : []),
  ]);
}

function query(random: Random): string {
  const pieces = random.times(2 + random.int(5), () => {
    const name = encoded(random, random.pick(PARAMETERS));
    // A target has at most 16 KiB, so that one long value is all that fits, unescaped.
    const text = encoded(random, random.pick(VALUES));
    return random.pick([
      `${name}=${text}`,
      `${name}=${text}`,
      `${name}=${text}`,
      `${name}=${text}=b`,
      name,
      `=${text}`,
      '',
    ]);
  });
  if (random.chance(0.02))
    pieces.push(`${encodeURIComponent(random.pick(PARAMETERS))}=${random.pick(LONG_VALUES)}`);
  return pieces.join('&');
}

/** The request, with what conditions read; what is broken in it stays. */
export function withValues(random: Random, sent: Loose): Loose {
  const { bot, headers: fields, method, target } = sent;
  const changed: Record<string, unknown> = {};
  if (typeof method === 'string' && random.chance(0.7)) changed['method'] = random.pick(METHODS);
  if (random.chance(0.85)) changed['asn'] = random.pick(random.chance(0.8) ? ASNS : BROKEN_ASNS);
  if (bot === undefined && random.chance(0.1)) {
    changed['bot'] = { kind: 'new-bot', verified: random.chance(0.5) };
  }
  if (typeof fields === 'object' && fields !== null) changed['headers'] = headers(random, fields);
  if (typeof target === 'string' && random.chance(0.8)) {
    changed['target'] = `${target}${target.includes('?') ? '&' : '?'}${query(random)}`;
  }
  return { ...sent, ...changed };
}
