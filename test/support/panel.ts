/** The page over the management API in a browser: a domain to show, the sign-in, and where the page says what happened. */
import type { Page } from 'playwright-core';
import type { Served } from './served.ts';

/** A domain with two drop rules. */
export interface Shop {
  /** The id of the rule for `/admin/*`. */
  readonly admin: number;
  /** The id of the rule for `/secret/*`. */
  readonly secret: number;
}

/** The path of the drop rules of a domain. */
export function dropsOf(domain: string): string {
  return `/domains/${domain}/rules/drop/`;
}

/** Makes an active domain with a proxied record and two rules, published. */
export async function makeShop(server: Served, domain: string): Promise<Shop> {
  await server.domain(domain);
  const record = { name: '@', type: 'A', destination: '192.0.2.1', proxied: true };
  await server.call('POST', `/domains/${domain}/records/`, record);
  const drops = dropsOf(domain);
  const admin = await server.call('POST', drops, { path_includes: ['/admin/*'], priority: 10 });
  const secret = await server.call('POST', `${drops}?wait=published`, {
    path_includes: ['/secret/*'],
    priority: 20,
  });
  if (admin.status !== 200 || secret.status !== 200) throw new Error(`${admin.text} ${secret.text}`);
  return { admin: admin.body.id, secret: secret.body.id };
}

/** What is signed in to. */
export interface SignIn {
  readonly domain: string;
  /** Default: the key of the server's owner. */
  readonly key?: string;
  /** More of the fragment, from `&` on. */
  readonly fragment?: string;
}

/** Opens the page for a domain and signs in. */
export async function signIn(
  page: Page,
  server: Served,
  { domain, key = server.key, fragment = '' }: SignIn,
): Promise<void> {
  await page.goto(`${server.url}/panel/#domain=${domain}${fragment}`);
  await page.getByLabel('API key').waitFor();
  await page.keyboard.type(key);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** Waits until the page says so in its notices. */
export function said(page: Page, text: string | RegExp): Promise<void> {
  return page.getByRole('status').getByText(text).first().waitFor();
}

/** Opens a section. */
export function openSection(page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name, exact: true }).click();
}

/** Presses Tab until the focus is on the element with this id, or with a name that begins so. */
export async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 120; presses++) {
    await page.keyboard.press('Tab');
    const [id, label, text] = (await page.evaluate(
      '[document.activeElement.id, document.activeElement.getAttribute("aria-label") ?? "", document.activeElement.textContent.trim()]',
    )) as readonly string[];
    if (id === name || label!.startsWith(name) || text!.startsWith(name)) return;
  }
  throw new Error(`Tab does not lead to ${name}`);
}
