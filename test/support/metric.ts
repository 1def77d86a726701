/** Reads what a process reports to Prometheus. */

/** The value of a series, named as `/metrics` of an operators' listener has it; `NaN` where it has none such. */
export async function metricAt(operations: string, series: string): Promise<number> {
  const text = await (await fetch(`${operations}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 'NaN');
}
