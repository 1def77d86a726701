/** Cookies of frameworks, shops and analytics: their names and the shape of their values. */
import type { Random } from '../generate-random.ts';
import { base64, hex, jwt, octets, uuid } from './clients.ts';

const digits = (random: Random, length: number) =>
  random.times(length, (i) => (i === 0 ? 1 + random.int(9) : random.int(10))).join('');

const url = (random: Random, count: number) => octets(random, count).toString('base64url');

const MAKERS: readonly ((random: Random) => string)[] = [
  (random) => `_ga=GA1.2.${digits(random, 9)}.17${digits(random, 8)}`,
  (random) => `_gid=GA1.2.${digits(random, 9)}.17${digits(random, 8)}`,
  (random) => `_ga_AB12CD34EF=GS1.1.17${digits(random, 8)}.5.1.17${digits(random, 8)}.60.0.0`,
  (random) => `_gcl_au=1.1.${digits(random, 9)}.17${digits(random, 8)}`,
  (random) => `_fbp=fb.1.17${digits(random, 11)}.${digits(random, 9)}`,
  (random) =>
    `__utma=${digits(random, 8)}.${digits(random, 9)}.17${digits(random, 8)}.17${digits(random, 8)}.17${digits(random, 8)}.3`,
  (random) =>
    `__utmz=${digits(random, 8)}.17${digits(random, 8)}.1.1.utmcsr=google|utmccn=(organic)|utmcmd=organic|utmctr=(not%20provided)`,
  (random) => `PHPSESSID=${hex(random, 26)}`,
  (random) => `JSESSIONID=${hex(random, 32).toUpperCase()}.node${random.int(9)}`,
  (random) => `ASP.NET_SessionId=${hex(random, 24)}`,
  (random) => `connect.sid=s%3A${url(random, 24)}.${encodeURIComponent(base64(random, 32))}`,
  (random) =>
    `laravel_session=${encodeURIComponent(
      Buffer.from(
        JSON.stringify({ iv: base64(random, 16), value: base64(random, 48), mac: hex(random, 64), tag: '' }),
      ).toString('base64'),
    )}`,
  (random) => `XSRF-TOKEN=${encodeURIComponent(base64(random, 60))}`,
  (random) => `csrftoken=${hex(random, 32)}`,
  (random) => `sessionid=${hex(random, 32)}`,
  (random) => `__Host-next-auth.csrf-token=${hex(random, 64)}%7C${hex(random, 64)}`,
  (random) => `__Secure-next-auth.session-token=${jwt(random)}`,
  () => '__Secure-next-auth.callback-url=https%3A%2F%2Fshop.example.com%2Faccount',
  (random) => `_session_id=${url(random, 90)}--${url(random, 12)}--${url(random, 16)}`,
  (random) =>
    `wordpress_logged_in_${hex(random, 32)}=ann%7C17${digits(random, 8)}%7C${hex(random, 43)}%7C${hex(random, 64)}`,
  () => 'wp-settings-1=libraryContent%3Dbrowse%26editor%3Dtinymce%26hidetb%3D1',
  () =>
    'OptanonConsent=isGpcEnabled=0&datestamp=Sun+May+12+2024+10%3A11%3A12+GMT%2B0200+(Central+European+Summer+Time)&version=202403.1.0&hosts=&consentId=8f14e45f-ceea-467f-a8c1-1f2b3c4d5e6f&interactionCount=1&landingPath=NotLandingPage&groups=C0001%3A1%2CC0002%3A0%2CC0003%3A1%2CC0004%3A0&AwaitingReconsent=false',
  () => 'OptanonAlertBoxClosed=2024-05-12T08:11:12.345Z',
  () =>
    'CookieConsent={stamp:%27abc123==%27%2Cnecessary:true%2Cpreferences:false%2Cstatistics:true%2Cmarketing:false%2Cver:1%2Cutc:1715501472345}',
  (random) => `euconsent-v2=${url(random, 60)}.YAAAAAAAAAAA`,
  () => 'cart={"items":[{"id":17,"n":2},{"id":18,"n":1}],"note":"it\'s a gift"}',
  () => 'prefs=%7B%22theme%22%3A%22dark%22%2C%22lang%22%3A%22en-GB%22%2C%22size%22%3A14%7D',
  () => "user=O'Brien",
  (random) =>
    `mp_${hex(random, 32)}_mixpanel=%7B%22distinct_id%22%3A%20%22${uuid(random)}%22%2C%22%24initial_referrer%22%3A%20%22https%3A%2F%2Fwww.search.example%2F%22%7D`,
  (random) => `ajs_anonymous_id=%22${uuid(random)}%22`,
  (random) => `intercom-id-ab12cd34=${uuid(random)}`,
  (random) =>
    `_hjSessionUser_${digits(random, 7)}=${Buffer.from(JSON.stringify({ id: uuid(random), existing: true })).toString('base64')}`,
  (random) =>
    `AMCV_${hex(random, 24).toUpperCase()}%40AdobeOrg=179643557%7CMCIDTS%7C19855%7CMCMID%7C${digits(random, 38)}%7CvVersion%7C5.5.0`,
  (random) => `datadome=${url(random, 80)}`,
  (random) => `__stripe_mid=${uuid(random)}${hex(random, 6)}`,
  (random) => `ARRAffinity=${hex(random, 64)}`,
  (random) => `AWSALB=${base64(random, 96)}`,
  () => 'has_js=1',
  () => 'tz=Europe%2FBerlin',
  () => 'woocommerce_items_in_cart=1',
  () => 'django_language=pt-br',
];

/** The `Cookie` header of a visitor. */
export function cookieHeader(random: Random): string {
  return random
    .some(MAKERS, 9)
    .map((make) => make(random))
    .join('; ');
}

/** One header for each cookie there is, so that none is left out. */
export function everyCookie(random: Random): readonly string[] {
  return MAKERS.map((make) => make(random));
}
