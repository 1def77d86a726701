/** Documents as the API of Cloudflare answers them. */

/** What every import of these documents is given. */
export const OPTIONS = { domain: 'example.com', origin: 'origin.example.net' };

/** A ruleset as the API answers it. */
export function ruleset(phase: string, ...rules: readonly object[]): object {
  return {
    result: {
      id: 'f',
      name: 'default',
      kind: 'zone',
      phase,
      rules: rules.map((rule) => ({ enabled: true, ...rule })),
    },
    success: true,
  };
}

/** Custom rules. */
export const firewall = (...rules: readonly object[]): object =>
  ruleset('http_request_firewall_custom', ...rules);
/** Single redirects. */
export const redirects = (...rules: readonly object[]): object =>
  ruleset('http_request_dynamic_redirect', ...rules);

/** A custom rule that refuses. */
export function block(expression: string, parameters: object = {}): object {
  return { action: 'block', expression, ...parameters };
}

/** A single redirect. */
export function redirect(expression: string, target: object, from: object = {}): object {
  return {
    action: 'redirect',
    expression,
    action_parameters: { from_value: { target_url: target, ...from } },
  };
}

/** A URL rewrite. */
export function rewrite(expression: string, uri: object): object {
  return { action: 'rewrite', expression, action_parameters: { uri } };
}
