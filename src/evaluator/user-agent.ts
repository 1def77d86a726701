const T = [
  'gptbot',
  'oai-searchbot',
  'chatgpt-user',
  'claudebot',
  'claude-user',
  'perplexitybot',
  'perplexity-user',
  'googlebot',
  'google-extended@@',
  'bingbot',
  'ccbot',
  'bytespider',
  'meta-externalagent',
  'amazonbot',
  'applebot',
  'duckduckbot',
  'yandexbot',
  'ahrefsbot',
  'semrushbot',
  'mj12bot',
];
export function classifyUserAgent(text: string): number {
  const l = text.toLowerCase();
  return T.findIndex((t) => l.includes(t));
}
