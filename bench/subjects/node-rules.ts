/** Rules of several types about paths, addresses, countries and bots, none of which is about the paths that are timed. */

export function mixedRules(count: number): readonly object[] {
  return Array.from({ length: count }, (_, index) => ruleAt(index));
}

function ruleAt(index: number): object {
  const path = `/section-${index % 97}/page-${index}*`;
  switch (index % 8) {
    case 0:
      return { type: 'drop', path_includes: [path], ips: [`198.51.${index % 256}.0/24`] };
    case 1:
      return { type: 'drop', path_includes: [path], countries: ['RU', 'KP'] };
    case 2:
      return { type: 'rate_limit', path_includes: [path], limit: 100 };
    case 3:
      return { type: 'redirect', path_includes: [`/old-${index}`], target: `/new-${index}` };
    case 4:
      return { type: 'rewrite', path_includes: [path], path_target: `/inner/${index}` };
    case 5:
      return {
        type: 'bot_route',
        bot_kinds: ['gptbot'],
        action: 'tag',
        host_includes: [`h${index}.shop.example`],
      };
    case 6:
      return { type: 'captcha', path_includes: [path] };
    default:
      return { type: 'origin_route', path_includes: [path], address: '203.0.113.9' };
  }
}
