/** The page over the API in a browser: sign-in, and moves with the keyboard. */
import type { Page } from 'playwright-core';

/** Opens an address of the page and signs in. */
export async function signInTo(page: Page, url: string, key: string): Promise<void> {
  await page.goto(url);
  await page.getByLabel('API key').waitFor();
  await page.keyboard.type(key);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
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
