/** Prints amounts of money. In: minor units and a currency of ISO 4217. Out: text such as `-12.50 EUR`. */

/**
 * An amount in major units with its currency. How many digits the minor unit has is that of ICU's data; a code that ICU does
 * not list has two (ECMA-402).
 */
export function moneyText(amount: number, currency: string): string {
  const { maximumFractionDigits: digits = 2 } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
  }).resolvedOptions();
  // By text, so that no digit is lost to binary fractions.
  const minor = String(Math.abs(amount)).padStart(digits + 1, '0');
  const whole = minor.slice(0, minor.length - digits);
  const fraction = digits === 0 ? '' : `.${minor.slice(-digits)}`;
  return `${amount < 0 ? '-' : ''}${whole}${fraction} ${currency}`;
}
