/** How many characters a function reads: what the string methods it calls look at, added up. */
export function countTextWork(run: () => void): number {
  const proto = String.prototype;
  const { charCodeAt, charAt, indexOf, startsWith, slice, replaceAll } = proto;
  let work = 0;
  proto.charCodeAt = function (at) {
    work++;
    return charCodeAt.call(this, at);
  };
  proto.charAt = function (at) {
    work++;
    return charAt.call(this, at);
  };
  proto.startsWith = function (text, at) {
    work += text.length;
    return startsWith.call(this, text, at);
  };
  proto.indexOf = function (text, at) {
    const found = indexOf.call(this, text, at);
    work += (found < 0 ? this.length : found) - (at ?? 0) + 1;
    return found;
  };
  proto.slice = function (from, to) {
    const text = slice.call(this, from, to);
    work += text.length;
    return text;
  };
  proto.replaceAll = function (this: string, from: string, to: string) {
    work += this.length;
    return replaceAll.call(this, from, () => to);
  } as typeof replaceAll;
  try {
    run();
  } finally {
    Object.assign(proto, { charCodeAt, charAt, indexOf, startsWith, slice, replaceAll });
  }
  return work;
}
