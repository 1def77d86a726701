/** The material of sample rules and requests. */
import type { Random } from '../../test/support/generate-random.ts';

export const DOMAIN = 'shop.example';

/** Records of the sample domain: the apex and 39 names below it. */
export const RECORDS: readonly string[] = [
  '@',
  'www',
  'api',
  'cdn',
  'img',
  'admin',
  'blog',
  'docs',
  ...Array.from({ length: 32 }, (_, index) => `store-${index + 1}`),
];
export const HOSTS: readonly string[] = RECORDS.map((name) => (name === '@' ? DOMAIN : `${name}.${DOMAIN}`));

export const SECTIONS: readonly string[] = [
  'account',
  'api/v1',
  'api/v2',
  'articles',
  'assets/img',
  'blog',
  'cart',
  'catalog',
  'collections/summer',
  'docs/reference',
  'help',
  'legacy/forum',
  'media',
  'news',
  'partners',
  'products',
  'search',
  'static/js',
  'support/tickets',
  'users',
];

const WORDS: readonly string[] =
  'amber birch cedar delta ember fjord grove harbor indigo juniper kelp lumen maple nectar olive pebble quartz river slate timber umber violet willow yarrow zephyr'.split(
    ' ',
  );
const EXTENSIONS: readonly string[] = ['', '', '', '', '.html', '.json', '.php', '.png', '.css', '.js'];

/** Every visitor of the samples comes from one of these; rules list these and others. */
export const VISITOR_COUNTRIES: readonly string[] = 'US DE FR GB NL PL ES IT SE JP BR IN CA AU MX'.split(' ');
export const OTHER_COUNTRIES: readonly string[] =
  'AF AL DZ AO AR AM AZ BD BY BJ BT BO BA BW BG BF BI KH CM CF TD CL CN CO KM CG CR CI HR CU CY DJ EC EG SV GQ ER'.split(
    ' ',
  );

const BROWSERS: readonly string[] = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/V.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/V.1 Safari/605.1.15',
  'Mozilla/5.0 (X11; Linux x86_64; rv:V.0) Gecko/20100101 Firefox/V.0',
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/V.0.0.0 Mobile Safari/537.36',
  'curl/8.V.0',
];
const BOTS: readonly string[] = [
  'Mozilla/5.0 (compatible; Googlebot/2.V; +http://www.google.com/bot.html)',
  'Mozilla/5.0 (compatible; GPTBot/1.V; +https://openai.com/gptbot)',
  'Mozilla/5.0 (compatible; AhrefsBot/7.V; +http://ahrefs.com/robot/)',
];

export function slug(random: Random): string {
  return `${random.pick(WORDS)}-${random.pick(WORDS)}`;
}

/** A path below one of the sections that no sample rule names. */
export function plainPath(random: Random): string {
  const depth = 1 + random.int(3);
  const names = random.times(depth, () => `${slug(random)}-${random.int(100_000)}`);
  return `/${random.pick(SECTIONS)}/${names.join('/')}${random.pick(EXTENSIONS)}`;
}

export function userAgent(random: Random): string {
  const agents = random.chance(0.08) ? BOTS : BROWSERS;
  return random.pick(agents).replaceAll('V', String(90 + random.int(60)));
}

export function address(random: Random): string {
  return random.chance(0.1)
    ? `2001:db8:${random.int(65_536).toString(16)}:${random.int(65_536).toString(16)}::${(1 + random.int(65_535)).toString(16)}`
    : `${11 + random.int(150)}.${random.int(256)}.${random.int(256)}.${1 + random.int(254)}`;
}

/** A JA4 fingerprint of the usual shape. */
export function ja4(random: Random): string {
  const hex = (digits: number): string => random.times(digits, () => random.int(16).toString(16)).join('');
  return `t13d${10 + random.int(10)}${10 + random.int(8)}h2_${hex(12)}_${hex(12)}`;
}
